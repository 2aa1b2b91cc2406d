"""A run to which nothing has been added: its results stand, and are not computed again.

What the scores follow from is digested into ``run.json``: the audit's settings, its tables of labels, what the cache
keeps, and the program itself. When all of it is as it was, and the files are as they were written, a rerun shows
them without planning a call. Any doubt, and everything is planned and scored anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.storage import results, tables
from molaudit.storage.cache import Cache
from molaudit.storage.errors import StorageError

from ..settings import Settings

FILES = ("cells.csv", "cells.parquet", "pairs.parquet", "floors.csv", "attempts.parquet")

TRANSPORT = (
    "base_url",
    "api_key_env",
    "requests_per_minute",
    "tokens_per_minute",
    "in_flight",
    "pool",
    "timeouts",
)

_ROOMS = ("engine", "kernels", "storage")
_PACKAGES = ("molaudit", "chemicals", "numba", "polars", "rdkit")


def state_digest(settings: Settings, cache: Cache) -> str:
    """Digest all that the results of an audit follow from.

    The cache is known by the names, sizes and times of its files, so that one that was touched is opened and looked
    at; the results are sealed after the last fold and look-up.

    Raises
    ------
    TableError
        A table of labels cannot be read.
    """
    labels = [str(tables.digest(one.file)) for one in settings.benchmarks if one.file is not None]
    place = cache.place
    files = [place.database, place.wal, *place.parts.rglob("*.parquet"), *place.journal.rglob("*.*")]
    stored = _stamps(place.database.parent, (one for one in files if one.suffix != ".lock" and one.exists()))
    versions = [version(name) for name in _PACKAGES]
    known = [_meaning(settings), labels, stored, versions, _program()]
    return blake2b(json.dumps(known).encode(), digest_size=16).hexdigest()


def _meaning(settings: Settings) -> dict[str, Any]:
    """The settings without those of the transport: another port, key or concurrency changes no result."""
    known: dict[str, Any] = settings.model_dump(mode="json", by_alias=True, exclude={"run": {"budget_usd"}})
    for endpoint, dumped in zip(settings.endpoints, known["endpoint"], strict=True):
        for name in TRANSPORT:
            dumped.pop(name)
        dumped["identity"] = endpoint.record().identity
    return known


def _program() -> list[tuple[str, int, int]]:
    """An edited program must score again."""
    root = Path(__file__).resolve().parents[2]
    files = (path for room in _ROOMS for path in (root / room).rglob("*.*"))
    return _stamps(root, (path for path in files if path.suffix in (".py", ".toml")))


def _stamps(root: Path, files: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Name, size and time of files."""
    return [
        (str(path.relative_to(root)), status.st_size, status.st_mtime_ns)
        for path in sorted(files)
        for status in [path.stat()]
    ]


def seal(folder: Path, state: str, calls: int) -> None:
    """Note in ``run.json`` what the files of the folder follow from, their own digests, and the size of the plan."""
    content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    content["sealed"] = {"calls": calls, "state": state, "files": _digests(folder)}
    results.write_json(content, folder / "run.json")


class Standing:
    """Results that stand: the cells and notes as they were shown, for a plan of ``calls``."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self.cells = pl.read_parquet(folder / "cells.parquet")
        self.notes = tuple(str(note) for note in content["notes"])
        self.calls = int(content["sealed"]["calls"])
        self._folder, self._content = folder, content

    def note_run(self, facts: dict[str, Any]) -> None:
        """Put the facts of this run, which made no call, into ``run.json``."""
        results.write_json({**self._content, "run": facts}, self._folder / "run.json")


def standing(folder: Path, state: str) -> Standing | None:
    """Return the results of the folder if they follow from ``state`` and are as they were written; else None."""
    try:
        content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        sealed = content["sealed"]
        if sealed["state"] != state or sealed["files"] != _digests(folder):
            return None
        return Standing(folder, content)
    except (OSError, ValueError, KeyError, TypeError, StorageError, pl.exceptions.PolarsError):
        return None


def _digests(folder: Path) -> dict[str, str]:
    return {name: tables.digest(folder / name) for name in FILES}
