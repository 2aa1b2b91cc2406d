"""The counts of the earlier study: each rung over the answers that carry its figures."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ..studies import counting
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return counting.pairwise(given.pairs.frame, given.cells.height)


STATISTIC = Statistic(
    "pairwise",
    "the counts of the protocol blinding",
    "pairs",
    typed(
        pl.Int64,
        match3="of the answers to labels with three figures, those right at three: hits of hit3",
        total3="answers to labels with three figures: trials of hit3",
        m1_2="where answer and label carry two figures, those right at one: trials of R12",
        m2_2="of these, those right at two too: hits of R12",
        m2_3="where answer and label carry three figures, those right at two: trials of R23",
        m3_3="of these, those right at three too: hits of R23",
    ),
    _compute,
    order=140,
    asked=lambda settings: settings.protocol == "blinding",
    when='`protocol = "blinding"`',
)
