"""Files that were damaged between two runs: named, set aside, the rest used, the loss counted and asked again."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from running_audits import Audit, server, stats

from molaudit.storage.cache.store import Cache

MOLECULES = 40


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server() as address:
        yield address


def closed_segment(audit: Audit) -> Path:
    """Have a run's answers stand in the journal only, as a killed process leaves them."""
    assert audit.make() == 0
    rows = list(Cache(audit.cache).replies(audit.attempts().select("key")))
    assert sum(frame.height for frame in rows) == MOLECULES
    from molaudit.storage.journal.attempts import FIELDS, StoredAttempt
    from molaudit.storage.journal.journal import Journal

    for folder in (audit.parts, audit.journal):
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
    audit.cache.unlink()
    with Journal(audit.journal, "20300101T000000.1.abcd") as journal:
        for row in (row for frame in rows for row in frame.iter_rows(named=True)):
            given = {name: row[name] for name in FIELDS if name in row}
            journal.append(StoredAttempt(**{**given, "body": row["body"].encode(), "preimage": None}))
    return next(audit.journal.glob("*.jsonl"))


def asked_again(audit: Audit, url: str) -> int:
    before = stats(url)["requests"]
    assert audit.make() == 0
    count: int = stats(url)["requests"] - before
    return count


def test_damaged_lines_of_the_journal(tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    segment = closed_segment(audit)
    lines = segment.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:40] + b"X" + lines[3][41:]
    lines[7] = b"\x00\xff garbage\n"
    lines[-1] = lines[-1][: len(lines[-1]) // 2]
    segment.write_bytes(b"".join(lines))
    cells = audit.cells()
    capsys.readouterr()
    assert asked_again(audit, url) == 3
    shown = capsys.readouterr().out
    assert segment.name in shown
    assert f"{segment.stem}.damaged" in shown
    assert "3 stored attempts could not be read" in shown
    assert audit.cells() == cells
    kept = segment.with_suffix(".damaged").read_bytes()
    assert kept.count(b"\n") >= 3
    assert asked_again(audit, url) == 0


@pytest.mark.slow
def test_a_truncated_segment(tmp_path: Path, url: str) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    segment = closed_segment(audit)
    data = segment.read_bytes()
    segment.write_bytes(data[: len(data) * 6 // 10])
    whole = data[: len(data) * 6 // 10].count(b"\n")
    assert asked_again(audit, url) == MOLECULES - whole


def test_flipped_bytes_in_the_database(tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    assert audit.make() == 0
    cells = audit.cells()
    data = bytearray(audit.cache.read_bytes())
    draw = random.Random(3)
    for _ in range(64):
        data[draw.randrange(len(data))] ^= 0xFF
    audit.cache.write_bytes(data)
    capsys.readouterr()
    assert asked_again(audit, url) == 0
    shown = capsys.readouterr().out
    assert "set aside" in shown
    assert "0 lost" in shown
    assert list(tmp_path.glob("cache.duckdb.aside-*"))
    assert audit.cells() == cells


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "damage", ["cut", *(pytest.param(one, marks=SLOW) for one in ("emptied", "gone", "no database"))]
)
def test_a_database_that_is_none(damage: str, tmp_path: Path, url: str) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    assert audit.make() == 0
    data = audit.cache.read_bytes()
    contents = {"emptied": b"", "cut": data[: len(data) // 2], "no database": b"this is no database" * 1000}
    if damage == "gone":
        audit.cache.unlink()
    else:
        audit.cache.write_bytes(contents[damage])
    assert asked_again(audit, url) == 0


@pytest.mark.slow
def test_a_write_ahead_log_that_is_garbage(tmp_path: Path, url: str) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    assert audit.make() == 0
    audit.cache.with_name(audit.cache.name + ".wal").write_bytes(random.Random(1).randbytes(5000))
    assert asked_again(audit, url) == 0


def test_a_part_and_the_database_both_damaged_cost_what_stood_in_them(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    assert audit.make() == 0
    audit.molecules = MOLECULES + 10
    audit.write()
    assert asked_again(audit, url) == 10
    parts = sorted(audit.parts.rglob("*.parquet"), key=lambda path: path.stat().st_size)
    assert len(parts) == 2
    data = bytearray(parts[0].read_bytes())
    data[len(data) // 3 : len(data) // 3 + 400] = bytes(400)
    parts[0].write_bytes(data)
    audit.cache.write_bytes(b"no database")
    capsys.readouterr()
    assert asked_again(audit, url) == 10
    shown = capsys.readouterr().out
    assert parts[0].name in shown
    assert "10 attempts lost" in shown


@pytest.mark.slow
def test_a_damaged_part_beside_a_sound_database_costs_nothing(tmp_path: Path, url: str) -> None:
    audit = Audit(tmp_path, url, molecules=MOLECULES)
    assert audit.make() == 0
    part = next(audit.parts.rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-100])
    assert asked_again(audit, url) == 0
