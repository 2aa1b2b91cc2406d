"""What interruptions, damage and other processes cost the cache: counted, named, and never more than they must."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow
import pytest
from stored_attempts import attempt, bodies, counted, hits, make, store

from molaudit.storage.cache import database as cache_database
from molaudit.storage.cache import store as cache_module
from molaudit.storage.cache.admin import export, info
from molaudit.storage.cache.database import with_database
from molaudit.storage.cache.explain import explain
from molaudit.storage.errors import CacheError, reason
from molaudit.storage.journal.attempts import frame
from molaudit.storage.journal.locks import FileLock
from molaudit.storage.journal.segments import segments
from molaudit.storage.parts import list_parts, write_generation, write_part


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
from stored_attempts import attempt, make, store
cache, _ = make(Path(sys.argv[1]))
store(cache, *(attempt(str(i), body=b"first" * 50) for i in range(300)))
store(cache, *(attempt(str(i), body=b"second" * 50) for i in range(300, 700)), fold=False)
Path.unlink = lambda *_, **__: os.kill(os.getpid(), 9)
cache.fold()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(Path(__file__).parents[2])],
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
    rng = random.Random(seed)
    store(cache, *(attempt(str(i), body=rng.randbytes(300)) for i in range(500)))
    before = bodies(cache, *map(str, range(500)))
    data = bytearray(cache.path.read_bytes())
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


@pytest.mark.parametrize("fails", ["rebuild", "second use"])
def test_a_damaged_database_on_a_full_disk_is_named_with_what_was_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    cache, _ = make(tmp_path)
    store(cache, attempt("a"))
    damaged = b"hello " * 5000
    cache.path.write_bytes(damaged)

    def full(*_: Any) -> Any:
        raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    if fails == "rebuild":
        monkeypatch.setattr(cache_database.tables, "adopt", full)
    with pytest.raises(
        CacheError, match=r"cache\.duckdb is damaged .*No space left.* kept as (.*aside-.*)"
    ) as caught:
        with_database(cache.place, full if fails == "second use" else lambda _: None)
    (aside,) = tmp_path.glob("cache.duckdb.aside-*")
    assert str(caught.value).endswith(aside.name)
    assert aside.read_bytes() == damaged
    monkeypatch.undo()
    assert counted(cache) == 1


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """What a full disk does to a program, done to this one: the system cuts every write short at ``size`` bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_part_that_does_not_fit_on_the_disk_is_an_error_of_the_cache(tmp_path: Path) -> None:
    rows = frame(
        {"session": "s", "seq": i, "body": random.Random(i).randbytes(200).hex()} for i in range(500)
    )
    for write in (
        lambda: write_part(tmp_path / "0001", "s-00001", rows),
        lambda: write_generation(tmp_path, 2, [("rows-00000", rows)]),
    ):
        with no_file_over(10_000), pytest.raises(CacheError, match=r"000\d.* cannot be written: .*too large"):
            write()
    assert [path.name for path in tmp_path.rglob("*")] == ["0001"]


def test_a_generation_that_cannot_be_put_into_place_is_an_error_of_the_cache(tmp_path: Path) -> None:
    (tmp_path / "0002").mkdir()
    (tmp_path / "0002" / "in the way").touch()
    with pytest.raises(CacheError, match="cannot be written: Directory not empty"):
        write_generation(tmp_path, 2, [])
    assert [path.name for path in tmp_path.iterdir()] == ["0002"]


def test_a_full_disk_is_named_although_a_library_calls_it_something_else(
    tmp_path: Path,
) -> None:
    hidden = pl.exceptions.ComputeError("parquet: File out of specification")
    assert reason(hidden, tmp_path) == str(hidden)
    with no_file_over(10_000):
        assert reason(hidden, tmp_path) == os.strerror(errno.EFBIG)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_an_export_that_does_not_fit_on_the_disk_is_an_error_of_the_cache(tmp_path: Path, name: str) -> None:
    cache, _ = make(tmp_path)
    store(cache, *(attempt(str(i), body=random.Random(i).randbytes(200)) for i in range(500)))
    (tmp_path / name).write_bytes(b"before")
    with no_file_over(10_000), pytest.raises(CacheError, match=rf"export to .*{name}: .*too large"):
        export(cache, tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"before"
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize(
    "error", [pl.exceptions.ComputeError, pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError]
)
def test_an_export_that_parquet_refuses_is_an_error_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(*_: Any) -> None:
        raise error("what it says")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", refuse)
    cache, _ = make(tmp_path)
    store(cache, attempt())
    with pytest.raises(CacheError, match=r"export to .*out\.parquet: what it says"):
        export(cache, tmp_path / "out.parquet")
    assert not list(tmp_path.glob("*out*"))


def test_a_part_cut_short_while_another_process_holds_the_lock_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_READ_WAIT_S", 0.05)
    cache, _ = make(tmp_path)
    store(cache, *(attempt(str(i)) for i in range(9)))
    (part,) = list_parts(cache.place.parts)
    part.path.write_bytes(part.path.read_bytes()[:-20])
    lock = FileLock(cache.place.lock)
    assert lock.try_acquire()
    for question in (cache.totals, lambda: list(cache.replies(["1"]))):
        with pytest.raises(CacheError, match=r"its parts cannot be read: .*arquet"):
            question()
    lock.release()
    assert counted(cache) == 9


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
