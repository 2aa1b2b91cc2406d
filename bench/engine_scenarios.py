"""What is measured, and the rows that come of it: our engine first, then the floors and the peers."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from molaudit.engine.simulated.server import ServeSettings

from . import engine_workload as workloads
from .engine_peers import Peer
from .engine_runs import Run, run_ours, run_peer
from .engine_workload import Files, Workload

OURS = "molaudit"
IMPORTS_TASK = "4 starts of import polars, duckdb"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A workload and a server.

    ``told`` runs our engine once more, with the server's limit in its settings. ``retries`` is what the peers are
    allowed: 0 where nothing fails, None for each library's own habit. Peers get ``timeout_s``.
    """

    task: str
    workload: Workload
    latency: str = "0"
    rpm: float | None = None
    burst: int = 1
    told: bool = False
    retries: int | None = 0
    timeout_s: float = 120.0

    def server(self, files: Files) -> ServeSettings:
        """The server of one run."""
        return ServeSettings(latency=self.latency, rpm=self.rpm, burst=self.burst, labels=files.labels)


@dataclass(frozen=True, slots=True)
class EngineRow:
    """One engine on one task.

    ``seconds`` is the whole process from start to exit and None where the run does not count (``note`` says why);
    ``per_second`` is calls per second of it. ``share`` is what was answered of what the server
    allowed in the time of the calls, its burst included: 1 is as fast as can be.
    ``ratio_to_ours`` is this engine's seconds over ours.
    """

    task: str
    n: int
    peer: str
    threads: int
    seconds: float | None
    per_second: float | None
    unit: str
    ratio_to_ours: float | None
    note: str
    call_phase_s: float | None
    call_phase_per_second: float | None
    cpu_seconds: float
    peak_mb: float
    rejected_429: int
    unanswered: int
    paid_twice: int
    share: float | None
    version: str


def scenarios(quick: bool) -> list[Scenario]:
    """The tasks of the table, a twentieth of each when quick."""
    part = 20 if quick else 1
    zero, wait, limited, burst = 2_000 // part, 4_000 // part, 300 // part, max(1, 20 // part)
    return [
        Scenario(f"{zero:,} calls, no latency, 100 in flight", Workload(zero)),
        Scenario(f"{10 * zero:,} calls, no latency, 100 in flight", Workload(10 * zero), timeout_s=150.0),
        Scenario(
            f"{wait:,} calls of 1 s, {wait // 2:,} in flight",
            Workload(wait, in_flight=wait // 2),
            latency="1",
        ),
        Scenario(
            f"{limited} calls at 600/min, burst {burst}",
            Workload(limited),
            rpm=600,
            burst=burst,
            told=True,
            retries=None,
        ),
    ]


def run_scenario(
    scenario: Scenario, folder: Path, peers: list[Peer], say: Callable[[str], None]
) -> Iterator[EngineRow]:
    """Run our engine, then the peers; rows come as they are measured."""
    files = workloads.write(scenario.workload, folder)
    ours: float | None = None
    for row in _ours(scenario, files):
        ours = ours or row.seconds
        say(line(row))
        yield row
    bodies = workloads.write_bodies(scenario.workload, files)
    for peer in peers:
        if peer.floor and scenario.rpm is not None:
            continue  # a bare client waits for nobody: there is nothing to compare
        server = scenario.server(files)
        run = run_peer(peer, scenario.workload, files, bodies, server, scenario.retries, scenario.timeout_s)
        row = row_of(scenario, peer.title, peer.version, run)
        if ours and row.seconds:
            row = replace(row, ratio_to_ours=row.seconds / ours)
        say(line(row))
        yield row


def _ours(scenario: Scenario, files: Files) -> Iterator[EngineRow]:
    variants = [(OURS, scenario.workload)]
    if scenario.told:
        told = replace(scenario.workload, requests_per_minute=scenario.rpm)
        variants = [(OURS + ", limit configured", told), (OURS + ", limit unknown", scenario.workload)]
    for index, (title, workload) in enumerate(variants):
        cache = files.folder / f"cache{index}.duckdb"
        run = run_ours(workload, files, scenario.server(files), cache)
        yield row_of(scenario, title, "", run)


def rerun_rows(scenario: Scenario, folder: Path, say: Callable[[str], None]) -> Iterator[EngineRow]:
    """Run a finished audit again: no calls; beside it, four bare starts of its two big libraries."""
    files = workloads.write(scenario.workload, folder)
    cache = folder / "rerun.duckdb"
    calls = scenario.workload.calls
    first = run_ours(scenario.workload, files, scenario.server(files), cache)
    fault = first.fault(calls)
    assert fault is None, fault
    again = run_ours(scenario.workload, files, scenario.server(files), cache)
    task = f"rerun of {calls:,} from the cache"
    requests = again.stats["requests"]
    fine = requests == 0 and again.answered == calls and again.measured.exit == 0
    fault = None if fine else f"{requests} requests, {again.answered} answers, exit {again.measured.exit}"
    row = row_of(replace(scenario, task=task), OURS, "", again, fault=fault)
    say(line(row))
    yield row
    seconds = 4 * statistics.median(_start() for _ in range(5))
    yield replace(
        row,
        peer=IMPORTS_TASK,
        seconds=seconds,
        per_second=None,
        ratio_to_ours=seconds / row.seconds if row.seconds else None,
        note="the limit that ours must keep",
        call_phase_s=None,
        call_phase_per_second=None,
        cpu_seconds=0.0,
        peak_mb=0.0,
    )


def _start() -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import polars, duckdb"], check=True)
    return time.perf_counter() - begin


_JUDGE = "judge the run by its own counts"


def row_of(
    scenario: Scenario, title: str, version: str, run: Run, *, fault: str | None = _JUDGE
) -> EngineRow:
    """Make the row of a run. Under a rate limit lost calls are a result; elsewhere they void the run."""
    calls = scenario.workload.calls
    if fault is _JUDGE:
        fault = run.fault(calls)
    unanswered = max(0, calls - run.answered)
    seconds: float | None = run.measured.seconds
    phase = run.call_phase_s
    if fault is not None:
        seconds = None if scenario.rpm is None or not run.answered else seconds
    if seconds is None:
        phase = None
    share = None
    if scenario.rpm is not None and phase:
        share = run.answered / (scenario.burst + scenario.rpm / 60.0 * phase)
    return EngineRow(
        task=scenario.task,
        n=calls,
        peer=title,
        threads=1,
        seconds=seconds,
        per_second=None if seconds is None else calls / seconds,
        unit="calls",
        ratio_to_ours=None,
        note=fault or "",
        call_phase_s=phase,
        call_phase_per_second=None if not phase else calls / phase,
        cpu_seconds=run.measured.cpu_seconds,
        peak_mb=run.measured.peak_bytes / 1e6,
        rejected_429=run.stats["rejected_429"],
        unanswered=unanswered,
        paid_twice=run.stats["repeated_calls"],
        share=share,
        version=version,
    )


def medians(rows: list[EngineRow]) -> list[EngineRow]:
    """Choose of each engine's rows the one of median seconds (the lower of two), and compare with ours again.

    A run that does not count keeps its engine from having a median: it is the row, and says why.
    """
    chosen: list[EngineRow] = []
    for peer in dict.fromkeys(row.peer for row in rows):
        own = [row for row in rows if row.peer == peer]
        failed = [row for row in own if row.seconds is None]
        timed = sorted((row for row in own if row.seconds is not None), key=lambda row: row.seconds or 0.0)
        chosen.append(failed[0] if failed else timed[(len(timed) - 1) // 2])
    ours = next((row.seconds for row in chosen if row.peer.startswith(OURS)), None)
    return [
        replace(row, ratio_to_ours=row.seconds / ours)
        if ours and row.seconds and not row.peer.startswith(OURS)
        else row
        for row in chosen
    ]


def line(row: EngineRow) -> str:
    """One line for a person who waits."""
    seconds = "   -  " if row.seconds is None else f"{row.seconds:6.2f}"
    phase = "" if row.call_phase_s is None else f" ({row.call_phase_s:.2f} s calls)"
    return f"{row.task}: {row.peer}: {seconds} s{phase}, {row.peak_mb:.0f} MB {row.note}"


def as_dicts(rows: list[EngineRow]) -> list[dict[str, Any]]:
    """Rows for JSON."""
    return [asdict(row) for row in rows]
