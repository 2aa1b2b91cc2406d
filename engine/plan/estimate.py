"""What a plan will take: calls, tokens, money, time. Upper bounds, for the output is known only afterwards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..models.table import Price
from ..settings.loading import EndpointSettings, Settings
from .plans import Plan, prompt_tokens

DEFAULT_IN_FLIGHT = 64
DEFAULT_LATENCY_S = 5.0


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """One model at one effort. ``output_tokens`` is the reserve: every reply at its limit, ``cap``."""

    model: str
    effort: str
    level: str
    pool: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    cap: int
    price: Price | None


@dataclass(frozen=True, slots=True)
class PoolEstimate:
    """The time of one pool, and the limit that decides it."""

    pool: str
    calls: int
    seconds: float
    bound_by: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """The whole plan. ``cost_usd`` is None if any price is unknown; ``seconds`` is the slowest pool's."""

    models: tuple[ModelEstimate, ...]
    pools: tuple[PoolEstimate, ...]
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float


def estimate(plan: Plan, *, latency_s: float = DEFAULT_LATENCY_S) -> Estimate:
    """Count tokens, money and time.

    Parameters
    ----------
    latency_s
        A guess of the seconds that one call takes; with the in-flight limit it bounds the rate.
    """
    questions, prompts = _amounts(plan)
    models = []
    for asked in plan.asked:
        reserve = questions[asked.lane] * asked.max_output_tokens
        price = asked.price
        cost = None if price is None else (prompts[asked.lane] * price.input + reserve * price.output) / 1e6
        models.append(
            ModelEstimate(
                asked.model.name,
                asked.effort.label,
                asked.effort.level,
                asked.endpoint.pool,
                questions[asked.lane],
                prompts[asked.lane],
                reserve,
                cost,
                asked.max_output_tokens,
                price,
            )
        )
    pools = tuple(_pool(name, models, plan.settings, latency_s) for name in plan.pools)
    costs = [one.cost_usd for one in models]
    return Estimate(
        models=tuple(models),
        pools=pools,
        calls=questions.total(),
        input_tokens=sum(one.input_tokens for one in models),
        output_tokens=sum(one.output_tokens for one in models),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=max((one.seconds for one in pools), default=0.0),
    )


def _amounts(plan: Plan) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Calls and input tokens of each (model, effort); a call that two arms share counts once."""
    questions: Counter[tuple[str, str]] = Counter()
    prompts: Counter[tuple[str, str]] = Counter()
    if plan.shared:
        for call in plan.calls():
            questions[call.model, call.effort] += 1
            prompts[call.model, call.effort] += call.input_tokens
        return questions, prompts
    for block in plan.blocks:
        tokens = prompt_tokens(block) * block.samples
        for asked in block.asked:
            questions[asked.lane] += len(block.ids) * block.samples
            prompts[asked.lane] += tokens
    return questions, prompts


def _pool(name: str, models: list[ModelEstimate], settings: Settings, latency_s: float) -> PoolEstimate:
    mine = [one for one in models if one.pool == name]
    endpoints = [one for one in settings.endpoints if (one.pool or one.name) == name]
    calls = sum(one.calls for one in mine)
    tokens = sum(one.input_tokens + one.output_tokens for one in mine)
    bounds = {"in_flight": calls * latency_s / (_limit(endpoints, "in_flight") or DEFAULT_IN_FLIGHT)}
    for limit, amount in (("requests_per_minute", calls), ("tokens_per_minute", tokens)):
        rate = _limit(endpoints, limit)
        if rate is not None:
            bounds[limit] = amount / rate * 60
    bound_by = max(bounds, key=lambda one: bounds[one])
    return PoolEstimate(name, calls, bounds[bound_by], bound_by)


def _limit(endpoints: list[EndpointSettings], limit: str) -> float | None:
    values = [getattr(one, limit) for one in endpoints]
    return next((float(value) for value in values if value is not None), None)
