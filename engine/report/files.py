"""A scored run as files that need no program of ours to be read."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molaudit.storage import results

from ..errors import SettingsError

if TYPE_CHECKING:
    from ..api import Scores

SCORED = ("cells.csv", "cells.parquet", "pairs.parquet", "floors.csv", "joins.csv")
"""The tables of a scored run."""

STATED_VERSIONS = ("molaudit", "numpy", "numba", "polars", "rdkit", "scipy")


_MADE: list[Path] = []


def prepare_folder(folder: Path) -> None:
    """Make the folder now, so that a wrong path is said before the work and not after it."""
    _MADE.extend(one for one in (folder, *folder.parents) if not os.path.lexists(one))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"--out {folder}: {error.strerror or error}; give a folder that can be written"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"--out {folder}: no permission to write; give a folder that can be written")


def remove_unused_folders() -> None:
    """Remove the folders that `prepare_folder` made and nothing was written into: a refused command leaves none."""
    while _MADE:
        with suppress(OSError):  # it is in use, or gone
            _MADE.pop(0).rmdir()


def remove_scored(folder: Path) -> None:
    """Remove the tables of an earlier scoring, which would stand beside results that they do not belong to."""
    from ..statistics import run_tables

    for name in (*SCORED, *(f"{table}.csv" for table in run_tables())):
        (folder / name).unlink(missing_ok=True)


def write_scores(scores: Scores, folder: Path, more: Mapping[str, Any] | None = None) -> None:
    """Write ``cells.csv``, ``cells.parquet``, ``pairs.parquet``, ``floors.csv``, ``joins.csv``, ``run.json``.

    Each table of a task or of a statistic of whole runs is a CSV of its name; a run without benchmarks has no cells.
    ``more`` is added to ``run.json``.
    """
    prepare_folder(folder)
    if scores.cells.width:
        results.write_csv(scores.cells, folder / "cells.csv")
        results.write_parquet(scores.cells, folder / "cells.parquet")
        results.write_parquet(scores.pairs, folder / "pairs.parquet")
        results.write_csv(scores.floors, folder / "floors.csv")
        results.write_csv(scores.joins, folder / "joins.csv")
    else:
        remove_scored(folder)
    for name, table in scores.tables.items():
        results.write_csv(table, folder / f"{name}.csv")
    results.write_json(
        {
            "settings": scores.settings.as_dict(),
            "seed": scores.settings.seed,
            "bh_operating_level": dict(scores.operating_level),
            "inputs": dict(scores.inputs),
            "rows_left_out": dict(scores.rows_left_out),
            "notes": list(scores.notes),
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in STATED_VERSIONS},
            },
            **(more or {}),
        },
        folder / "run.json",
    )
