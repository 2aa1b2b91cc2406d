"""Evicting, merging, exporting, explaining and rebuilding a cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from stored_attempts import IDENTITY, attempt, bodies, counted, hits, make, store

from molaudit.storage.cache.admin import evict, export, info, merge, merge_export, rebuild
from molaudit.storage.cache.explain import explain
from molaudit.storage.cache.where import parse_where
from molaudit.storage.errors import CacheError
from molaudit.storage.journal.attempts import body_bytes
from molaudit.storage.journal.segments import segments
from molaudit.storage.parts import list_parts


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


def test_a_dry_run_counts_what_an_interrupted_run_left_in_the_journal(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a", outcome="malformed"))
    store(cache, attempt("b", outcome="malformed"), attempt("c"), fold=False)
    assert evict(cache, "outcome = malformed", dry_run=True) == 2
    assert counted(cache) == 3
    assert evict(cache, "outcome = malformed") == 2


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


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_what_is_exported_can_be_merged_and_nothing_is_lost(name: str, tmp_path: Path) -> None:
    ours, _ = make(tmp_path / "a")
    other, _ = make(tmp_path / "b")
    store(other, attempt("a", body="é\u2028\x00".encode(), preimage='{"a": 1}'), attempt("a", attempt=2))
    store(other, attempt("b", body=b"\xff", preimage='{"b": 1}'), fold=False)
    assert export(other, tmp_path / name) == 3
    assert merge_export(ours, tmp_path / name) == 3
    assert merge_export(ours, tmp_path / name) == 0
    assert merge(ours, other) == 0
    assert counted(ours) == 3
    assert bodies(ours, "b") == {"b": b"\xff"}
    assert [explain(ours, key=key).differences for key in ("a", "b")] == [(), ()]
    rebuild(ours)
    assert counted(ours) == 3
    # What is written out again is what came in.
    assert export(ours, tmp_path / f"again-{name}") == 3
    sent, again = (tmp_path / each for each in (name, f"again-{name}"))
    read = pl.read_parquet if name.endswith("parquet") else pl.read_ndjson
    assert read(again).sort("session", "seq").equals(read(sent).sort("session", "seq"))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.jsonl", '{"key": "a"}\n', "no export of a cache, for session, seq, outcome, model, identity"),
        ("x.jsonl", "no json\n", "cannot be read"),
        ("x.parquet", "no parquet", "cannot be read"),
        ("y.parquet", None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_export_is_refused(
    name: str, content: str | None, says: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(CacheError, match=f"merge from .*{says}"):
        merge_export(make(tmp_path / "a")[0], tmp_path / name)


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
