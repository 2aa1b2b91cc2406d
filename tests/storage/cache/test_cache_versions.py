"""A cache that an earlier version wrote is read, added to and rebuilt; columns that came later are null there."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
from stored_attempts import attempt, bodies, hits, make, store

from molaudit.storage.cache.admin import export, merge, rebuild
from molaudit.storage.cache.database import snapshot
from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import SCHEMA, SMALL
from molaudit.storage.parts import list_parts, write_part

LATER = ("finish", "flags")


def made_before(folder: Path) -> Cache:
    """A cache with two answers, as it was before the later columns: in the database, the parts and the journal."""
    cache, _ = make(folder)
    store(cache, attempt("a", message="m", preimage='{"a": 1}'))
    (part,) = list_parts(cache.place.parts)
    rows = pl.read_parquet(part.path).drop(LATER)
    part.path.unlink()
    old = write_part(part.path.parent, part.path.name.rsplit("-", 2)[0], rows)
    with duckdb.connect(str(cache.path)) as connection:
        for name in LATER:
            connection.execute(f"ALTER TABLE attempts DROP COLUMN {name}")
        connection.execute("UPDATE parts SET name = ?, bytes = ?", [old.path.name, old.path.stat().st_size])
    store(cache, attempt("b"), fold=False)
    return cache


def test_its_answers_are_given(tmp_path: Path) -> None:
    cache = made_before(tmp_path)
    assert hits(cache, "a", "b", "c") == {"a": "answered", "b": "answered"}
    assert bodies(cache, "a", "b") == {"a": b"a", "b": b"b"}
    rows = cache.attempts().sort("key")
    assert rows.columns == SMALL
    assert rows["flags"].to_list() == [None, None]
    assert rows["message"].to_list() == ["m", None]


def test_its_parts_are_read_beside_a_writer(tmp_path: Path) -> None:
    cache = made_before(tmp_path)
    with snapshot(cache.place) as connection:
        assert connection.sql("SELECT key, finish, flags FROM light").fetchall() == [("a", None, None)]


def test_new_attempts_go_into_it_with_all_they_have(tmp_path: Path) -> None:
    cache = made_before(tmp_path)
    store(cache, attempt("c", finish="stop", flags="cap_not_enforced suspect"))
    found = cache.attempts(["a", "c"]).sort("key")
    assert found["finish"].to_list() == [None, "stop"]
    assert found["flags"].to_list() == [None, "cap_not_enforced suspect"]


def test_it_is_rebuilt_merged_and_exported(tmp_path: Path) -> None:
    cache = made_before(tmp_path / "old")
    other, _ = make(tmp_path / "new")
    store(other, attempt("c", flags="suspect"))
    assert merge(other, cache) == 2
    assert sorted(hits(other, "a", "b", "c")) == ["a", "b", "c"]
    assert rebuild(cache) == 2
    assert export(cache, tmp_path / "all.parquet") == 2
    assert set(SCHEMA) <= set(pl.read_parquet(tmp_path / "all.parquet").columns)


def test_a_reply_that_was_not_kept_has_its_size(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a", body=None, body_size=40_000_000, outcome="failed", http_status=None))
    assert cache.attempts()["body_size"].to_list() == [40_000_000]
    assert [len(frame) for frame in cache.replies(["a"])] == []


def test_every_reply_to_a_key_is_given_and_not_only_the_chosen_one(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    rows = [
        attempt("a", outcome="malformed", body=b"1"),
        attempt("a", attempt=2, outcome="throttled", http_status=429, body=b"2"),
    ]
    store(cache, *rows)
    store(cache, attempt("a", body=b"3"), attempt("b", body=b"4"), fold=False)
    found = [row for frame in cache.replies(["a"], skip=[429]) for row in frame["body"].to_list()]
    assert sorted(found) == ["1", "3"]
