"""kill -9 at random moments, and what it costs: answers lost, answers paid for twice, totals at the end.

One server sees all the runs. It counts a call as repeated when its answer had been handed to the socket in full and
is asked for again: what a killed run had received but not yet in its journal.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from molaudit.engine.simulated.server import ServeSettings, start_process

from . import engine_workload as workloads
from .engine_big import Finding, report
from .engine_runs import measure, our_command, read_summary, stats
from .engine_tables import environment
from .engine_workload import Files, Workload

KILLS, IN_FLIGHT = 25, 500
EARLY_KILLS = 5
"""More kills, before the first request: while the cache takes in what the run before had left."""
SEED = 5
TIMEOUT_S = 600.0
SHARE, QUICK_SHARE = 0.02, 0.10
"""Of the calls in flight at the kills: what may be asked again. The quick run has too few kills to tell 1 % from 3 %,
and runs where others may hold the processor; it finds only what has come to be lost as a rule."""
_POLL_S = 0.02


def kill_once(
    command: list[str], base_url: str, folder: Path, delay_s: float, *, early: bool
) -> dict[str, Any] | None:
    """Start a run, kill it ``delay_s`` after its first request (after its start if early); None if it ended before.

    Returns what was in flight at the kill, and how many requests it had made.
    """
    before = stats(base_url)["requests"]
    with (folder / "killed.txt").open("wb") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink, start_new_session=True)
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while not early and stats(base_url)["requests"] == before and process.poll() is None:
            assert time.monotonic() < deadline, "the run asked nothing"
            time.sleep(_POLL_S)
        time.sleep(delay_s)
        if process.poll() is not None:
            return None
        counts = stats(base_url)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return {"delay_s": delay_s, "in_flight": counts["in_flight"], "requests": counts["requests"] - before}


def totals(out: Path) -> dict[str, float]:
    """The tokens and money of the calls of a finished run, each call once, from its own table."""
    attempts = pl.read_parquet(out / "attempts.parquet").filter(pl.col("outcome") == "answered")
    sums = attempts.select(
        pl.len().alias("answers"),
        pl.col("key").n_unique().alias("calls"),
        pl.col("input_tokens", "output_tokens", "cost_usd").sum(),
    ).row(0, named=True)
    return {name: round(float(value), 9) for name, value in sums.items()}


def experiment(
    workload: Workload, files: Files, kills: int, early_kills: int, console: Console
) -> dict[str, Any]:
    """Kill runs of one audit, let the next one finish, and run the same audit once undisturbed."""
    draw = random.Random(SEED)
    killed: list[dict[str, Any]] = []
    with start_process(ServeSettings(latency="1", labels=files.labels)) as base_url:
        workloads.point(workload, files, base_url)
        command = our_command(files, files.folder / "killed.duckdb", files.folder / "killed")
        repeated = 0
        for number in range(kills + early_kills):
            early = number % 6 == 5 and number // 6 < early_kills
            delay_s = draw.uniform(0.5, 1.5) if early else draw.uniform(0.5, 4.0)
            one = kill_once(command, base_url, files.folder, delay_s, early=early)
            assert one is not None, "the plan was finished before the last kill: make it longer"
            killed.append(one)
            now = stats(base_url)["repeated_calls"]
            console.print(
                f"kill {len(killed)}: after {one['delay_s']:.2f} s, {one['in_flight']} in flight, "
                f"{now - repeated} repeated since the last",
                highlight=False,
            )
            repeated = now
        done = measure(command, files.folder, TIMEOUT_S)
        assert done.exit == 0, done.stdout[-2000:] + done.stderr[-2000:]
        after = stats(base_url)
    with start_process(ServeSettings(latency="0", labels=files.labels)) as base_url:
        workloads.point(workload, files, base_url)
        command = our_command(files, files.folder / "whole.duckdb", files.folder / "whole")
        done = measure(command, files.folder, TIMEOUT_S)
        assert done.exit == 0, done.stdout[-2000:] + done.stderr[-2000:]
    folders = {name: files.folder / name for name in ("killed", "whole")}
    cells = [pl.read_csv(folder / "cells.csv", infer_schema=False) for folder in folders.values()]
    return {
        "kills": killed,
        "server": after,
        "totals": {name: totals(folder) for name, folder in folders.items()},
        "run": {name: read_summary(folder) for name, folder in folders.items()},
        "same_cells": cells[0].equals(cells[1]),
    }


def findings(result: dict[str, Any], workload: Workload, share: float = SHARE) -> list[Finding]:
    """Hold the experiment against the claims; ``share`` of what was in flight may be asked again."""
    server, sums = result["server"], result["totals"]
    flying = sum(one["in_flight"] for one in result["kills"])
    repeated = server["repeated_calls"]
    one, other = sums["killed"], sums["whole"]
    return [
        Finding(
            "every call answered, each stored once",
            f"{one['calls']:.0f} of {workload.calls:,} calls, {one['answers']:.0f} answers",
            one["calls"] == one["answers"] == server["distinct_calls"] == workload.calls,
        ),
        Finding(
            f"received but asked again: at most {share:.0%} of those in flight",
            f"{repeated} of {flying:,} in flight at {len(result['kills'])} kills ({repeated / max(flying, 1):.2%})",
            repeated <= share * flying,
        ),
        Finding("totals equal an undisturbed run's", f"{one} and {other}", one == other),
        Finding("the same cells", "yes" if result["same_cells"] else "no", bool(result["same_cells"])),
    ]


def main(out: Path, quick: bool) -> list[Finding]:
    """Do the experiment, print, and write ``engine-kill.json``."""
    console = Console()
    kills, early_kills = (2, 0) if quick else (KILLS, EARLY_KILLS)
    workload = Workload(1_000 * kills, in_flight=IN_FLIGHT)
    with tempfile.TemporaryDirectory(prefix="molaudit-bench-") as name:
        files = workloads.write(workload, Path(name))
        result = experiment(workload, files, kills, early_kills, console)
    found = findings(result, workload, QUICK_SHARE if quick else SHARE)
    report(console, found)
    out.mkdir(parents=True, exist_ok=True)
    document = {"environment": environment(), "findings": [asdict(one) for one in found], **result}
    (out / "engine-kill.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return found
