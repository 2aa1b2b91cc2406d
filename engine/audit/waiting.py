"""How calls without an answer stand: given up, or waiting for their next attempt in a run that is still alive."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from molaudit.storage.cache import Cache
from molaudit.storage.segments import sessions

from ..scheduling.retries import ACTIONS, Action, RetryPolicy

WAITING = "waiting"

_REPEATED = [
    outcome.value
    for outcome, action in ACTIONS.items()
    if action in (Action.RETRY, Action.REPEAT_ONCE, Action.WAIT_AT_GATE)
]
_MOST = RetryPolicy().max_attempts


def waiting(attempts: pl.DataFrame, living: Sequence[str]) -> pl.DataFrame:
    """Which calls a living run will attempt again.

    Parameters
    ----------
    attempts
        Stored attempts, in the order in which they were made.
    living
        The sessions of living runs, looked up before the attempts: a run that ends meanwhile has at worst a call too
        many waiting.

    Returns
    -------
    ``key`` and ``waits``, a row for each key that has been attempted.
    """
    last = attempts.group_by("key", maintain_order=True).agg(
        last=pl.col("outcome").last(),
        session=pl.col("session").last(),
        # What reached no model costs no attempt, so only these use up the patience of the run.
        failures=(~pl.col("outcome").is_in(["throttled", "quota"]) & pl.col("session").is_in(living)).sum(),
    )
    waits = pl.col("session").is_in(living) & pl.col("last").is_in(_REPEATED) & (pl.col("failures") < _MOST)
    return last.select("key", waits=waits)


def living_sessions(cache: Cache) -> list[str]:
    """The sessions that runs are writing now."""
    return [one.name for one in sessions(cache.place.journal) if one.state == "live"]
