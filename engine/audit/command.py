"""The commands on an audit.toml, each a short walk through the steps of this package."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console
from rich.text import Text

from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import USABLE
from molaudit.storage.journal.journal import new_session

from ..errors import InputError
from ..plan.estimate import estimate
from ..processes.compiling import compiled_ahead
from ..report.files import prepare_folder
from ..report.terminal import counted, inert, show_scores
from ..settings import loading as settings_file
from .consent import charge, confirmed
from .ending import run_facts, say_end, say_how_to_go_on
from .finishing import Warn, fold, write_results
from .inputs import Audit, default_cache, default_out
from .interruptions import interrupt_on_signals, interruptible
from .lasting import lasting_console
from .named import load_named
from .outstanding import Outstanding, outstanding, task_of
from .overview import cause_lines, outcome_view, plan_view, progress_line, session_lines
from .scorer_process import WORTH_UP_TO, ScorerProcess
from .stored_replies import read_replies
from .table import calls_of, plan_table
from .unchanged import Standing, Written, basis, read_written, standing

if TYPE_CHECKING:
    from ..scheduling.summaries import RunSummary

# The wire (live, display) and the scores (results) are imported where they are used: a rerun from the cache needs
# neither, and they are most of its start.

COMPLETE, PARTIAL, INTERRUPTED = 0, 3, 130


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `molaudit run`; ``again`` is the command that goes on, where it is another one."""

    out: Path | None = None
    cache: Path | None = None
    yes: bool = False
    debug: bool = False
    again: Sequence[str] = ()

    def command(self, path: Path) -> list[str]:
        """The command that does the same once more, and so goes on where this one ended."""
        if self.again:
            return list(self.again)
        named = [("--out", self.out), ("--cache", self.cache)]
        options = [text for name, value in named if value is not None for text in (name, str(value))]
        named_path = f"./{path}" if str(path).startswith("-") else str(path)
        return ["molaudit", "run", named_path, *options, *(["--yes"] if self.yes else [])]


@dataclass(frozen=True, slots=True)
class _Opened:
    """A run with calls to make: what was read, and the digest of it (`unchanged.basis`)."""

    path: Path
    audit: Audit
    found: Outstanding
    cache: Cache
    folder: Path
    known: str


def run_audit(path: Path, options: RunOptions) -> int:
    """Make what is missing and score everything; see `molaudit run --help`. Returns the exit code."""
    console = lasting_console()
    with interruptible():
        try:
            return _run(path, options, console)
        except KeyboardInterrupt:
            say_how_to_go_on(console, "interrupted", options.command(path))
            return INTERRUPTED


def _run(path: Path, options: RunOptions, console: Console) -> int:
    settings = settings_file.load(path)
    folder = options.out or default_out(path, settings)
    prepare_folder(folder)
    cache = _cache(path, options.cache, console)
    known = basis(settings)
    before = standing(folder, known, cache)
    if before is not None:
        return _show_standing(before, folder, console)
    audit = load_named(path, settings)
    found = outstanding(audit, cache, _warner(console))
    _say_calls(console, found.calls, found.missing.height)
    if found.missing.is_empty():
        facts = run_facts(None, "", found.hits)
        written = write_results(
            audit, found.table, cache, folder, facts, known, _warner(console), found.stored
        )
        _show(written, folder, console)
        say_end(console, None, audit.plan, ())
        return PARTIAL if written is None else COMPLETE
    return _call_and_score(_Opened(path, audit, found, cache, folder, known), options, console)


def _call_and_score(opened: _Opened, options: RunOptions, console: Console) -> int:
    """Make the calls that are missing, and score everything."""
    from .display import display_for
    from .live import Beside, keys_of, make_calls, warn_of_wires

    audit, found, cache, session = opened.audit, opened.found, opened.cache, new_session()
    task = task_of(audit, found, cache, session)
    redactor = keys_of(task.endpoints)
    warn_of_wires(audit.settings, task.endpoints.values(), _warner(console))
    if options.debug:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
        redactor.watch_log()
    if not options.yes:
        cost = charge(estimate(audit.plan), found.missing, audit.settings.run.budget_usd)
        if not confirmed(console, cost, str(opened.path)):
            console.print("nothing was asked")
            return PARTIAL

    def facts(summary: RunSummary) -> dict[str, Any]:
        return dict(redactor.tree(run_facts(summary, session, found.hits)))

    def start() -> None:
        if found.missing.height <= WORTH_UP_TO:
            scorer.start()

    def made(summary: RunSummary) -> None:
        if summary.exit_code != INTERRUPTED:
            scorer.order(facts(summary), opened.known, complete=_is_complete(summary))

    again = options.command(opened.path)
    with (
        compiled_ahead(_key_names(audit)),
        ScorerProcess(opened.path, cache.path, opened.folder, _key_names(audit)) as scorer,
    ):
        display = display_for(console, task.missing, found.hits)
        summary = make_calls(task, redactor, display, Beside(start, made))
        interrupt_on_signals()  # the event loop has left them as the system has them
        if summary.exit_code == INTERRUPTED:
            # Nothing more, for folding and scoring take their time: the journal has all, and any command reads it.
            console.print("what was received is stored and counts in reports and in the next run")
            say_end(console, summary, audit.plan, again)
            return INTERRUPTED
        written = _written(opened, scorer, facts(summary), console, complete=_is_complete(summary))
        _show(written, opened.folder, console)
        say_end(console, summary, audit.plan, again)
        if written is None and not summary.exit_code:
            say_how_to_go_on(console, "the answers are stored, the results are not written", again)
    return PARTIAL if written is None else summary.exit_code


def _is_complete(summary: RunSummary) -> bool:
    """Whether the next run has nothing to ask: other outcomes, a first empty reply among them, are asked again."""
    return not summary.exit_code and {one.value for one in summary.outcomes} <= set(USABLE)


def _written(
    opened: _Opened, scorer: ScorerProcess, facts: dict[str, Any], console: Console, *, complete: bool
) -> Written | None:
    """What the second process has written, or else this one."""
    warn = _warner(console)
    done = scorer.result(warn)
    if done is not None:
        return read_written(opened.folder) if done else None
    fold(opened.cache, warn)
    known = opened.known if complete else None
    return write_results(opened.audit, opened.found.table, opened.cache, opened.folder, facts, known, warn)


def _show_standing(found: Standing, folder: Path, console: Console) -> int:
    """Show results to which nothing has been added since they were written."""
    _say_calls(console, found.calls, 0)
    show_scores(console, found.written.cells, found.written.notes)
    console.print(f"nothing has changed: the results in {folder} stand", highlight=False, markup=False)
    found.note_run(run_facts(None, "", found.calls))
    console.print("0 calls made")
    return COMPLETE


def _say_calls(console: Console, calls: int, missing: int) -> None:
    console.print(
        f"{calls} calls: {calls - missing} answered from the cache, {missing} to make", highlight=False
    )


def show_plan(path: Path, cache_path: Path | None) -> int:
    """Show calls, cached, tokens, cost and time; no call is made."""
    console = Console()
    audit, table, cache = _open(path, cache_path, console)
    cached = read_replies(table, cache).keys
    expected = estimate(audit.plan)
    for shown in plan_view(expected, table, cached, console.width):
        console.print(shown)
    missing = calls_of(table).filter(~pl.col("key").is_in(list(cached)))
    now = charge(expected, missing, audit.settings.run.budget_usd)
    what = "nothing (0 calls)" if missing.is_empty() else "nothing" if now.is_free else str(now)
    console.print(Text(f"A run now costs {what}."))
    return COMPLETE


def show_status(path: Path, cache_path: Path | None) -> int:
    """Show how far every model is and whether a run is live; reads beside a running audit."""
    console = Console()
    _, table, cache = _open(path, cache_path, console)
    stored = read_replies(table, cache)
    shown, answered = outcome_view(table, cache, stored, console.width)
    for part in shown:
        console.print(part)
    console.print(progress_line(table, answered), highlight=False)
    for line in (*map(inert, cause_lines(table, cache, stored)), *session_lines(cache)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return COMPLETE


def report_audit(path: Path, out: Path | None, cache_path: Path | None) -> int:
    """Score what is stored by now and write it where ``out`` says, or only show it; reads beside a running audit."""
    console = Console()
    audit, table, cache = _open(path, cache_path, console)
    from .results import score_audit, write_audit

    if out is not None:
        prepare_folder(out)
    try:
        scores = (
            score_audit(audit, table, cache) if out is None else write_audit(audit, table, cache, out, {})
        )
    except InputError as error:
        _warn(console, str(error))
        return COMPLETE
    show_scores(console, scores.cells, scores.notes)
    asked = int(scores.cells["left_out_not_asked"].sum()) if scores.cells.width else 0
    if asked:
        _warn(console, f"partial: {asked} of {table.height} calls have not been made yet")
    return COMPLETE


def _open(path: Path, cache_path: Path | None, console: Console) -> tuple[Audit, pl.DataFrame, Cache]:
    audit = load_named(path)
    return audit, plan_table(audit.plan), _cache(path, cache_path, console)


def _cache(path: Path, cache_path: Path | None, console: Console) -> Cache:
    return Cache(cache_path or default_cache(path), notify=_warner(console))


def _key_names(audit: Audit) -> list[str]:
    """The environment variables that hold keys."""
    return [one.api_key_env for one in audit.settings.endpoints if one.api_key_env is not None]


def _show(written: Written | None, folder: Path, console: Console) -> None:
    if written is not None:
        show_scores(console, written.cells, written.notes)
        what = counted(written.cells.height, "cell") if written.cells.width else "results"
        console.print(f"{what} written to {folder}", highlight=False, markup=False)


def _warner(console: Console) -> Warn:
    return lambda text: _warn(console, text)


def _warn(console: Console, text: str) -> None:
    console.print(Text(inert(text), style="yellow"), soft_wrap=not console.is_terminal)
