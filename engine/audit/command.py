"""The commands on an audit.toml, each a short walk through the steps of this package."""

from __future__ import annotations

import logging
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.text import Text

from molaudit.storage.cache import Cache

from ..api import Scores
from ..errors import InputError
from ..output import prepare_folder
from ..plan_estimate import Estimate, estimate
from ..scheduling.summaries import RunSummary
from ..terminal import inert, show_scores
from .display import display_for
from .inputs import Audit, load
from .live import make_calls
from .overview import outcome_table, plan_tables, session_lines
from .results import score_audit, write_audit
from .table import asked_of_cache, plan_table

COMPLETE, PARTIAL, INTERRUPTED = 0, 3, 130


def run_audit(path: Path, out: Path | None, cache_path: Path | None, *, yes: bool, debug: bool) -> int:
    """Make what is missing and score everything; see `molaudit run --help`. Returns the exit code."""
    console = Console(stderr=False)
    if debug:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    audit, table, cache = _open(path, cache_path, console)
    folder = out or audit.default_out
    prepare_folder(folder)
    cache.fold()
    done = frozenset(cache.lookup(asked_of_cache(table))["key"].to_list())
    missing = table.filter(~pl.col("key").is_in(list(done)))
    hits = table.height - missing.height
    console.print(
        f"{table.height} calls: {hits} answered from the cache, {missing.height} to make", highlight=False
    )
    summary = None
    if missing.height:
        if not yes and not _confirmed(console, estimate(audit.plan), missing.height / table.height):
            console.print("nothing was asked")
            return PARTIAL
        summary = _make(audit, table, cache, done, console)
        cache.fold()
    code = COMPLETE if summary is None else summary.exit_code
    try:
        scores = write_audit(audit, table, cache, folder, _run_facts(summary, hits))
    except InputError as error:
        console.print(Text(inert(error), style="yellow"))
        code = code or PARTIAL
    else:
        show_scores(console, scores.cells, scores.notes)
        console.print(f"{scores.cells.height} cells written to {folder}", highlight=False, markup=False)
    _say_end(console, summary, audit, folder, cache.path)
    return code


def show_plan(path: Path, cache_path: Path | None) -> int:
    """Show calls, cached, tokens, cost and time; no call is made."""
    console = Console()
    audit, table, cache = _open(path, cache_path, console)
    cached = cache.lookup(asked_of_cache(table))["key"].to_list()
    for shown in plan_tables(estimate(audit.plan), table, frozenset(cached)):
        console.print(shown)
    return COMPLETE


def show_status(path: Path, cache_path: Path | None) -> int:
    """Show how far every model is and whether a run is live; reads beside a running audit."""
    console = Console()
    _, table, cache = _open(path, cache_path, console)
    console.print(outcome_table(table, cache))
    for line in session_lines(cache):
        console.print(line, highlight=False, markup=False)
    return COMPLETE


def report_audit(path: Path, out: Path | None, cache_path: Path | None) -> int:
    """Score what is stored by now and write it where ``out`` says, or only show it; reads beside a running audit."""
    console = Console()
    audit, table, cache = _open(path, cache_path, console)
    if out is None:
        scores: Scores = score_audit(audit, table, cache)
    else:
        prepare_folder(out)
        scores = write_audit(audit, table, cache, out, {})
    show_scores(console, scores.cells, scores.notes)
    asked = int(scores.cells["left_out_not_asked"].sum())
    return PARTIAL if asked else COMPLETE


def _open(path: Path, cache_path: Path | None, console: Console) -> tuple[Audit, pl.DataFrame, Cache]:
    audit = load(path)
    cache = Cache(
        cache_path or audit.default_cache,
        notify=lambda text: console.print(Text(inert(text), style="yellow")),
    )
    return audit, plan_table(audit.plan), cache


def _make(
    audit: Audit, table: pl.DataFrame, cache: Cache, done: frozenset[str], console: Console
) -> RunSummary:
    pools = {asked.model.name: asked.endpoint.pool for asked in audit.plan.asked}
    left = table.filter(~pl.col("key").is_in(list(done))).group_by("model").len()
    total: dict[str, int] = {}
    for model, count in left.iter_rows():
        total[pools[model]] = total.get(pools[model], 0) + count
    spent = cache.totals(asked_of_cache(table))["cost_usd"][0] or 0.0
    display = display_for(console, total, table.height - sum(total.values()))
    return make_calls(audit.plan, cache, done, spent, display)


def _confirmed(console: Console, expected: Estimate, share: float) -> bool:
    """Ask before money is spent, where somebody can answer."""
    if expected.cost_usd == 0 or not (console.is_terminal and sys.stdin.isatty()):
        return True
    cost = "an unknown amount" if expected.cost_usd is None else f"up to {expected.cost_usd * share:.2f} USD"
    answer = console.input(f"this run may cost {cost}; go on? [y/N] ")
    return answer.strip().lower() in ("y", "yes")


def _run_facts(summary: RunSummary | None, hits: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"from_cache": hits, "calls_made": 0, "ended": "complete"}
    if summary is not None:
        facts |= asdict(summary)
        facts["outcomes"] = {name.value: count for name, count in summary.outcomes.items()}
        facts["calls_made"] = summary.attempts
    return facts


def _say_end(
    console: Console, summary: RunSummary | None, audit: Audit, folder: Path, cache_path: Path
) -> None:
    if summary is None:
        console.print("0 calls made")
        return
    console.print(f"{summary.attempts} calls made in {summary.elapsed_s:.1f} s", highlight=False)
    for stopped in summary.stopped:
        words = stopped.message or stopped.reason or stopped.outcome
        console.print(Text(inert(f"stopped: {stopped.scope} {stopped.name}: {words}"), style="red"))
    for pool, why in summary.parked.items():
        console.print(Text(inert(f"parked: {pool}: {why}"), style="red"))
    for trace in summary.internal_errors[:1]:
        console.print(Text(inert(trace.strip().splitlines()[-1]), style="red"))
    if summary.exit_code != COMPLETE:
        command = ["molaudit", "run", str(audit.path), "--out", str(folder), "--cache", str(cache_path)]
        console.print(
            f"{summary.ended if summary.ended != 'complete' else 'partial'}: to go on, {shlex.join(command)}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
