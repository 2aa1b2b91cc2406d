"""How calls without an answer stand: given up, or waiting for their next attempt in a run that is still alive."""

from __future__ import annotations

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


def last_outcomes(cache: Cache, asked: pl.DataFrame) -> pl.DataFrame:
    """How the last attempt of each key ended, and `WAITING` where a living run will make another.

    Returns
    -------
    ``key`` and ``last``, a row for each key that has been attempted.
    """
    # Before the attempts are read: a run that ends meanwhile has at worst a call too many waiting.
    living = [one.name for one in sessions(cache.place.journal) if one.state == "live"]
    attempts = cache.attempts(asked).sort("started_at")
    last = attempts.group_by("key", maintain_order=True).agg(
        last=pl.col("outcome").last(),
        session=pl.col("session").last(),
        # What reached no model costs no attempt, so only these use up the patience of the run.
        failures=(~pl.col("outcome").is_in(["throttled", "quota"]) & pl.col("session").is_in(living)).sum(),
    )
    waits = pl.col("session").is_in(living) & pl.col("last").is_in(_REPEATED) & (pl.col("failures") < _MOST)
    return last.select("key", last=pl.when(waits).then(pl.lit(WAITING)).otherwise("last"))
