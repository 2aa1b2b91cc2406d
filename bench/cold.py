"""``molaudit bench cold``: the demo from an empty cache folder, when kernels are compiled, and once more."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from molaudit.storage import results

from .engine_runs import Measured, measure

TIMEOUT_S = 600.0


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Measure whole processes, print a table, write ``cold.json``; ``quick`` leaves out nothing but the repeats.

    Returns
    -------
    list of dict
        For each start: ``start, seconds, cpu_seconds`` (with all child processes), ``peak_bytes``.
    """
    with tempfile.TemporaryDirectory(prefix="molaudit-bench-") as name:
        starts = ("cold", "warm") if quick else ("cold", "warm", "warm", "warm")
        rows = [_row(start, _demo(Path(name), number)) for number, start in enumerate(starts)]
    table = Table(title=f"molaudit demo on {os.cpu_count()} processors", title_justify="left")
    for column in ("start", "seconds", "processor seconds", "peak MB"):
        table.add_column(column, justify="left" if column == "start" else "right")
    for row in rows:
        figures = (row["seconds"], row["cpu_seconds"], row["peak_bytes"] / 1e6)
        table.add_row(row["start"], *(f"{figure:.1f}" for figure in figures))
    console.print(table)
    results.write_json({"rows": rows}, out / "cold.json")
    return rows


def _demo(folder: Path, number: int) -> Measured:
    """Run the demo anew, with machine code kept in a folder that the first of them finds empty."""
    command = [sys.executable, "-m", "molaudit", "demo", "--out", str(folder / f"out{number}")]
    with mock.patch.dict(os.environ, MOLAUDIT_CACHE_DIR=str(folder / "cache")):
        measured = measure(command, folder, TIMEOUT_S)
    assert measured.exit == 0, measured.stderr[-2000:]
    return measured


def _row(start: str, measured: Measured) -> dict[str, Any]:
    return {
        "start": start,
        "seconds": measured.seconds,
        "cpu_seconds": measured.cpu_seconds,
        "peak_bytes": measured.peak_bytes,
    }
