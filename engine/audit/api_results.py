"""What `molaudit.run` and `molaudit.plan` give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ..api import Scores

MODELS: dict[str, type[pl.DataType]] = {
    "model": pl.String,
    "effort": pl.String,
    "level": pl.String,
    "calls": pl.Int64,
    "cached": pl.Int64,
    "input_tokens": pl.Int64,
    "max_output_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "cost_usd": pl.Float64,
}
POOLS: dict[str, type[pl.DataType]] = {
    "pool": pl.String,
    "calls": pl.Int64,
    "seconds": pl.Float64,
    "bound_by": pl.String,
}


@dataclass(frozen=True, slots=True)
class AuditScores(Scores):
    """What `run` gives: the scores (see `Scores`) and how the calls ended.

    Attributes
    ----------
    ended
        ``complete``, ``partial`` (some calls failed or were given up), ``budget``, ``deadline``, ``interrupted`` or
        ``journal``. Whatever it is, all that was received is stored, and the same call goes on from there.
    calls, cached, made
        Calls of the plan; those that the cache had answered; attempts that this run made.
    cost_usd
        What the attempts of this run cost, as far as it is known.
    outcomes
        How the calls of this run ended, by outcome.
    stopped
        What was given up, in the providers' words.
    """

    ended: str = "complete"
    calls: int = 0
    cached: int = 0
    made: int = 0
    cost_usd: float = 0.0
    outcomes: Mapping[str, int] | None = None
    stopped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What an audit would take; upper bounds, for the length of a reply is known only afterwards.

    Attributes
    ----------
    calls, cached
        Calls in all, and those that the cache answers.
    cost_usd
        US dollars at most of the calls that are not answered yet, each reply at its cap; None where a price is
        unknown.
    unpriced
        The models whose price is unknown.
    seconds
        Time at the given limits, nothing cached.
    models
        One row a model and effort: ``model, effort, level, calls, cached, input_tokens, max_output_tokens,
        output_tokens, cost_usd`` (of all calls, cached or not).
    pools
        One row a limit pool: ``pool, calls, seconds, bound_by``.
    assumptions
        What the figures take for granted, a sentence each.
    """

    calls: int
    cached: int
    cost_usd: float | None
    unpriced: tuple[str, ...]
    seconds: float
    models: pl.DataFrame
    pools: pl.DataFrame
    assumptions: tuple[str, ...]
