"""A scored run as files that need no program of ours to be read."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molaudit.storage import results

from .errors import SettingsError

if TYPE_CHECKING:
    from .api import Scores

SCORED = ("cells.csv", "cells.parquet", "pairs.parquet", "floors.csv")
"""The tables of a scored run."""

STATED_VERSIONS = ("molaudit", "numpy", "numba", "polars", "rdkit", "scipy")


def prepare_folder(folder: Path) -> None:
    """Make the folder now, so that a wrong path is said before the work and not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"--out {folder}: {error.strerror or error}; give a folder that can be written"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"--out {folder}: no permission to write; give a folder that can be written")


def write_scores(scores: Scores, folder: Path, more: Mapping[str, Any] | None = None) -> None:
    """Write ``cells.csv``, ``cells.parquet``, ``pairs.parquet``, ``floors.csv`` and ``run.json``.

    ``more`` is added to ``run.json``.
    """
    prepare_folder(folder)
    results.write_csv(scores.cells, folder / "cells.csv")
    results.write_parquet(scores.cells, folder / "cells.parquet")
    results.write_parquet(scores.pairs, folder / "pairs.parquet")
    results.write_csv(scores.floors, folder / "floors.csv")
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
