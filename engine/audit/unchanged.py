"""A run to which nothing has been added: its results stand, and are not computed again.

What the scores follow from is digested into ``run.json``: the plan, the stored answer of every call, the labels, the
settings and the program itself. When all of it is as it was, and the files are as they were written, a rerun shows
them. Any doubt, and everything is scored anew.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.storage import results, tables
from molaudit.storage.errors import StorageError

from .inputs import Audit

FILES = ("cells.csv", "cells.parquet", "pairs.parquet", "floors.csv", "attempts.parquet")

_SOURCES = ("engine", "kernels", "storage")


def state_digest(audit: Audit, table: pl.DataFrame, picked: pl.DataFrame) -> str:
    """Digest all that the scores of an audit follow from.

    Parameters
    ----------
    table
        The plan, a row a call.
    picked
        What `Cache.lookup` gave for it: which stored attempt answers which key, of how many.
    """
    hasher = blake2b(digest_size=16)
    hasher.update(json.dumps([version("molaudit"), version("polars"), _program()]).encode())
    hasher.update(audit.settings.model_dump_json(by_alias=True).encode())
    for frame in (table, picked.select("key", "session", "seq", "attempts").sort("key"), audit.labels):
        text = frame.select(pl.all().cast(pl.String))
        hasher.update(text.hash_rows().to_numpy().tobytes() + str(text.shape).encode())
    return hasher.hexdigest()


def _program() -> list[tuple[str, int, int]]:
    """Name, size and time of every source file: an edited program must score again."""
    root = Path(__file__).resolve().parents[2]
    files = sorted(path for room in _SOURCES for path in (root / room).rglob("*.py"))
    return [
        (str(path.relative_to(root)), status.st_size, status.st_mtime_ns)
        for path in files
        for status in [path.stat()]
    ]


def seal(folder: Path, state: str) -> None:
    """Note in ``run.json`` what the files of the folder follow from, and their own digests."""
    content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    content["sealed"] = {"state": state, **{name: tables.digest(folder / name) for name in FILES}}
    results.write_json(content, folder / "run.json")


def standing_cells(
    folder: Path, state: str, run: dict[str, Any]
) -> tuple[pl.DataFrame, tuple[str, ...]] | None:
    """Return the cells and notes of the folder if they still stand, and note this run in ``run.json``; else None."""
    try:
        content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        expected = {"state": state, **{name: tables.digest(folder / name) for name in FILES}}
        if content["sealed"] != expected:
            return None
        cells, notes = pl.read_parquet(folder / "cells.parquet"), tuple(content["notes"])
    except (OSError, ValueError, KeyError, TypeError, StorageError, pl.exceptions.PolarsError):
        return None
    results.write_json({**content, "run": run}, folder / "run.json")
    return cells, notes
