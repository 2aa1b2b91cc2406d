"""R12, R23 and hit3 with their 95 % intervals."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies import counting
from ..studies.pooled import pooled_bounds
from ._statistic import Given, Statistic

_MEANINGS = {
    "R12": "of the answers right at the first figure, the share right at the second: m2 / m1, blinding: m2_2 / m1_2",
    "R23": "of the answers right at two figures, the share right at the third: m3 / m2, blinding: m3_3 / m2_3",
    "hit3": "share of the usable answers that are right at three figures: m3 / n_usable, blinding: match3 / total3",
}
_ENDS = {"_low": "lower", "_high": "upper"}


def _compute(given: Given) -> pl.DataFrame:
    found = counting.rates(given.cells)
    if given.settings.pooled:
        found = found.with_columns(pooled_bounds(given.pairs.frame, given.cells.height, given.settings))
    return found


def _columns(rate: str, meaning: str) -> tuple[Column, ...]:
    how = "exact (Clopper-Pearson), pooled: bootstrap over molecules"
    bounds = (
        Column(rate + end, pl.Float64, f"{word} 95 % bound of {rate}, {how}") for end, word in _ENDS.items()
    )
    return (Column(rate, pl.Float64, meaning), *bounds)


STATISTIC = Statistic(
    "rates",
    "the shares of agreement at the second and third figure, and at all three",
    "pairs",
    tuple(column for rate, meaning in _MEANINGS.items() for column in _columns(rate, meaning)),
    _compute,
    needs=("hits12", "trials12", "hits23", "trials23", "hits3", "n_hit3"),
    order=20,
)
