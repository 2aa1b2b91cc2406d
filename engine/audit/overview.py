"""Tables about a plan and its progress, for `plan` and `status`."""

from __future__ import annotations

import polars as pl
from rich.table import Table
from rich.text import Text

from molaudit.storage.cache import Cache
from molaudit.storage.segments import sessions

from ..plan_estimate import Estimate
from ..terminal import inert
from .table import asked_of_cache


def plan_tables(expected: Estimate, table: pl.DataFrame, cached: frozenset[str]) -> list[Table]:
    """What each model and effort takes, and how long each pool needs."""
    hit = table.filter(pl.col("key").is_in(list(cached))).group_by("model", "effort").len()
    hits = {(model, effort): count for model, effort, count in hit.iter_rows()}
    models = Table(title="Plan", title_justify="left")
    for name in (
        "model",
        "effort",
        "level",
        "calls",
        "cached",
        "input tokens",
        "output tokens",
        "USD at most",
    ):
        models.add_column(name, justify="left" if name in ("model", "effort", "level") else "right")
    for one in expected.models:
        models.add_row(
            Text(inert(one.model)),
            Text(inert(one.effort)),
            Text(inert(one.level)),
            str(one.calls),
            str(hits.get((one.model, one.effort), 0)),
            str(one.input_tokens),
            f"<= {one.output_tokens}",
            _usd(one.cost_usd),
        )
    models.add_section()
    models.add_row(
        "all",
        "",
        "",
        str(expected.calls),
        str(sum(hits.values())),
        str(expected.input_tokens),
        f"<= {expected.output_tokens}",
        _usd(expected.cost_usd),
    )
    pools = Table(title="Time at the given limits", title_justify="left")
    for name in ("pool", "calls", "hours", "bound by"):
        pools.add_column(name, justify="right" if name in ("calls", "hours") else "left")
    for pool in expected.pools:
        pools.add_row(Text(inert(pool.pool)), str(pool.calls), f"{pool.seconds / 3600:.2f}", pool.bound_by)
    return [models, pools]


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:.2f}"


def outcome_table(table: pl.DataFrame, cache: Cache) -> Table:
    """How many calls of each model and effort are answered, and how the others last ended."""
    attempts = cache.attempts(asked_of_cache(table))
    usable = cache.lookup(asked_of_cache(table)).select("key", final=pl.col("outcome"))
    last = attempts.sort("started_at").group_by("key").agg(last=pl.col("outcome").last())
    met = table.join(usable, on="key", how="left").join(last, on="key", how="left")
    state = pl.coalesce("final", "last", pl.lit("not asked"))
    counts = met.group_by(
        pl.col("model").cast(pl.String), pl.col("effort").cast(pl.String), state=state
    ).len()
    states = counts["state"].unique().sort().to_list()
    shown = Table(title="Status", title_justify="left")
    for name in ("model", "effort", "calls", *states):
        shown.add_column(name, justify="left" if name in ("model", "effort") else "right")
    for (model, effort), part in counts.sort("model", "effort").group_by(
        "model", "effort", maintain_order=True
    ):
        by_state = dict(part.select("state", "len").iter_rows())
        numbers = [str(by_state.get(name, 0)) for name in states]
        shown.add_row(Text(inert(model)), Text(inert(effort)), str(sum(by_state.values())), *numbers)
    return shown


def session_lines(cache: Cache) -> list[str]:
    """Which processes write to the cache now, and which died with attempts not yet folded in."""
    words = {
        "live": "running",
        "dead": "killed; everything it received is kept and the next run goes on from there",
        "closed": "ended; the next run folds in what it left",
    }
    return [f"session {one.name}: {words[one.state]}" for one in sessions(cache.place.journal)]
