"""How many answers do not count, by the reason."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies import counting
from ..studies.reasons import REASONS
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return counting.left_out(given.pairs.frame, given.cells.height)


STATISTIC = Statistic(
    "left_out",
    "answers that do not count, by the reason",
    "pairs",
    tuple(
        Column(f"left_out_{reason}", pl.Int64, f"answers left out: {meaning}")
        for reason, meaning in REASONS.items()
    ),
    _compute,
    order=130,
)
