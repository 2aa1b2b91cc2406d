"""`molaudit cache`: what it deletes it asks for, and what it writes out it takes in again."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from stored_attempts import attempt, counted, make, store

from molaudit.engine.cli import main
from molaudit.storage.cache.store import Cache

Capture = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    """A keyboard at which something was typed."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    made, _ = make(tmp_path)
    store(made, attempt("a"), attempt("b"))
    return made


def evict(cache: Cache, *more: str) -> int:
    return main(["cache", "evict", "--where", "key = a", "--cache", str(cache.path), *more])


def test_evict_without_a_terminal_deletes_nothing_unless_told_so(cache: Cache, capsys: Capture) -> None:
    assert evict(cache) == 2
    assert capsys.readouterr().err == (
        "molaudit cache: evict: 1 attempts would be deleted, and nobody can be asked; say --yes to delete them, or "
        "--dry-run to count only\n"
    )
    assert evict(cache, "--dry-run") == 0
    assert counted(cache) == 2
    assert evict(cache, "--yes") == 0
    assert "1 attempts deleted" in capsys.readouterr().out
    assert counted(cache) == 1
    # Where nothing is met there is nothing to ask.
    assert evict(cache) == 0


@pytest.mark.parametrize(("typed", "left"), [("y\n", 1), ("yes\n", 1), ("\n", 2), ("n\n", 2), ("", 2)])
def test_evict_asks_in_a_terminal(
    typed: str, left: int, cache: Cache, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    assert evict(cache) == (0 if left == 1 else 1)
    assert "attempts and what was paid for them?" in capsys.readouterr().out
    assert counted(cache) == left


@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl"])
def test_an_export_is_merged(name: str, cache: Cache, tmp_path: Path, capsys: Capture) -> None:
    exported, other = str(tmp_path / name), str(tmp_path / "other.duckdb")
    assert main(["cache", "export", exported, "--cache", str(cache.path)]) == 0
    assert main(["cache", "merge", exported, "--cache", other]) == 0
    assert f"2 attempts taken from {exported}" in " ".join(capsys.readouterr().out.split())
    assert counted(Cache(Path(other))) == 2
