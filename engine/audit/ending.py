"""How a run ended: what goes into ``run.json``, and what a person is told, with the command that goes on."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from ..plan.plans import Plan
from ..report.terminal import inert
from ..scheduling.breakers import Stopped, widest
from ..scheduling.causes import Cause
from ..scheduling.summaries import RunSummary

_KEY_STATUSES = (401, 403)
_WHY = {
    "interrupted": "interrupted",
    "budget": "the budget is spent; to go on, raise budget_usd",
    "deadline": "deadline_minutes are over",
    "journal": "results can no longer be written; make room on the disk",
}


def run_facts(summary: RunSummary | None, session: str, hits: int) -> dict[str, Any]:
    """What ``run.json`` says of this session; ``session`` is the name under which its attempts are stored."""
    facts: dict[str, Any] = {"from_cache": hits, "calls_made": 0, "ended": "complete", "session": None}
    if summary is not None:
        facts |= asdict(summary)
        facts["outcomes"] = {name.value: count for name, count in summary.outcomes.items()}
        facts["calls_made"] = summary.attempts
        facts["session"] = session
    return facts


def say_end(console: Console, summary: RunSummary | None, plan: Plan, again: Sequence[str]) -> None:
    """Tell how many calls were made, what was given up and why, and how to go on."""
    if summary is None:
        console.print("0 calls made")
        return
    console.print(f"{summary.attempts} calls made in {summary.elapsed_s:.1f} s", highlight=False)
    counts = {cause.words: cause.calls for cause in summary.causes}
    said: set[str] = set()
    for what, words, hint in _stopped(summary, plan):
        _say_why(console, f"stopped: {what}", words, counts, said, hint)
    for pool, why in summary.parked.items():
        _say_why(console, f"parked: {pool}", why, counts, said)
    say_causes(console, [cause for cause in summary.causes if cause.words not in said])
    for trace in summary.internal_errors[:1]:
        console.print(Text(inert(trace.strip().splitlines()[-1]), style="red"), soft_wrap=True)
    if summary.exit_code:
        say_how_to_go_on(console, _WHY.get(summary.ended, "partial"), again)


def _stopped(summary: RunSummary, plan: Plan) -> list[tuple[str, str, str]]:
    """The widest parts of the plan that were given up, those of one sentence together, with it and a hint."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in widest(summary.stopped):
        words = one.message or one.reason or one.outcome.value
        found.setdefault((words, _key_hint(one, plan)), []).append(f"{one.scope} {one.name}")
    return [(", ".join(names), words, hint) for (words, hint), names in found.items()]


def _say_why(
    console: Console, what: str, words: str, counts: dict[str, int], said: set[str], hint: str = ""
) -> None:
    """What was given up and why; a sentence is said once, with the number of calls that it ended."""
    calls = counts.get(words, 0)
    why = "" if words in said else f": {words}" + (f" ({calls} calls)" if calls > 1 else "")
    said.add(words)
    console.print(Text(inert(f"{what}{why}{hint}"), style="red"), soft_wrap=True)


def say_causes(console: Console, causes: Sequence[Cause], most: int = 12) -> None:
    """Tell why calls failed: each sentence once, with the number of calls."""
    for cause in causes[:most]:
        console.print(Text(inert(f"failed: {cause}"), style="red"), soft_wrap=True)
    if len(causes) > most:
        left = sum(cause.calls for cause in causes[most:])
        console.print(f"failed: {left} calls for {len(causes) - most} other causes: see attempts.parquet")


def say_how_to_go_on(console: Console, why: str, again: Sequence[str]) -> None:
    """Print the command that goes on, whole in one line."""
    console.print(f"{why}: to go on, {shlex.join(again)}", highlight=False, markup=False, soft_wrap=True)


def _key_hint(stopped: Stopped, plan: Plan) -> str:
    """Where the key comes from, for who must mend it; never the key."""
    if stopped.http_status not in _KEY_STATUSES:
        return ""
    asked = [one for one in plan.asked if f"{stopped.name} / ".startswith(f"{one.model.name} / ")]
    names = sorted({one.endpoint.api_key_env for one in asked if one.endpoint.api_key_env is not None})
    if not names:
        return " (no key was sent: the endpoint has no api_key_env)"
    return f" (the key is the value of the environment variable {' or '.join(names)})"
