"""Exact or next door, and the neighbour test."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column, typed
from ..studies.nearby import as_columns, nearby
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    found = nearby(given.pairs, given.cells)
    return as_columns(found).with_columns(
        pl.Series(name, [getattr(one, name) for one in found], pl.Boolean)
        for name in ("resolution", "lattice")
    )


STATISTIC = Statistic(
    "nearby",
    "answers exactly on the label and one unit of the third figure beside it, and the neighbour test",
    "pairs",
    (
        Column("exact", pl.Int64, "usable answers exactly on the label at three figures"),
        Column("off_by_one", pl.Int64, "usable answers one unit of the third figure beside the label"),
        Column(
            "p_core", pl.Float64, "binomial p of exact among exact and off by one; empty below 15 of both"
        ),
        Column("p_near", pl.Float64, "p of the hits against the other labels nearby; empty where untested"),
        Column("n_near", pl.Int64, "usable answers within five units of the third figure of the label"),
    ),
    _compute,
    needs=("floor23",),
    inner=typed(
        pl.Boolean,
        resolution="the errors are so small that the third figure can be predicted",
        lattice="the labels sit on so few values that an exact hit shows little",
    ),
    order=70,
)
