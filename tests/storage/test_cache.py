"""What the cache serves, and what it never serves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from stored_attempts import IDENTITY, attempt, bodies, counted, hits, make, store

from molaudit.storage import cache_admin
from molaudit.storage.attempts import SMALL
from molaudit.storage.cache import Cache, Mode
from molaudit.storage.cache_explain import explain
from molaudit.storage.errors import CacheError


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


@pytest.mark.parametrize("fold", [True, False])
def test_an_answer_outlives_later_empties(tmp_path: Path, fold: bool) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt(started_at=1.0, body=b"paid"), fold=fold)
    store(cache, *(attempt(outcome="empty", started_at=time, body=b"") for time in (2.0, 3.0)), fold=fold)
    assert hits(cache, "k") == {"k": "answered"}
    assert bodies(cache, "k") == {"k": b"paid"}
    assert hits(cache, "k", not_before=1.5) == {"k": "empty"}  # the answer has expired, the empties have not
    assert hits(cache, "k", not_before=3.5) == {}


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


def entries(cache: Cache, beside: Path) -> dict[str, Callable[[], object]]:
    """Every way into a cache. A second cache for merges, and targets of exports, are made in ``beside``."""
    other = make(beside)[0]
    return {
        "fold": cache.fold,
        "journal": cache.journal,
        "lookup": lambda: cache.lookup(["k"]),
        "answers": lambda: list(cache.answers(["k"])),
        "attempts": cache.attempts,
        "totals": cache.totals,
        "account": lambda: cache.account(["k"]),
        "info": lambda: cache_admin.info(cache),
        "explain": lambda: explain(cache, key="k"),
        "dry run": lambda: cache_admin.evict(cache, "outcome = empty", dry_run=True),
        "evict": lambda: cache_admin.evict(cache, "outcome = empty"),
        "rebuild": lambda: cache_admin.rebuild(cache),
        "merge": lambda: cache_admin.merge(cache, other),
        "be merged": lambda: cache_admin.merge(other, cache),
        "export": lambda: cache_admin.export(cache, beside / "out.parquet"),
    }


@pytest.mark.parametrize("content", [b"smiles,y\nCCO,1.5\n", b"x", b"PAR1" * 9])
def test_a_file_that_is_not_a_cache_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    path = folder / "labels.csv"
    messages: list[str] = []
    cache = Cache(path, notify=messages.append)
    path.write_bytes(content)  # after the cache was made, so that no entry can lean on the constructor
    with pytest.raises(CacheError, match=r"labels\.csv is not a molaudit cache .* allowed are"):
        Cache(path)
    store(make(tmp_path / "beside")[0], attempt())
    for name, entry in entries(cache, tmp_path / "beside").items():
        with pytest.raises(CacheError, match=r"labels\.csv is not a molaudit cache"):
            entry()
        assert [item.name for item in folder.iterdir()] == ["labels.csv"], name
        assert path.read_bytes() == content, name
    assert messages == []


@pytest.mark.parametrize("name", ["folder", ".", "..", "/"])
def test_a_folder_is_no_cache(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(CacheError, match="is a folder, not a molaudit cache; allowed are"):
        Cache(Path(name))
    assert [item.name for item in tmp_path.iterdir()] == ["folder"]


def test_a_device_is_no_cache() -> None:
    with pytest.raises(CacheError, match="is no regular file; allowed are"):
        Cache(Path(os.devnull))


@pytest.mark.parametrize("gone", ["parts", "journal", "both"])
def test_a_cache_is_known_by_its_first_bytes_or_by_its_folders(tmp_path: Path, gone: str) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt())
    for folder in [cache.place.parts, cache.place.journal]:
        if gone == "both" or folder.name.endswith(gone):
            shutil.rmtree(folder)
    assert counted(make(tmp_path)[0]) == 1
    if gone == "journal":
        cache.path.write_bytes(b"smiles,y\n")  # damaged beyond knowing, yet its parts stand beside it
        assert counted(make(tmp_path)[0]) == 1


def test_an_empty_file_becomes_a_cache(tmp_path: Path) -> None:
    (tmp_path / "cache.duckdb").touch()
    cache, _ = make(tmp_path)
    store(cache, attempt())
    assert counted(cache) == 1
