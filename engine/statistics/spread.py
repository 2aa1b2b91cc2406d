"""How many different answers a cell has."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies.cautions import spread
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return spread(given.pairs.frame, given.cells.height)


STATISTIC = Statistic(
    "spread",
    "how many different answers a cell has, and the share of the most frequent",
    "pairs",
    (
        Column("n_distinct", pl.Int64, "different values among the answers that were read"),
        Column("top_share", pl.Float64, "share of the most frequent value among them"),
    ),
    _compute,
    order=100,
)
