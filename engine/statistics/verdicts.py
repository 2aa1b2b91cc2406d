"""Tests of both rungs, corrected over the family, and what is concluded from them."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column, typed
from ..studies.pooled import pooled_upper
from ..studies.verdicts import INPUT, judge
from ._statistic import Given, Statistic

_COLUMNS = (
    *typed(
        pl.Float64,
        p12="exact one-sided binomial p of R12 against floor12; empty below 15 trials or without a floor",
        p23="that of R23 against floor23; empty where either rung has fewer than 15 trials",
        q12="p12 after Benjamini-Hochberg over both rungs of all cells of the family",
        q23="p23 after Benjamini-Hochberg over both rungs of all cells of the family",
    ),
    *typed(
        pl.String,
        verdict="flagged (a q below alpha), clean, no-signal (the first figure is at chance), or untestable",
        evidence="which rungs are called: both, R12 only, R23 only, none, no power R23, no power",
        regime="heavy (q12 called, hit3 at least 10 %), partial (below), trace (q23 alone), or the verdict",
    ),
    Column("hit3_upper", pl.Float64, "one-sided 95 % bound of hit3: at most so much was recited"),
)


def _compute(given: Given) -> pl.DataFrame:
    chosen = given.settings
    judged = judge(given.cells, alpha=chosen.alpha, correction=chosen.correction)
    if chosen.pooled:
        judged = judged.with_columns(pooled_upper(given.pairs.frame, given.cells.height, chosen))
    return judged.select(column.name for column in _COLUMNS)


STATISTIC = Statistic(
    "verdicts",
    "tests of both rungs, corrected over the family, and what follows",
    "pairs",
    _COLUMNS,
    _compute,
    needs=(*INPUT, "floor12", "floor23", "floor_hit1"),
    order=40,
)
