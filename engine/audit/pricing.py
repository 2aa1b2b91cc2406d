"""What calls cost: by the prices of the plan and, for those of earlier sessions, by what is stored of them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from molaudit.storage.cache.store import Cache

from ..models.records import NO_WORK, Call, Outcome, Usage
from ..plan.plans import Plan
from ..scheduling.budgets import Budget

_COUNTED = ("key", "outcome", "http_status", "sent", "cost_usd")


def prices(plan: Plan) -> Callable[[Call, Usage], float | None]:
    """From a call and its tokens to US dollars; None where the price or a count is unknown."""
    known = {asked.model.name: asked.price for asked in plan.asked}

    def price(call: Call, usage: Usage) -> float | None:
        one = known[call.model]
        if one is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        return (usage.input_tokens * one.input + usage.output_tokens * one.output) / 1e6

    return price


def spent_before(plan: Plan, cache: Cache, keys: pl.DataFrame) -> float:
    """US dollars that earlier sessions spent on these calls.

    As within a session, an attempt that may have been billed counts in full where nobody has said by how much: it was
    sent, and no reply came, or one that does not state its tokens.
    """
    attempts = cache.attempts(keys, _COUNTED)
    blocked = (pl.col("http_status") >= 400) & (pl.col("outcome") == Outcome.FILTERED.value)
    no_work = pl.col("http_status").is_not_null() & (
        pl.col("outcome").is_in([one.value for one in NO_WORK]) | blocked
    )
    unsaid = attempts.filter(pl.col("cost_usd").is_null() & pl.col("sent") & ~no_work)
    spent = float(attempts["cost_usd"].sum())
    if unsaid.is_empty():
        return spent
    times: dict[str, int] = dict(unsaid.group_by("key").len().iter_rows())
    budget = Budget(prices(plan))
    worst = {one.key: budget.worst_case(one) for one in plan.calls() if one.key in times}
    return spent + sum(worst[key] * count for key, count in times.items())
