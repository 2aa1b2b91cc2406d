"""A run to which nothing has been added: its results stand, and are not computed again.

What the scores follow from is digested into ``run.json``: the audit's settings, its tables of labels, what the cache
keeps, and the program itself. When all of it is as it was, and the files are as they were written, a rerun shows
them without planning a call. Any doubt, and everything is planned and scored anew; so all is digested before it is
read, and what changes meanwhile makes the digest one of nothing that will be met again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Any

import polars as pl

from molaudit.storage import results
from molaudit.storage.cache.store import Cache
from molaudit.storage.errors import StorageError
from molaudit.storage.tables import reading as tables

from ..report.files import SCORED
from ..settings.loading import Settings
from ..tasks.recall import digest

FILES = (*SCORED, "attempts.parquet")

TRANSPORT = (
    "base_url",
    "api_key_env",
    "requests_per_minute",
    "tokens_per_minute",
    "burst",
    "in_flight",
    "pool",
    "timeouts",
    "api_key_header",
    "proxy",
    "insecure",
)

_ROOMS = ("engine", "kernels", "storage")
_SOURCES = (".py", ".toml", ".sql", ".json", ".txt", ".md", ".jinja")
"""What a program consists of: code, the table of models, prompts."""


def _required() -> tuple[str, ...]:
    """This program and all that it stands on: whatever is installed with it may change a result."""
    stated = (each for each in requires("molaudit") or () if "extra ==" not in each)
    names = sorted(re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in stated)
    return ("molaudit", *(name for name in names if _is_installed(name)))


def _is_installed(name: str) -> bool:
    """Whether a distribution is installed."""
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


_PACKAGES = _required()


Stamps = list[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a cache holds, by the names, sizes and times of its files.

    ``attempts`` are parts and journals, to which every new attempt adds; ``database`` is what a mere look touches.
    """

    attempts: Stamps
    database: Stamps


def stored(cache: Cache) -> Stored:
    """Take the stamps of a cache's files."""
    place = cache.place
    folder = place.database.parent
    attempts = [*place.parts.rglob("*.parquet"), *place.journal.rglob("*.*")]
    return Stored(
        _stamps(folder, (one for one in attempts if one.suffix != ".lock")),
        _stamps(folder, (place.database, place.wal)),
    )


def basis(settings: Settings) -> str:
    """Digest what the results of an audit follow from, apart from the cache. Taken before any of it is used.

    Raises
    ------
    TableError
        A table of labels cannot be read.
    """
    known = [_meaning(settings), digest(settings), [python_version(), *map(version, _PACKAGES)], _program()]
    return _digest(known)


def _meaning(settings: Settings) -> dict[str, Any]:
    """The settings without those of the transport: another port, key or concurrency changes no result."""
    spent = {"budget_usd", "deadline_minutes"}
    known: dict[str, Any] = settings.model_dump(mode="json", by_alias=True, exclude={"run": spent})
    for endpoint, dumped in zip(settings.endpoints, known["endpoint"], strict=True):
        for name in TRANSPORT:
            dumped.pop(name)
        dumped["identity"] = endpoint.record().identity
    return known


def _program() -> Stamps:
    """An edited program must score again, and so must edited tables of the catalogue that comes with it."""
    root = Path(__file__).resolve().parents[2]
    files = (path for room in _ROOMS for path in (root / room).rglob("*.*"))
    own = _stamps(root, (path for path in files if path.suffix in _SOURCES))
    return own + [stamp for folder in _catalogue() for stamp in _stamps(folder, folder.rglob("*.[ct]sv"))]


def _catalogue() -> list[Path]:
    """Folders of the packages whose tables are benchmarks."""
    found = find_spec("chemicals")
    return [Path(place) for place in (found.submodule_search_locations or ())] if found else []


def _stamps(root: Path, files: Iterable[Path]) -> Stamps:
    """Name, size and time of the files that are there."""
    found = []
    for path in sorted(files):
        with suppress(FileNotFoundError):  # another process may have folded it away
            status = path.stat()
            found.append((str(path.relative_to(root)), status.st_size, status.st_mtime_ns))
    return found


def _state(known: str, now: Stored) -> str:
    return _digest([known, now.attempts, now.database])


def _digest(content: list[Any]) -> str:
    return blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def seal(folder: Path, known: str, cache: Cache, read: Stored, calls: int) -> None:
    """Note in ``run.json`` what the files of the folder follow from, their own digests, and the size of the plan.

    ``read`` is what the cache held before it was read. Where attempts have been added since, by another run, nobody
    can tell which of them are in the results, and these are not sealed.
    """
    now = stored(cache)
    if now.attempts != read.attempts:
        return
    content = _content(folder)
    content["sealed"] = {"calls": calls, "state": _state(known, now), "files": _digests(folder)}
    results.write_json(content, folder / "run.json")


@dataclass(frozen=True, slots=True)
class Written:
    """What a person is shown of results."""

    cells: pl.DataFrame
    notes: tuple[str, ...]


def read_written(folder: Path) -> Written:
    """Read what was written into a folder."""
    return _written(folder, _content(folder))


def _written(folder: Path, content: dict[str, Any]) -> Written:
    notes = tuple(str(note) for note in content["notes"])
    cells = folder / "cells.parquet"
    return Written(pl.read_parquet(cells) if cells.exists() else pl.DataFrame(), notes)


def _content(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "run.json").read_text(encoding="utf-8")))


class Standing:
    """Results that stand, for a plan of ``calls``."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self.written = _written(folder, content)
        self.calls = int(content["sealed"]["calls"])
        self._folder, self._content = folder, content

    def note_run(self, facts: dict[str, Any]) -> None:
        """Put the facts of this run, which made no call, into ``run.json``."""
        results.write_json({**self._content, "run": facts}, self._folder / "run.json")


def standing(folder: Path, known: str, cache: Cache) -> Standing | None:
    """Return the results of the folder if they follow from ``known`` and the cache, and are as written; else None."""
    try:
        content = _content(folder)
        sealed = content["sealed"]
        if sealed["state"] != _state(known, stored(cache)) or sealed["files"] != _digests(folder):
            return None
        return Standing(folder, content)
    except (OSError, ValueError, KeyError, TypeError, StorageError, pl.exceptions.PolarsError):
        return None


def _digests(folder: Path) -> dict[str, str]:
    """Digests of the files of results; those of tasks are tables of any name."""
    names = {*FILES, *(path.name for path in folder.glob("*.csv"))}
    return {name: tables.digest(folder / name) for name in sorted(names) if (folder / name).exists()}
