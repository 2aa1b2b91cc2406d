"""``molaudit bench kernels``: every kernel beside its peers and its limit, in one run."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from molaudit.kernels.machine import threads as kernel_threads
from molaudit.storage import results

from . import (
    coverage,
    kernels_bootstrap,
    kernels_figures,
    kernels_floors,
    kernels_intervals,
    projection,
    scaling,
    scoring,
)

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
        "threads": kernel_threads.threads(),
        "python": platform.python_version(),
        "versions": versions,
    }


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Measure all parts, print the table, write ``kernels.json`` and the README's table ``kernels.md``."""
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        found = part.rows(quick)
        rows += found
        for table in _tables(found):
            console.print(table)
    more = {
        "coverage": coverage.rows(quick),
        "projection": projection.project(quick),
        "scaling": scaling.rows(quick),
    }
    _show_more(console, more)
    console.print(scaling.plot(more["scaling"], out / "kernels_scaling.svg"), highlight=False, markup=False)
    results.write_json({"environment": environment(), "rows": rows, **more}, out / "kernels.json")
    (out / "kernels.md").write_text(markdown(rows), encoding="utf-8")
    return rows


def _show_more(console: Console, more: dict[str, list[dict[str, Any]]]) -> None:
    """Print coverage, scaling, and what a whole null would take."""
    covered = Table(title="coverage of nominal 95 % intervals of a mean")
    for name in ("law", "n", "method", "coverage"):
        covered.add_column(name)
    for row in more["coverage"]:
        covered.add_row(
            row["law"], str(row["n"]), row["method"], f"{row['coverage']:.3f} (s.e. {row['error']:.3f})"
        )
    console.print(covered)
    scaled = Table(title="throughput")
    for name in ("task", "against", "", "per second"):
        scaled.add_column(name)
    for row in more["scaling"]:
        scaled.add_row(row["task"], row["against"], f"{row['x']:,}", f"{row['per_second']:.3g}")
    console.print(scaled)
    for row in more["projection"]:
        console.print(
            f"null of 12 benchmarks x 22 models at 1,000,000 repeats, three distributions a cell: "
            f"{row['seconds']:,.0f} s on {row['threads']} of these cores, {row['cost_usd']:.2f} USD at "
            f"{projection.PRICE} USD a core-hour (projected from {row['measured_on']})",
            highlight=False,
            soft_wrap=True,
        )


def _tables(rows: list[dict[str, Any]]) -> list[Table]:
    """Return one table a task: what all its rows share is its title, so that it fits 80 columns."""
    tables = []
    for task, n in dict.fromkeys((row["task"], row["n"]) for row in rows):
        table = Table(title=f"{task} (n = {n:,})", title_justify="left")
        for name in ("contender", "threads", "seconds", "per second", "ours is faster by", "note"):
            table.add_column(name, justify="left" if name in ("contender", "note") else "right")
        for row in rows:
            if (row["task"], row["n"]) == (task, n):
                table.add_row(*_cells(row)[2:])
        tables.append(table)
    return tables


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
