"""Each rung against the digits that the labels show behind each answer's own prefix."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ..studies.matched import matched_p
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return matched_p(given.pairs, given.cells, given.settings)


STATISTIC = Statistic(
    "matched",
    "both rungs against the matched floor",
    "pairs",
    typed(
        pl.Float64,
        p12_matched="p of R12, each molecule against the modal second figure behind its own first",
        p23_matched="p of R23, each molecule against the modal third figure behind its own first two",
    ),
    _compute,
    needs=("floor12", "floor23"),
    order=50,
)
