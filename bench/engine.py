"""The engine beside its floor and its peers, on a simulated server in another process.

``python -m molaudit.bench.engine [--quick] [--out DIR] [--peers ...] [--repeats N] [--big] [--kill]``. Each figure
is a process from start to exit, and counts only if the server has answered every call exactly once. Other Pythons
may hold the peers, see `engine_peers`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from . import engine_tables as tables
from . import engine_workload as workloads
from .engine_peers import Peer, find, modules
from .engine_runs import run_ours
from .engine_scenarios import EngineRow, as_dicts, medians, rerun_rows, run_scenario, scenarios


def rows(quick: bool, *, peers: set[str] | None = None) -> list[dict[str, Any]]:
    """Measure all tasks; rows as dictionaries (`EngineRow`). ``peers`` are of `engine_peers.modules`, None is all."""
    measured, _ = measure(quick, peers=peers, say=lambda _: None)
    return as_dicts(measured)


def measure(
    quick: bool,
    *,
    peers: set[str] | None,
    say: Callable[[str], None],
    tasks: set[int] | None = None,
    repeats: int = 1,
) -> tuple[list[EngineRow], list[str]]:
    """Measure all tasks, or those of the given numbers (from 0; the last is the rerun); returns rows and notes.

    With ``repeats`` each engine has its turn so many times, one after another, and the run of median time counts: a
    machine that others use as well is not equally slow all the time.
    """
    found, notes = find(peers)
    measured: list[EngineRow] = []
    listed = scenarios(quick)
    with tempfile.TemporaryDirectory(prefix="molaudit-bench-") as name:
        notes.append(warm_up(Path(name) / "warm"))
        for number, scenario in enumerate(listed):
            if tasks is None or number in tasks:
                able = _able(found, measured, scenario.workload.calls, scenario.timeout_s, notes)
                turns = [
                    run_scenario(scenario, Path(name) / f"task{number}-{turn}", able, say)
                    for turn in range(repeats)
                ]
                measured += medians([row for turn in turns for row in turn])
        if tasks is None or len(listed) in tasks:
            turns = [rerun_rows(listed[0], Path(name) / f"rerun{turn}", say) for turn in range(repeats)]
            measured += medians([row for turn in turns for row in turn])
    return measured, notes


def warm_up(folder: Path) -> str:
    """Have the kernels compiled, which happens once per installation; returns a note of what that took."""
    scenario = scenarios(quick=True)[0]
    files = workloads.write(scenario.workload, folder)
    first, again = (
        run_ours(scenario.workload, files, scenario.server(files), folder / f"{name}.duckdb") for name in "ab"
    )
    for run in (first, again):
        assert run.fault(scenario.workload.calls) is None, run.fault(scenario.workload.calls)
    return (
        f"{scenario.workload.calls} calls before all else, with kernels to compile if they were not: "
        f"{first.measured.seconds:.1f} s, then {again.measured.seconds:.1f} s"
    )


def _able(
    peers: list[Peer], measured: list[EngineRow], calls: int, timeout_s: float, notes: list[str]
) -> list[Peer]:
    """Leave out the peers whose pace on an earlier task says that this one would outlast its time limit."""
    pace = {row.peer: row.per_second for row in measured if row.per_second and "no latency" in row.task}
    able = []
    for peer in peers:
        rate = pace.get(peer.title)
        if rate is not None and calls > 2 * measured[0].n and calls / rate > timeout_s:
            notes.append(f"{peer.title}: {calls:,} calls would take about {calls / rate:.0f} s; left out")
        else:
            able.append(peer)
    return able


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Measure all tasks beside the peers that are installed, as ``molaudit bench engine`` does."""
    return run_bench(out, quick, console=console)


def run_bench(
    out: Path,
    quick: bool,
    *,
    console: Console,
    peers: set[str] | None = None,
    tasks: set[int] | None = None,
    repeats: int = 1,
) -> list[dict[str, Any]]:
    """Measure, print the tables, and write ``engine.json`` and ``engine.md`` to ``out``; returns the rows."""
    about = tables.environment()
    measured, notes = measure(
        quick, peers=peers, say=lambda text: console.print(text, markup=False), tasks=tasks, repeats=repeats
    )
    tables.show(console, measured)
    for note in notes:
        console.print(note, markup=False, highlight=False)
    found = as_dicts(measured)
    tables.save(out, measured, {"environment": about, "rows": found, "notes": notes}, notes)
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a twentieth of each task")
    parser.add_argument("--peers", nargs="*", choices=modules(), help="only these; none named: ours alone")
    parser.add_argument("--tasks", type=int, nargs="+", metavar="N", help="only these, from 0")
    parser.add_argument(
        "--repeats", type=int, default=1, metavar="N", help="turns of each engine; medians count"
    )
    parser.add_argument("--out", type=Path, default=Path("bench-out"), help="where the tables go")
    parser.add_argument("--big", action="store_true", help="132,000 calls: memory, lag, rerun")
    parser.add_argument("--kill", action="store_true", help="25 kill -9 at random moments")
    options = parser.parse_args()
    if options.big or options.kill:
        from . import engine_big, engine_kill

        if options.big:
            engine_big.main(options.out, options.quick)
        if options.kill:
            engine_kill.main(options.out, options.quick)
        return
    run_bench(
        options.out,
        options.quick,
        console=Console(),
        peers=None if options.peers is None else set(options.peers),
        repeats=options.repeats,
        tasks=None if options.tasks is None else set(options.tasks),
    )


if __name__ == "__main__":
    main()
