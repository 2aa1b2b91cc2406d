"""The public functions that ask models: `run`, `arun` and `plan`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from ..api import Scores
from .api_results import MODELS, POOLS, AuditPlan, AuditScores

if TYPE_CHECKING:
    from ..scheduling.summaries import RunSummary
    from .in_python import Job

AuditSource: TypeAlias = str | Path | Mapping[str, Any]
"""An audit: the path of an audit.toml, its text (more than one line), or the same as a mapping."""

_LOOK_S = 0.2


def plan(audit: AuditSource, *, cache: str | Path | None = None) -> AuditPlan:
    """Say what an audit would take. No call is made and nothing is written.

    Parameters
    ----------
    audit
        The path of an audit.toml, its text, or a mapping of the same shape. Files that a text or a mapping names are
        taken from the current folder.
    cache
        The response cache; ``molaudit-cache.duckdb`` beside the audit by default.

    Raises
    ------
    SettingsError, InputError, TableError
        The message names the file and the key, what was found and what is allowed.

    Examples
    --------
    >>> import molaudit
    >>> found = molaudit.plan({
    ...     "run": {"molecules": 10},
    ...     "endpoint": [{"name": "local", "base_url": "http://127.0.0.1:8123/v1"}],
    ...     "model": [{"id": "my-model", "endpoint": "local"}],
    ...     "benchmark": [{"use": "crc-boiling-points"}],
    ... })
    >>> found.calls, found.cost_usd, found.models["effort"].to_list()
    (10, 0.0, ['as served'])
    """
    from .consent import charge
    from .in_python import planned
    from .overview import assumptions

    loaded, expected, found = planned(audit, None if cache is None else Path(cache), _silent)
    cost = charge(expected, found.missing, None)
    hits = found.table.filter(pl.col("key").is_in(list(found.done)))
    cached = {(m, e): n for m, e, n in hits.group_by("model", "effort").len().iter_rows()}
    return AuditPlan(
        calls=len(loaded.plan),
        cached=found.hits,
        cost_usd=None if cost.unpriced else cost.usd,
        unpriced=cost.unpriced,
        seconds=expected.seconds,
        models=pl.DataFrame(
            [
                (
                    *(one.model, one.effort, one.level, one.calls, cached.get((one.model, one.effort), 0)),
                    *(one.input_tokens, one.cap, one.output_tokens, one.cost_usd),
                )
                for one in expected.models
            ],
            schema=MODELS,
            orient="row",
        ),
        pools=pl.DataFrame(
            [(one.pool, one.calls, one.seconds, one.bound_by) for one in expected.pools],
            schema=POOLS,
            orient="row",
        ),
        assumptions=tuple(assumptions(expected)),
    )


def run(
    audit: AuditSource,
    *,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    yes: bool = False,
    notify: Callable[[str], None] | None = None,
) -> AuditScores:
    """Make the calls of an audit that are not answered yet, and score everything.

    It works in a thread of its own, with an event loop of its own, so it can be called where a loop is running
    already (a notebook); it blocks until the end. `arun` does not block. Ctrl-C stops it as it stops the command:
    calls in flight have 10 s to end, what was received is kept, and KeyboardInterrupt is raised.

    Parameters
    ----------
    audit
        The path of an audit.toml, its text, or a mapping of the same shape. Files that a text or a mapping names are
        taken from the current folder.
    out
        Folder for the results, as `molaudit run` writes them; by default they are only returned.
    cache
        The response cache, where every reply is kept; ``molaudit-cache.duckdb`` beside the audit by default.
    yes
        Go on though the run costs money, or nobody knows how much. It is never asked for: without it such a run is
        refused, before a call is made, with the figure.
    notify
        Called with each notice of the run, a line of text, in the run's thread.

    Returns
    -------
    AuditScores
        Also where the run ended early: ``ended`` says how, and calling again goes on.

    Raises
    ------
    SettingsError, InputError, TableError, CacheError
        The message names the file and the key, what was found and what is allowed; InputError also where nothing has
        been answered.

    Examples
    --------
    >>> import molaudit
    >>> scores = molaudit.run("audit.toml", yes=True)  # doctest: +SKIP
    >>> scores.cells.select("model", "verdict")  # doctest: +SKIP
    """
    job = _job(audit, out, cache, yes=yes, notify=notify)
    job.start()
    while True:
        try:
            while not job.wait(_LOOK_S):
                pass
            break
        except KeyboardInterrupt:
            job.stop()
            _wait_out(job)
            raise
    return _scores(job)


async def arun(
    audit: AuditSource,
    *,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    yes: bool = False,
    notify: Callable[[str], None] | None = None,
) -> AuditScores:
    """Do what `run` does without blocking the event loop, under asyncio or trio.

    If it is cancelled, calls in flight have 10 s to end, and what was received is kept.

    See `run` for parameters, results and errors.
    """
    import anyio

    job = _job(audit, out, cache, yes=yes, notify=notify)
    job.start()
    try:
        while not job.wait(0):
            await anyio.sleep(_LOOK_S / 4)
    except anyio.get_cancelled_exc_class():
        job.stop()
        with anyio.CancelScope(shield=True):
            while not job.wait(0):
                await anyio.sleep(_LOOK_S / 4)
        raise
    return _scores(job)


def _job(
    audit: AuditSource,
    out: str | Path | None,
    cache: str | Path | None,
    *,
    yes: bool,
    notify: Callable[[str], None] | None,
) -> Job:
    from .in_python import Job, Request

    return Job(
        Request(
            audit,
            None if out is None else Path(out),
            None if cache is None else Path(cache),
            yes,
            notify or _silent,
        )
    )


def _wait_out(job: Job) -> None:
    """Wait for what drains; a second Ctrl-C has it leave at once."""
    while True:
        try:
            while not job.wait(_LOOK_S):
                pass
            return
        except KeyboardInterrupt:
            job.stop()


def _scores(job: Job) -> AuditScores:
    scores, summary, hits = job.result()
    return AuditScores(
        **{name: getattr(scores, name) for name in Scores.__dataclass_fields__},
        **_ending(summary, hits),
    )


def _ending(summary: RunSummary | None, hits: int) -> dict[str, Any]:
    if summary is None:
        return {"calls": hits, "cached": hits, "outcomes": {}}
    ended = "partial" if summary.ended == "complete" and summary.exit_code else summary.ended
    outcomes = {outcome.value: count for outcome, count in summary.outcomes.items()}
    return {
        "ended": ended,
        "calls": hits + summary.read,
        "cached": hits,
        "made": summary.attempts,
        "cost_usd": summary.cost_usd,
        "outcomes": outcomes,
        "stopped": tuple(
            f"{one.scope} {one.name}: {one.message or one.reason or one.outcome.value}"
            for one in summary.stopped
        ),
    }


def _silent(_text: str) -> None:
    pass
