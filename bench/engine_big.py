"""A night's audit in a minute or two: 22 models, 12 benchmarks, 500 molecules each, on a server without latency.

Four claims: it completes; memory depends on concurrency and not on the plan; the loop is never late; and a second
run makes no call and takes a twentieth of the time.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from molaudit.engine.simulated.server import ServeSettings, start_process

from . import engine_workload as workloads
from .engine_runs import Measured, count_answers, measure, our_command, read_summary, stats
from .engine_tables import environment
from .engine_workload import Files, Workload

MOLECULES, BENCHMARKS = 500, 12
# Reciters, for which every cell must be flagged, beside models that know nothing below the first figure.
MODELS = tuple(f"reciter@{n}" for n in range(1, 12)) + tuple(f"blind@{n}" for n in range(1, 12))
TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, what was measured, and whether it holds."""

    claim: str
    measured: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """One run of a plan, and its outputs."""

    measured: Measured
    stats: dict[str, Any]
    summary: dict[str, Any]
    answered: int
    cells: pl.DataFrame


def audit(workload: Workload, files: Files, name: str) -> Audit:
    """Run a plan against a fresh server; cache and results are named after the run, so the same name is a rerun."""
    out = files.folder / name
    with start_process(ServeSettings(labels=files.labels)) as base_url:
        workloads.point(workload, files, base_url)
        database = files.folder / f"{name}.duckdb"
        with tempfile.TemporaryDirectory(dir=files.folder) as scratch:
            measured = measure(our_command(files, database, out), Path(scratch), TIMEOUT_S)
        counts = stats(base_url)
    assert measured.exit == 0, f"exit {measured.exit}: {measured.stdout[-2000:]} {measured.stderr[-2000:]}"
    cells = pl.read_csv(out / "cells.csv", infer_schema=False)
    return Audit(measured, counts, read_summary(out), count_answers(out), cells)


def plans(quick: bool) -> tuple[Workload, Workload]:
    """The small plan, whose memory is the measure, and the big one."""
    small = Workload(MOLECULES, MODELS[10:12], 5)
    big = Workload(MOLECULES, MODELS, BENCHMARKS)
    return (replace(small, benchmarks=1), replace(big, benchmarks=2)) if quick else (small, big)


def findings(small: Audit, first: Audit, again: Audit, calls: int) -> list[Finding]:
    """Hold the runs against the claims."""
    counts = first.stats
    peak, base = first.measured.peak_bytes / 1e6, small.measured.peak_bytes / 1e6
    lag = 1000 * first.summary["lag_p99_s"]
    share = again.measured.seconds / first.measured.seconds
    reciters = first.cells.filter(pl.col("model").str.starts_with("reciter"))
    flagged = sum(text.startswith("flagged") for text in reciters["verdict"])
    return [
        Finding(
            f"all {calls:,} calls answered once",
            f"{first.answered:,} answered, {counts['distinct_calls']:,} sent, {counts['repeated_calls']} twice",
            first.answered == counts["distinct_calls"] == calls and not counts["repeated_calls"],
        ),
        Finding("peak memory under 600 MB", f"{peak:.0f} MB", peak < 600),
        Finding(
            "at most 1.5 times the memory of the small plan",
            f"{peak / base:.2f} times {base:.0f} MB",
            peak <= 1.5 * base,
        ),
        Finding(
            "loop lag p99 under 50 ms",
            f"{lag:.1f} ms (max {1000 * first.summary['lag_max_s']:.0f})",
            lag < 50,
        ),
        Finding("a rerun makes no call", f"{again.stats['requests']} requests", again.stats["requests"] == 0),
        Finding(
            "a rerun takes at most a twentieth",
            f"{again.measured.seconds:.1f} s of {first.measured.seconds:.1f} s (1/{1 / share:.0f})",
            share <= 1 / 20,
        ),
        Finding(
            "every cell of a reciter is flagged", f"{flagged} of {len(reciters)}", flagged == len(reciters)
        ),
        Finding(
            "a rerun gives the same cells",
            "the same" if first.cells.equals(again.cells) else "others",
            first.cells.equals(again.cells),
        ),
    ]


def main(out: Path, quick: bool) -> list[Finding]:
    """Run the small plan, the big one, and the big one again; print and write ``engine-big.json``."""
    console = Console()
    small, big = plans(quick)
    with tempfile.TemporaryDirectory(prefix="molaudit-bench-") as name:
        folder = Path(name)
        few = audit(small, workloads.write(small, folder / "small"), "first")
        shutil.rmtree(folder / "small")
        console.print(f"{small.calls:,} calls: {few.measured.seconds:.1f} s", highlight=False)
        files = workloads.write(big, folder / "big")
        first = audit(big, files, "first")
        phase = first.summary["elapsed_s"]
        console.print(
            f"{big.calls:,} calls: {first.measured.seconds:.1f} s, of which {phase:.1f} s calls "
            f"({big.calls / phase:.0f}/s)",
            highlight=False,
        )
        again = audit(big, files, "first")
    found = findings(few, first, again, big.calls)
    report(console, found)
    out.mkdir(parents=True, exist_ok=True)
    document = {
        "environment": environment(),
        "findings": [asdict(one) for one in found],
        "runs": {
            name: {
                "seconds": one.measured.seconds,
                "cpu_seconds": one.measured.cpu_seconds,
                "peak_mb": one.measured.peak_bytes / 1e6,
                "call_phase_s": one.summary.get("elapsed_s"),
            }
            for name, one in (("small", few), ("first", first), ("again", again))
        },
    }
    (out / "engine-big.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return found


def report(console: Console, found: list[Finding]) -> None:
    """Print claims and measurements."""
    table = Table()
    for heading in ("claim", "measured", "holds"):
        table.add_column(heading)
    for one in found:
        table.add_row(one.claim, one.measured, "yes" if one.holds else "NO")
    console.print(table)
