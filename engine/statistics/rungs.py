"""Hits and trials of the two rungs and of hit3, by the protocol: what rates, tests and bounds are made of."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ..studies import counting
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return counting.rungs(given.cells, given.settings)


STATISTIC = Statistic(
    "rungs",
    "hits and trials of R12, R23 and hit3, by the protocol's counts",
    "cells",
    (),
    _compute,
    needs=("n_usable", "m1", "m2", "m3", *counting.PAIRWISE),
    inner=typed(
        pl.Int64,
        hits12="hits of R12",
        trials12="trials of R12",
        hits23="hits of R23",
        trials23="trials of R23",
        hits3="hits of hit3",
        n_hit3="trials of hit3",
    ),
    order=15,
)
