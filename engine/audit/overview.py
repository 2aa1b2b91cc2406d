"""Tables about a plan and its progress, for `plan` and `status`."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.segments import sessions

from ..plan.estimate import Estimate, ModelEstimate
from ..plan.plans import BYTES_PER_TOKEN
from ..report.terminal import inert
from ..scheduling.causes import count
from .stored_replies import StoredReplies, last_outcomes
from .table import asked_of_cache, calls_of
from .waiting import WAITING

_ROOM_FOR_ALL = 80
"""Columns of a terminal that a plan's table needs; in a narrower one its numbers would be cut."""
_ROOM_FOR_STATES = 52
"""Columns for the names of outcomes, beside a model, an effort and the calls."""


def plan_view(
    expected: Estimate, table: pl.DataFrame, cached: frozenset[str], width: int
) -> list[RenderableType]:
    """What each model and effort takes, how long each pool needs, and what both assume."""
    hit = calls_of(table).filter(pl.col("key").is_in(list(cached))).group_by("model", "effort").len()
    hits = {(model, effort): count for model, effort, count in hit.iter_rows()}
    models = _model_table if width >= _ROOM_FOR_ALL else _model_lines
    shown: list[RenderableType] = [Text("Plan: cost and output at most", style="bold")]
    shown += models(expected, hits)
    shown += [Text(line) for line in assumptions(expected)]
    pools = _table(("pool",))
    for name in ("calls", "hours"):
        pools.add_column(name, justify="right", no_wrap=True)
    pools.add_column("bound by")
    for pool in expected.pools:
        pools.add_row(Text(inert(pool.pool)), f"{pool.calls:,}", f"{pool.seconds / 3600:.2f}", pool.bound_by)
    return [*shown, "", Text("Time at the given limits, nothing cached", style="bold"), pools]


def _model_table(expected: Estimate, hits: Mapping[tuple[str, str], int]) -> list[RenderableType]:
    models = _table(("model", "effort"))
    for name in ("calls", "cached", "tokens in", "cap", "out <=", "USD <="):
        models.add_column(name, justify="right", no_wrap=True)
    for one in expected.models:
        models.add_row(
            Text(inert(one.model)),
            Text(inert(_effort(one))),
            f"{one.calls:,}",
            f"{hits.get((one.model, one.effort), 0):,}",
            f"{one.input_tokens:,}",
            f"{one.cap:,}",
            f"{one.output_tokens:,}",
            _usd(one.cost_usd),
        )
    models.add_section()
    models.add_row(
        "all",
        "",
        f"{expected.calls:,}",
        f"{sum(hits.values()):,}",
        f"{expected.input_tokens:,}",
        "",
        f"{expected.output_tokens:,}",
        _usd(expected.cost_usd),
    )
    return [models]


def _model_lines(expected: Estimate, hits: Mapping[tuple[str, str], int]) -> list[RenderableType]:
    """The table's numbers as text, for a terminal that is too narrow for its columns."""
    lines = [
        f"{inert(one.model)}, {inert(_effort(one))}: {one.calls:,} calls, "
        f"{hits.get((one.model, one.effort), 0):,} cached; {one.input_tokens:,} tokens in, at most {one.cap:,} a "
        f"reply = {one.output_tokens:,} out; USD at most: {_usd(one.cost_usd)}"
        for one in expected.models
    ]
    lines.append(
        f"all: {expected.calls:,} calls, {sum(hits.values()):,} cached; {expected.input_tokens:,} tokens in, at most "
        f"{expected.output_tokens:,} out; USD at most: {_usd(expected.cost_usd)}"
    )
    return [Text(line) for line in lines]


def _effort(one: ModelEstimate) -> str:
    return one.effort if one.level == one.effort else f"{one.effort} ({one.level})"


def assumptions(expected: Estimate) -> list[str]:
    """What the numbers of a plan take for granted, a sentence each."""
    caps = ", ".join(f"{cap:,}" for cap in sorted({one.cap for one in expected.models}))
    lines = [
        f"Assumed: each reply as long as its cap, max_output_tokens ({caps}), reasoning included; "
        f"{BYTES_PER_TOKEN} bytes of a prompt a token; nothing cached, nothing paid twice.",
        "A reply that reaches its cap is cut, counted as truncated and not scored; long reasoning needs more.",
    ]
    prices = {one.model: one.price for one in expected.models}
    unknown = [inert(name) for name, price in prices.items() if price is None]
    if unknown:
        lines.append(
            f"No price is known of {', '.join(unknown)}: molaudit run asks before it begins, or needs --yes. "
            "State it in [[model]]: price = { input = ..., output = ... }, in USD per million tokens."
        )
    for name, price in prices.items():
        if price is not None and price.input + price.output > 0:
            where = ", ".join(part for part in (price.source or "the model table", price.date) if part)
            lines.append(
                f"Price of {inert(name)}: {price.input:g} in, {price.output:g} out, USD per million tokens ({where})."
            )
    return lines


def _table(names: tuple[str, ...]) -> Table:
    """A table with little ink, whose columns of names give way to those of numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", min_width=6)
    return table


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:,.2f}"


def outcome_view(
    table: pl.DataFrame, cache: Cache, stored: StoredReplies, width: int
) -> tuple[list[RenderableType], int]:
    """How many calls of each model and effort are answered, how the others last ended; and the answered in all."""
    last = last_outcomes(cache, asked_of_cache(table), stored).select("key", last="lost")
    usable = stored.answers.select("key", final="outcome")
    met = calls_of(table).join(usable, on="key", how="left").join(last, on="key", how="left")
    state = pl.coalesce("final", "last", pl.lit("not asked"))
    place = [pl.col(name).cast(pl.String) for name in ("model", "effort")]
    counts = met.group_by(*place, state=state).len().sort("model", "effort", "state")
    rows = {
        (inert(model), inert(effort)): dict(part.select("state", "len").iter_rows())
        for (model, effort), part in counts.group_by("model", "effort", maintain_order=True)
    }
    shown: list[RenderableType] = [Text("Status", style="bold")]
    states = counts["state"].unique().sort().to_list()
    if width >= _ROOM_FOR_ALL and sum(len(name) + 2 for name in states) <= _ROOM_FOR_STATES:
        shown.append(_state_table(rows, states))
    else:
        for (model, effort), found in rows.items():
            parts = ", ".join(f"{count:,} {name}" for name, count in found.items())
            shown.append(Text(f"{model}, {effort}: {sum(found.values()):,} calls: {parts}"))
    return shown, met.height - met["final"].null_count()


def _state_table(rows: Mapping[tuple[str, str], Mapping[str, int]], states: list[str]) -> Table:
    shown = _table(("model", "effort"))
    for name in ("calls", *states):
        shown.add_column(name, justify="right", no_wrap=True)
    for (model, effort), found in rows.items():
        numbers = [f"{found.get(name, 0):,}" for name in states]
        shown.add_row(Text(model), Text(effort), f"{sum(found.values()):,}", *numbers)
    return shown


def progress_line(table: pl.DataFrame, answered: int) -> str:
    """How far the audit is, in one line."""
    calls = calls_of(table).height
    left = calls - answered
    return f"{answered} of {calls} calls are done" + (f", {left} left" if left else "")


def cause_lines(table: pl.DataFrame, cache: Cache, stored: StoredReplies) -> list[str]:
    """Why calls have no answer yet: how they last ended, each sentence once with its number of calls."""
    last = last_outcomes(cache, asked_of_cache(table), stored)
    rows = (
        last.filter(pl.col("lost") != WAITING).select("lost", "http_status", "reason", "message").iter_rows()
    )
    return [f"not answered: {cause}" for cause in count(rows)]


def session_lines(cache: Cache) -> list[str]:
    """Which processes write to the cache now, and which left attempts that are not folded in yet."""
    words = {
        "live": "running",
        "dead": "killed; everything it received is kept, and the next run goes on from there",
        "closed": "ended; the next run folds in what it left",
    }
    return [f"session {one.name}: {words[one.state]}" for one in sessions(cache.place.journal)]
