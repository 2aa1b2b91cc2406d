"""What the cache gives back, and what it refuses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from stored_attempts import IDENTITY, attempt, bodies, counted, hits, make, store

from molaudit.storage.cache import admin as cache_admin
from molaudit.storage.cache.explain import explain
from molaudit.storage.cache.store import Cache
from molaudit.storage.errors import CacheError
from molaudit.storage.journal.attempts import SCHEMA


@pytest.mark.parametrize("fold", [True, False])
def test_what_was_stored_is_served_folded_or_not(tmp_path: Path, fold: bool) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a", body=b"\xff\x00"), attempt("b", latency_s=0.3, cost_usd=0.25), fold=fold)
    found = pl.concat(cache.replies(["b", "a", "missing"]))
    assert set(found["key"]) == {"a", "b"}
    assert found.columns == [name for name in SCHEMA if name != "preimage"]
    assert found.filter(key="b").select("latency_s", "cost_usd").row(0) == (0.3, 0.25)
    assert bodies(cache, "a", "b", "missing") == {"a": b"\xff\x00", "b": b"b"}


def test_an_empty_cache_and_an_empty_question_are_ordinary(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    assert hits(cache, "a") == {}
    assert list(cache.replies(["a"])) == []
    assert cache.totals()["attempts"].to_list() == [0]
    assert cache.totals(by_session=True).is_empty()
    assert counted(cache) == 0
    assert list(tmp_path.iterdir()) == []  # a look leaves nothing behind
    assert cache.fold().attempts == 0
    store(cache, attempt("a"))
    assert hits(cache) == {}


@pytest.mark.parametrize("fold", [True, False])
def test_every_reply_to_a_key_is_given_whatever_it_was_taken_for(tmp_path: Path, fold: bool) -> None:
    cache, _ = make(tmp_path)
    store(
        cache, attempt(outcome="empty", body=b""), attempt(outcome="failed", started_at=2.0, http_status=500)
    )
    store(
        cache, attempt(outcome="answered", started_at=3.0, body=b"0.41"), fold=fold
    )  # at rest, or in the tail
    found = pl.concat(cache.replies(["k"])).sort("started_at")
    assert found["outcome"].to_list() == ["empty", "failed", "answered"]
    assert found["body"].to_list() == ["", "k", "0.41"]
    assert found["started_at"].to_list() == [1.0, 2.0, 3.0]


def test_what_is_no_reply_and_a_status_to_skip_are_left_out(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(
        cache,
        attempt("lost", outcome="timed_out", http_status=None, body=None),
        attempt("busy", outcome="throttled", http_status=429),
        attempt("good"),
    )
    asked = ["lost", "busy", "good"]
    assert sorted(hits(cache, *asked)) == ["busy", "good"]
    assert [key for frame in cache.replies(asked, skip=(429,)) for key in frame["key"]] == ["good"]
    assert counted(cache) == 3


def test_an_answer_of_another_model_or_endpoint_is_a_hard_error(tmp_path: Path) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt())
    good = pl.DataFrame({"key": ["k"], "identity": [IDENTITY], "model": ["m"]})
    assert sum(len(frame) for frame in cache.replies(good)) == 1
    for name, value in (("model", "other"), ("identity", "http://other")):
        bad = good.with_columns(pl.lit(value).alias(name))
        with pytest.raises(CacheError, match=f"asked of {name} '{value}'"):
            list(cache.replies(bad))
    with pytest.raises(CacheError, match="two endpoints or models"):
        list(cache.replies(pl.concat([good, good.with_columns(model=pl.lit("other"))])))
    with pytest.raises(CacheError, match="column 'key'"):
        list(cache.replies(pl.DataFrame({"model": ["m"]})))


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
    monkeypatch.setattr("molaudit.storage.cache.reading.READ_ROWS", 7)
    monkeypatch.setattr("molaudit.storage.cache.reading.READ_BYTES", 5000)
    cache, _ = make(tmp_path)
    wanted = {f"{i:02d}": bytes([i % 256]) * (6000 if i == 20 else 1000) for i in range(40)}
    for start in (0, 20):
        store(cache, *(attempt(key, body=wanted[key]) for key in list(wanted)[start : start + 20]))
    assert bodies(cache, *wanted) == wanted
    sizes = [frame["body_size"].sum() for frame in cache.replies(list(wanted))]
    assert max(sizes) == 6000  # the one that is larger than a chunk goes alone
    assert sorted(sizes)[-2] <= 5000


def entries(cache: Cache, beside: Path) -> dict[str, Callable[[], object]]:
    """Every way into a cache. A second cache for merges, and targets of exports, are made in ``beside``."""
    other = make(beside)[0]
    return {
        "fold": cache.fold,
        "journal": cache.journal,
        "replies": lambda: list(cache.replies(["k"])),
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
