"""How far off the answers are."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies import accuracy
from ._statistic import Given, Statistic

_MEANINGS = {
    "mae": "mean absolute error",
    "medae": "median absolute error",
    "rmse": "root mean square error",
    "pearson": "Pearson correlation of answers and labels",
    "spearman": "Spearman correlation of answers and labels",
}
_ENDS = {"_low": "lower", "_high": "upper"}


def _compute(given: Given) -> pl.DataFrame:
    return accuracy.errors_by_cell(given.pairs.frame, given.cells.height, given.settings)


def _columns(measure: str) -> tuple[Column, ...]:
    bounds = (
        Column(measure + end, pl.Float64, f"{word} 95 % bound of {measure}, bootstrap over molecules")
        for end, word in _ENDS.items()
    )
    return (Column(measure, pl.Float64, f"{_MEANINGS[measure]}, of every answer that was read"), *bounds)


STATISTIC = Statistic(
    "accuracy",
    "error measures and correlations",
    "pairs",
    tuple(column for measure in accuracy.MEASURES for column in _columns(measure)),
    _compute,
    order=120,
)
