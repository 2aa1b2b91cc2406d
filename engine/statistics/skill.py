"""Whether the cell's own accuracy explains its rungs."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ..studies.accuracy_alone import skill_columns
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return skill_columns(given.pairs, given.cells, given.settings)


STATISTIC = Statistic(
    "skill",
    "the chance that a predictor of the cell's own accuracy reaches its rungs",
    "pairs",
    typed(
        pl.Float64,
        p12_skill="chance that a predictor of the cell's own errors reaches its R12; empty where untested",
        p23_skill="chance that a predictor of the cell's own errors reaches its R23; empty where untested",
    ),
    _compute,
    needs=("m1", "m2"),
    order=60,
)
