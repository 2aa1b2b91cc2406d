"""Tables about a plan and its progress, for `plan` and `status`."""

from __future__ import annotations

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from molaudit.storage.cache import Cache
from molaudit.storage.segments import sessions

from ..plan_estimate import Estimate
from ..scheduling.causes import count
from ..terminal import inert
from .stored_replies import StoredReplies, last_outcomes
from .table import asked_of_cache


def plan_tables(expected: Estimate, table: pl.DataFrame, cached: frozenset[str]) -> list[Table]:
    """What each model and effort takes, and how long each pool needs; fits 80 columns."""
    hit = table.filter(pl.col("key").is_in(list(cached))).group_by("model", "effort").len()
    hits = {(model, effort): count for model, effort, count in hit.iter_rows()}
    models = _table("Plan: cost and output at most", ("model", "effort"))
    for name in ("calls", "cached", "tokens in", "out <=", "USD <="):
        models.add_column(name, justify="right", no_wrap=True)
    for one in expected.models:
        models.add_row(
            Text(inert(one.model)),
            Text(inert(one.effort if one.level == one.effort else f"{one.effort}: {one.level}")),
            f"{one.calls:,}",
            f"{hits.get((one.model, one.effort), 0):,}",
            f"{one.input_tokens:,}",
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
        f"{expected.output_tokens:,}",
        _usd(expected.cost_usd),
    )
    pools = _table("Time at the given limits, nothing cached", ("pool",))
    for name in ("calls", "hours"):
        pools.add_column(name, justify="right", no_wrap=True)
    pools.add_column("bound by")
    for pool in expected.pools:
        pools.add_row(Text(inert(pool.pool)), f"{pool.calls:,}", f"{pool.seconds / 3600:.2f}", pool.bound_by)
    return [models, pools]


def _table(title: str, names: tuple[str, ...]) -> Table:
    """A table with little ink, whose columns of names give way to those of numbers."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", min_width=6)
    return table


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:,.2f}"


def outcome_table(table: pl.DataFrame, cache: Cache, stored: StoredReplies) -> tuple[Table, int]:
    """How many calls of each model and effort are answered, how the others last ended; and the answered in all."""
    last = last_outcomes(cache.attempts(asked_of_cache(table)), stored).select("key", last="lost")
    usable = stored.answers.select("key", final="outcome")
    met = table.join(usable, on="key", how="left").join(last, on="key", how="left")
    state = pl.coalesce("final", "last", pl.lit("not asked"))
    counts = met.group_by(
        pl.col("model").cast(pl.String), pl.col("effort").cast(pl.String), state=state
    ).len()
    states = counts["state"].unique().sort().to_list()
    shown = _table("Status", ("model", "effort"))
    for name in ("calls", *states):
        shown.add_column(name, justify="right")
    for (model, effort), part in counts.sort("model", "effort").group_by(
        "model", "effort", maintain_order=True
    ):
        by_state = dict(part.select("state", "len").iter_rows())
        numbers = [f"{by_state.get(name, 0):,}" for name in states]
        shown.add_row(Text(inert(model)), Text(inert(effort)), f"{sum(by_state.values()):,}", *numbers)
    return shown, met.height - met["final"].null_count()


def progress_line(table: pl.DataFrame, answered: int) -> str:
    """How far the audit is, in one line."""
    left = table.height - answered
    return f"{answered} of {table.height} calls are done" + (f", {left} left" if left else "")


def cause_lines(table: pl.DataFrame, cache: Cache, stored: StoredReplies) -> list[str]:
    """Why calls have no answer yet: how they last ended, each sentence once with its number of calls."""
    last = last_outcomes(cache.attempts(asked_of_cache(table)), stored)
    rows = last.select("lost", "http_status", "reason", "message").iter_rows()
    return [f"not answered: {cause}" for cause in count(rows)]


def session_lines(cache: Cache) -> list[str]:
    """Which processes write to the cache now, and which left attempts that are not folded in yet."""
    words = {
        "live": "running",
        "dead": "killed; everything it received is kept, and the next run goes on from there",
        "closed": "ended; the next run folds in what it left",
    }
    return [f"session {one.name}: {words[one.state]}" for one in sessions(cache.place.journal)]
