"""Calls that a living run will ask again: their last attempt came to nothing, and is not their end."""

from __future__ import annotations

import polars as pl

from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.segments import sessions

from ..scheduling.retries import ACTIONS, Action, RetryPolicy

WAITING = "waiting"

_REPEATED = [
    outcome.value
    for outcome, action in ACTIONS.items()
    if action in (Action.RETRY, Action.REPEAT_ONCE, Action.WAIT_AT_GATE)
]
_COSTS_NO_ATTEMPT = ["throttled", "quota"]
_MOST = RetryPolicy().max_attempts


def living(cache: Cache) -> list[str]:
    """The sessions that make calls now. Ask before the attempts are read: one that ends meanwhile has then at worst
    a call too many waiting."""
    return [one.name for one in sessions(cache.place.journal) if one.state == "live"]


def waiting_keys(attempts: pl.DataFrame, alive: list[str]) -> list[str]:
    """The keys whose last attempt is one of a living session, which will make another.

    Parameters
    ----------
    attempts
        In order of time, with ``key, session, outcome``.
    alive
        What `living` said before they were read.
    """
    if not alive:
        return []
    counted = ~pl.col("outcome").is_in(_COSTS_NO_ATTEMPT) & pl.col("session").is_in(alive)
    last = attempts.group_by("key").agg(
        pl.col("outcome").last(), pl.col("session").last(), failures=counted.sum()
    )
    waits = pl.col("session").is_in(alive) & pl.col("outcome").is_in(_REPEATED)
    return last.filter(waits & (pl.col("failures") < _MOST))["key"].to_list()
