"""``molaudit bench kernels``: every kernel beside its peers and its limit, in one run."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numba
from rich.console import Console
from rich.table import Table

from molaudit.storage import results

from . import kernels_bootstrap, kernels_figures, kernels_floors, kernels_intervals, scoring

PARTS = (scoring, kernels_figures, kernels_floors, kernels_bootstrap, kernels_intervals)
STATED = ("molaudit", "numba", "numpy", "scipy", "polars", "arch", "resample", "statsmodels")


def environment() -> dict[str, Any]:
    """Say on what the figures were measured."""
    versions: dict[str, str] = {}
    for name in STATED:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "threads": numba.get_num_threads(),
        "python": platform.python_version(),
        "versions": versions,
    }


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Measure all parts, print the table, write ``kernels.json`` and the README's table ``kernels.md``."""
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        found = part.rows(quick)
        rows += found
        console.print(_table(found))
    results.write_json({"environment": environment(), "rows": rows}, out / "kernels.json")
    (out / "kernels.md").write_text(markdown(rows), encoding="utf-8")
    return rows


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table()
    for name in ("task", "n", "contender", "threads", "seconds", "per second", "ours is faster by", "note"):
        table.add_column(name, justify="left" if name in ("task", "contender", "note") else "right")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    ratio = row["ratio_to_ours"]
    return [
        str(row["task"]),
        f"{row['n']:,}",
        str(row["peer"]),
        str(row["threads"]),
        f"{row['seconds']:.4g}",
        f"{row['per_second']:.3g} {row['unit']}",
        "" if ratio is None else f"{ratio:.3g} x",
        str(row["note"]),
    ]


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the table as Markdown, as the README shows it."""
    lines = [
        "| task | n | contender | threads | seconds | per second | ours is faster by | note |",
        "|---|--:|---|--:|--:|--:|--:|---|",
    ]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"
