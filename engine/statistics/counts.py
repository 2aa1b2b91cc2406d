"""What was asked, what was read, and what agreed at 1, 2 and 3 figures."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ..studies import counting
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return counting.counts(given.pairs.frame, given.cells.height, given.settings)


STATISTIC = Statistic(
    "counts",
    "answers asked, read and usable, and those that agree with the label",
    "pairs",
    typed(
        pl.Int64,
        n_asked="molecules that were asked about; pooled: answers",
        n_pred="answers that were read as one number",
        n_usable="of these, answers to a label with three figures: the denominator of m and h",
        m1="usable answers right at the first figure",
        m2="usable answers right at the first and the second figure",
        m3="usable answers right at all three figures",
        h1="usable answers right when rounded to one figure",
        h2="usable answers right when rounded to two figures, whatever one figure says",
        h3="usable answers right when rounded to three figures, whatever one and two say",
    ),
    _compute,
    order=10,
)
