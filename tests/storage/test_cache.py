"""What the cache serves, what it never serves, and what damage costs."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from molaudit.storage import cache as cache_module
from molaudit.storage.attempts import SMALL, StoredAttempt, body_bytes
from molaudit.storage.cache import Cache, Mode
from molaudit.storage.cache_admin import evict, export, info, merge, rebuild
from molaudit.storage.cache_explain import explain
from molaudit.storage.cache_where import parse_where
from molaudit.storage.errors import CacheError
from molaudit.storage.locks import FileLock
from molaudit.storage.parts import list_parts
from molaudit.storage.segments import segments

IDENTITY = "http://127.0.0.1:1/v1"


def attempt(key: str = "k", **changes: Any) -> StoredAttempt:
    fields: dict[str, Any] = {
        "key": key,
        "attempt": 1,
        "endpoint": "local",
        "identity": IDENTITY,
        "model": "m",
        "effort": "standard",
        "repeat": 0,
        "outcome": "answered",
        "started_at": 1.0,
        "latency_s": 0.5,
        "http_status": 200,
        "body": key.encode(),
    }
    return StoredAttempt(**{**fields, **changes})


def make(folder: Path, mode: Mode = Mode.WRITE) -> tuple[Cache, list[str]]:
    messages: list[str] = []
    return Cache(folder / "cache.duckdb", mode, notify=messages.append, wait_s=0.5), messages


def store(cache: Cache, *attempts: StoredAttempt, fold: bool = True) -> None:
    with cache.journal() as journal:
        for item in attempts:
            journal.append(item)
    if fold:
        cache.fold()


def hits(cache: Cache, *keys: str, **options: Any) -> dict[str, str]:
    return dict(cache.lookup(list(keys), **options).select("key", "outcome").iter_rows())


def bodies(cache: Cache, *keys: str) -> dict[str, bytes | None]:
    frames = cache.answers(list(keys))
    rows = [row for frame in frames for row in frame.iter_rows(named=True)]
    return {row["key"]: body_bytes(row["body"], row["body_base64"]) for row in rows}


def counted(cache: Cache) -> int:
    return len(cache.attempts())


@pytest.mark.parametrize("fold", [True, False])
def test_what_was_stored_is_served_folded_or_not(tmp_path: Path, fold: bool) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a", body=b"\xff\x00"), attempt("b", latency_s=0.3, cost_usd=0.25), fold=fold)
    found = cache.lookup(["b", "a", "missing"])
    assert set(found["key"]) == {"a", "b"}
    assert found.columns == [*SMALL, "attempts"]
    assert found.filter(key="b").select("latency_s", "cost_usd", "attempts").row(0) == (0.3, 0.25, 1)
    assert bodies(cache, "a", "b", "missing") == {"a": b"\xff\x00", "b": b"b"}


def test_an_empty_cache_and_an_empty_question_are_ordinary(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    assert hits(cache, "a") == {}
    assert list(cache.answers(["a"])) == []
    assert cache.totals()["attempts"].to_list() == [0]
    assert cache.totals(by_session=True).is_empty()
    assert counted(cache) == 0
    assert list(tmp_path.iterdir()) == []  # a look leaves nothing behind
    assert cache.fold().attempts == 0
    store(cache, attempt("a"))
    assert hits(cache) == {}


@pytest.mark.parametrize("outcome", ["answered", "refused", "truncated", "filtered", "recitation"])
def test_final_replies_are_served(tmp_path: Path, outcome: str) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt(outcome=outcome))
    assert hits(cache, "k") == {"k": outcome}


@pytest.mark.parametrize(
    "outcome",
    [
        "malformed",
        "failed",
        "overloaded",
        "unreachable",
        "timed_out",
        "throttled",
        "quota",
        "rejected",
        "empty",
    ],
)
def test_anything_else_is_kept_and_asked_again(tmp_path: Path, outcome: str) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt(outcome=outcome))
    assert hits(cache, "k") == {}
    assert cache.attempts()["outcome"].to_list() == [outcome]


def test_a_second_empty_is_final_and_a_later_answer_wins(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt(outcome="empty"))
    store(cache, attempt(outcome="empty", started_at=2.0), fold=False)  # one at rest, one in the tail
    assert hits(cache, "k") == {"k": "empty"}
    store(cache, attempt(outcome="answered", started_at=3.0, body=b"0.41"))
    assert hits(cache, "k") == {"k": "answered"}
    assert bodies(cache, "k") == {"k": b"0.41"}
    assert cache.lookup(["k"])["attempts"].to_list() == [3]


def test_latest_usable_by_start_wins_whatever_the_order_of_storage(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt(started_at=9.0, body=b"late"))
    store(cache, attempt(started_at=5.0, body=b"early"), attempt(started_at=12.0, outcome="failed"))
    assert bodies(cache, "k") == {"k": b"late"}
    assert hits(cache, "k", not_before=9.0) == {"k": "answered"}
    assert hits(cache, "k", not_before=9.1) == {}


@pytest.mark.parametrize(
    ("mode", "serves", "stores"),
    [("off", False, False), ("read", True, False), ("write", True, True), ("refresh", False, True)],
)
def test_modes(tmp_path: Path, mode: str, serves: bool, stores: bool) -> None:
    store(make(tmp_path)[0], attempt())
    cache, _ = make(tmp_path, Mode(mode))
    assert bool(hits(cache, "k")) is serves
    assert bool(bodies(cache, "k")) is serves
    if stores:
        cache.journal().close()
    else:
        with pytest.raises(CacheError, match="stores nothing"):
            cache.journal()


def test_an_answer_of_another_model_or_endpoint_is_a_hard_error(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt())
    good = pl.DataFrame({"key": ["k"], "identity": [IDENTITY], "model": ["m"]})
    assert len(cache.lookup(good)) == 1
    for name, value in (("model", "other"), ("identity", "http://other")):
        bad = good.with_columns(pl.lit(value).alias(name))
        with pytest.raises(CacheError, match=f"asked of {name} '{value}'"):
            cache.lookup(bad)
        with pytest.raises(CacheError, match="do not tell"):
            list(cache.answers(bad))
    with pytest.raises(CacheError, match="two endpoints or models"):
        cache.lookup(pl.concat([good, good.with_columns(model=pl.lit("other"))]))
    with pytest.raises(CacheError, match="column 'key'"):
        cache.lookup(pl.DataFrame({"model": ["m"]}))


def test_totals_are_sums_of_rows_over_sessions_and_unknown_stays_unknown(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, *(attempt(str(i), output_tokens=10, cost_usd=0.5) for i in range(50)))
    store(cache, *(attempt(str(i), output_tokens=10) for i in range(50, 100)), fold=False)
    whole = cache.totals().row(0, named=True)
    assert (whole["output_tokens"], whole["cost_usd"], whole["cost_unknown"]) == (1000, 25.0, 50)
    assert (whole["calls"], whole["attempts"], whole["input_tokens"]) == (100, 100, None)
    sessions = cache.totals(by_session=True)
    assert sessions["output_tokens"].to_list() == [500, 500]
    assert sessions["session"].n_unique() == 2
    assert cache.totals(["0", "99"])["output_tokens"].to_list() == [20]
    account = cache.account(["0", "99"])
    assert account.totals.equals(cache.totals(["0", "99"]))
    assert account.sessions["output_tokens"].to_list() == [10, 10]
    assert sorted(account.attempts["key"]) == ["0", "99"]


def test_chunks_of_bodies_are_bounded_and_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("molaudit.storage.cache_reading.READ_ROWS", 7)
    monkeypatch.setattr("molaudit.storage.cache_reading.READ_BYTES", 5000)
    cache, _ = make(tmp_path)
    wanted = {f"{i:02d}": bytes([i % 256]) * (6000 if i == 20 else 1000) for i in range(40)}
    for start in (0, 20):
        store(cache, *(attempt(key, body=wanted[key]) for key in list(wanted)[start : start + 20]))
    assert bodies(cache, *wanted) == wanted
    sizes = [frame["body_size"].sum() for frame in cache.answers(list(wanted))]
    assert max(sizes) == 6000  # the one that is larger than a chunk goes alone
    assert sorted(sizes)[-2] <= 5000


# --- interruptions and damage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["write_part", "adopt", "unlink"])
def test_a_fold_that_stops_anywhere_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    cache, _ = make(tmp_path)
    store(cache, *(attempt(str(i), output_tokens=1) for i in range(5)))
    store(cache, *(attempt(str(i), output_tokens=1) for i in range(5, 9)), fold=False)

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if where == "unlink":
            patch.setattr(Path, "unlink", stop)
        else:
            patch.setattr(cache_module, where, stop)
        with pytest.raises(KeyboardInterrupt):
            cache.fold()
    assert len(segments(cache.place.journal)) == 1
    for _ in range(2):
        assert cache.totals()["output_tokens"].to_list() == [9]
        assert len(hits(cache, *map(str, range(9)))) == 9
        cache.fold()
    assert segments(cache.place.journal) == []


@pytest.fixture(scope="module")
def crashed_with_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leave a database whose last commit stands in the write-ahead log only."""
    folder = tmp_path_factory.mktemp("crashed")
    script = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_cache import attempt, make, store
cache, _ = make(Path(sys.argv[1]))
store(cache, *(attempt(str(i), body=b"first" * 50) for i in range(300)))
store(cache, *(attempt(str(i), body=b"second" * 50) for i in range(300, 700)), fold=False)
Path.unlink = lambda *_, **__: os.kill(os.getpid(), 9)
cache.fold()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(Path(__file__).parent)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return folder


@pytest.mark.parametrize("kind", ["as it was", "half", "nearly whole", "flipped", "gone"])
def test_a_damaged_write_ahead_log_loses_nothing(crashed_with_log: Path, tmp_path: Path, kind: str) -> None:
    shutil.copytree(crashed_with_log, tmp_path, dirs_exist_ok=True)
    cache, _ = make(tmp_path)
    log = cache.place.wal.read_bytes()
    assert len(log) > 1000
    if kind == "gone":
        cache.place.wal.unlink()
    elif kind == "flipped":
        rng = random.Random(1)
        broken = bytearray(log)
        for _ in range(64):
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        cache.place.wal.write_bytes(broken)
    else:
        cache.place.wal.write_bytes(
            log[: {"as it was": len(log), "half": len(log) // 2}.get(kind, len(log) - 9)]
        )
    assert counted(cache) == 700
    cache.fold()
    for segment in segments(cache.place.journal):
        segment.path.unlink()
    assert len(hits(cache, *map(str, range(700)))) == 700


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bits_in_the_database_are_noticed_and_mended(tmp_path: Path, seed: int) -> None:
    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i), body=os.urandom(300)) for i in range(500)))
    before = bodies(cache, *map(str, range(500)))
    data = bytearray(cache.path.read_bytes())
    rng = random.Random(seed)
    for _ in range(64):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    cache.path.write_bytes(data)
    assert bodies(cache, *map(str, range(500))) == before
    (message,) = messages
    assert "set aside as cache.duckdb.aside-" in message
    assert "rebuilt 500 attempts" in message
    assert "0 lost" in message
    assert info(cache).set_aside[0].read_bytes() == bytes(data)


@pytest.mark.parametrize("kind", ["empty", "half", "text", "gone", "other"])
def test_an_unusable_database_is_rebuilt(tmp_path: Path, kind: str) -> None:
    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i)) for i in range(20)))
    data = cache.path.read_bytes()
    cache.path.unlink()
    if kind == "other":
        import duckdb

        with duckdb.connect(str(cache.path)) as connection:
            connection.execute("CREATE TABLE mine (x INTEGER)")
    elif kind != "gone":
        cache.path.write_bytes({"empty": b"", "half": data[: len(data) // 2], "text": b"hello " * 5000}[kind])
    assert counted(cache) == 20
    assert "rebuilt 20 attempts" in messages[0]
    store(cache, attempt("new"))
    assert counted(cache) == 21
    assert len(messages) == 1


def test_a_database_short_of_rows_is_noticed(tmp_path: Path) -> None:
    import duckdb

    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i)) for i in range(20)))
    with duckdb.connect(str(cache.path)) as connection:
        connection.execute("DELETE FROM attempts WHERE key = '3'")
    assert counted(cache) == 20
    assert "holds 19 attempts, its parts brought 20" in messages[0]


def test_database_and_part_destroyed_together_count_the_loss(tmp_path: Path) -> None:
    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i)) for i in range(20)))
    store(cache, *(attempt(str(i)) for i in range(20, 25)))
    part = min(list_parts(cache.place.parts), key=lambda part: part.rows)
    part.path.write_bytes(part.path.read_bytes()[:-3] + b"???")
    cache.path.write_bytes(b"")
    assert counted(cache) == 20
    assert "5 attempts lost" in messages[0]
    assert "rebuilt 20 attempts" in messages[1]
    assert "5 lost" in messages[1]
    assert len(info(cache).set_aside) == 2


@pytest.mark.parametrize("kind", ["gone", "cut", "all gone"])
def test_missing_parts_are_written_again_from_the_database(tmp_path: Path, kind: str) -> None:
    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i), preimage=f'{{"i": {i}}}') for i in range(20)))
    (part,) = list_parts(cache.place.parts)
    if kind == "cut":
        part.path.write_bytes(part.path.read_bytes()[:-3])
    elif kind == "gone":
        part.path.unlink()
    else:
        shutil.rmtree(cache.place.parts)
    assert counted(cache) == 20
    assert "parts are missing or cut" in messages[0]
    cache.path.unlink()
    assert counted(cache) == 20
    assert explain(cache, preimage='{"i": 7}').differences == ()


def test_corrupt_and_torn_journal_lines_are_named_counted_and_kept(tmp_path: Path) -> None:
    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i)) for i in range(5)), fold=False)
    (segment,) = segments(cache.place.journal)
    lines = segment.path.read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b"answered", b"refused_")
    segment.path.write_bytes(b"\n".join(lines)[:-10])
    assert sorted(hits(cache, *"01234")) == ["0", "1", "3"]
    report = cache.fold()
    assert (report.attempts, report.lost) == (3, 2)
    assert [path.read_bytes() for path in report.set_aside] == [lines[2] + b"\n" + lines[4][:-9] + b"\n"]
    assert "line 3: corrupt" in messages[0]
    assert "line 5: cut short" in messages[1]
    assert info(cache).set_aside == report.set_aside


# --- other processes ----------------------------------------------------------------------------------------------


def test_readers_pass_a_held_lock_and_a_fold_names_its_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_READ_WAIT_S", 0.05)
    cache, messages = make(tmp_path)
    store(cache, attempt("a", output_tokens=3, preimage='{"x": 1}'))
    store(cache, attempt("b", output_tokens=4), fold=False)
    lock = FileLock(cache.place.lock)
    assert lock.try_acquire()
    assert hits(cache, "a", "b") == {"a": "answered", "b": "answered"}
    assert bodies(cache, "a", "b") == {"a": b"a", "b": b"b"}
    assert cache.totals()["output_tokens"].to_list() == [7]
    assert explain(cache, preimage='{"x": 2}').differences == (("x", "1", "2"),)
    assert messages == []
    with pytest.raises(CacheError, match=f"held by PID {os.getpid()}"):
        cache.fold()
    assert f"waiting for cache {cache.path} held by PID {os.getpid()}" in messages[0]
    lock.release()
    assert cache.fold().attempts == 1


def test_a_database_open_elsewhere_is_not_mistaken_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_READ_WAIT_S", 0.05)
    cache, messages = make(tmp_path)
    store(cache, attempt("a"))
    script = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(cache.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        assert hits(cache, "a") == {"a": "answered"}
        assert messages == []
        with pytest.raises(CacheError, match="open in another program"):
            cache.fold()
        assert messages == [f"waiting for cache {cache.path}: it is open in another program"]
        assert shell.stdin is not None
        shell.stdin.close()
    assert info(cache).set_aside == ()
    assert cache.fold().lost == 0


# --- administration -----------------------------------------------------------------------------------------------


def test_evict_deletes_from_database_and_parts(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(
        cache,
        attempt("a", outcome="malformed"),
        attempt("b", model="x/y:free"),
        attempt("c", preimage='{"c": 1}'),
    )
    where = "outcome in (malformed, failed)"
    assert evict(cache, where, dry_run=True) == 1
    assert counted(cache) == 3
    assert evict(cache, where) == 1
    assert evict(cache, 'model = "x/y:free" and http_status >= 200') == 1
    assert cache.attempts()["key"].to_list() == ["c"]
    cache.path.unlink()
    assert cache.attempts()["key"].to_list() == ["c"]
    assert explain(cache, preimage='{"c": 1}').key == "c"
    assert len(list(cache.place.parts.iterdir())) == 1


def test_an_eviction_killed_half_way_is_either_undone_or_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a"), attempt("b"))

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    for name, left in (("write_part", ["a", "b"]), ("_sync_folder", ["b"])):
        calls = [0]

        def on_second(*_: Any, calls: list[int] = calls) -> None:
            calls[0] += 1
            if calls[0] == 2:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(f"molaudit.storage.parts.{name}", stop if name == "write_part" else on_second)
            with pytest.raises(KeyboardInterrupt):
                evict(cache, "key = a")
        assert cache.attempts()["key"].to_list() == left


@pytest.mark.parametrize(
    ("text", "sql", "values"),
    [
        ("outcome = empty", "outcome = ?", ("empty",)),
        (
            "model not in ('a b', \"c\") and repeat>=1",
            "model NOT IN (?, ?) AND repeat >= ?",
            ("a b", "c", 1.0),
        ),
        ("started_at < 1970-01-02", "started_at < ?", (86400.0,)),
        ('key = "x\' OR 1=1; DROP TABLE attempts"', "key = ?", ("x' OR 1=1; DROP TABLE attempts",)),
    ],
)
def test_conditions_become_parameters(text: str, sql: str, values: tuple[object, ...]) -> None:
    condition = parse_where(text)
    assert (condition.sql, condition.values) == (sql, values)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "ends where a field"),
        ("body = x", "unknown field 'body'; fields are outcome"),
        ("1=1", "unknown field '1'"),
        ("outcome like x", "'like' after outcome; allowed are"),
        ("outcome = ", "ends where a value"),
        ("outcome = )", "where a value is expected"),
        ("outcome in (a b)", "where , or \\) is expected"),
        ("outcome = a or outcome = b", "where and is expected"),
        ("outcome = 'a", "is a quote missing"),
        ("repeat = two", "repeat needs a number, found 'two'"),
        ("started_at < soon", "needs a date"),
    ],
)
def test_a_bad_condition_says_what_is_allowed(text: str, complaint: str) -> None:
    with pytest.raises(CacheError, match=complaint):
        parse_where(text)


def test_merge_is_complete_and_repeatable(tmp_path: Path) -> None:
    ours, _ = make(tmp_path / "a")
    other, _ = make(tmp_path / "b")
    store(ours, attempt("a"), attempt("both", started_at=1.0, body=b"old"))
    store(other, attempt("both", started_at=2.0, body=b"new"), attempt("b"))
    store(other, attempt("c"), fold=False)
    assert merge(ours, other) == 3
    assert merge(ours, other) == 0
    assert counted(ours) == 5
    assert bodies(ours, "a", "b", "c", "both") == {"a": b"a", "b": b"b", "c": b"c", "both": b"new"}
    with pytest.raises(CacheError, match="into itself"):
        merge(ours, ours)
    with pytest.raises(CacheError, match="does not exist"):
        merge(ours, make(tmp_path / "absent")[0])
    (part, *_) = list_parts(other.place.parts)
    part.path.write_bytes(part.path.read_bytes()[:-1] + b"?")  # as long as before, so only its digest tells
    with pytest.raises(CacheError, match="merge stopped"):
        merge(make(tmp_path / "c")[0], other)


def test_export_holds_every_attempt(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    assert export(cache, tmp_path / "empty.parquet") == 0
    store(
        cache, attempt("a", body="é\u2028\x00".encode()), attempt("a", attempt=2, outcome="failed", body=None)
    )
    store(cache, attempt("b", body=b"\xff"), fold=False)
    for name in ("out.parquet", "out.jsonl"):
        assert export(cache, tmp_path / name) == 3
    rows = pl.read_parquet(tmp_path / "out.parquet").sort("session", "seq").to_dicts()
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().split("\n") if line]
    assert sorted(lines, key=lambda row: (row["session"], row["seq"])) == rows
    assert [body_bytes(r["body"], r["body_base64"]) for r in sorted(rows, key=lambda r: str(r["body"]))] == [
        b"\xff", None, "é\u2028\x00".encode()
    ]  # fmt: skip
    with pytest.raises(CacheError, match=r"\.parquet or \.jsonl"):
        export(cache, tmp_path / "out.csv")


def test_explain_names_the_field_that_differs_not_another_molecule(tmp_path: Path) -> None:
    def preimage(prompt: str, **body: Any) -> str:
        return json.dumps(
            {"identity": IDENTITY, "body": {"messages": [{"content": prompt}], **body}}, sort_keys=True
        )

    cache, _ = make(tmp_path)
    store(cache, attempt("other", preimage=preimage("solubility of CCCCCCCO", temperature=1)))
    store(cache, attempt("near", preimage=preimage("solubility of CCO", temperature=0)), fold=False)
    found = explain(cache, preimage=preimage("solubility of CCO", temperature=1))
    assert (found.key, found.differences) == ("near", (("body.temperature", "0", "1"),))
    found = explain(cache, preimage=preimage("solubility of CCO"))
    assert found.differences == (("body.temperature", "0", "(absent)"),)
    assert explain(cache, key="near").attempts["outcome"].to_list() == ["answered"]
    with pytest.raises(CacheError, match="no attempt for key gone"):
        explain(cache, key="gone")
    with pytest.raises(CacheError, match="not JSON"):
        explain(cache, preimage="{")
    with pytest.raises(CacheError, match="no call to compare"):
        explain(make(tmp_path / "empty")[0], preimage="{}")


def test_many_small_parts_are_gathered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("molaudit.storage.parts.SCATTERED", 3)
    cache, messages = make(tmp_path)
    for i in range(5):
        store(cache, attempt(str(i), preimage=f'{{"i": {i}}}'))
        assert len(list_parts(cache.place.parts)) <= 3
    cache.path.unlink()
    assert sorted(hits(cache, *"01234")) == list("01234")
    assert explain(cache, preimage='{"i": 0}').key == "0"
    assert len(messages) == 1


def test_a_segment_that_cannot_be_read_stays_and_is_named(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    cache.place.journal.mkdir(parents=True)
    (cache.place.journal / "s-00001.jsonl").mkdir()
    with pytest.raises(CacheError, match="s-00001"):
        cache.fold()
    assert len(segments(cache.place.journal)) == 1


def test_rebuild_keeps_everything_and_mends_a_damaged_part(tmp_path: Path) -> None:
    cache, messages = make(tmp_path)
    store(cache, *(attempt(str(i)) for i in range(9)))
    (part,) = list_parts(cache.place.parts)
    data = bytearray(part.path.read_bytes())
    data[len(data) // 2] ^= 1
    part.path.write_bytes(data)
    assert rebuild(cache) == 9
    assert "rebuild was asked for" in messages[-1]
    assert all(part.is_sound for part in list_parts(cache.place.parts))
    assert len(bodies(cache, *map(str, range(9)))) == 9


def test_info_counts(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a"), attempt("a", attempt=2, outcome="failed"))
    store(cache, attempt("b", model="n"), fold=False)
    found = info(cache)
    assert (found.attempts, found.calls) == (3, 2)
    assert found.outcomes.rows() == [("m", "answered", 1), ("m", "failed", 1), ("n", "answered", 1)]
    assert found.bytes_database > 0
    assert found.bytes_parts > 0
    assert [session.bytes for session in found.sessions] == [found.bytes_journal]
