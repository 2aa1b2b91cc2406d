"""What a procedure reaches at each rung that sees no molecule: the benchmark's floors beside its cells."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    floors = given.floors.select("benchmark", "floor12", "floor23", "floor_hit1")
    return given.cells.join(floors, on="benchmark", how="left", maintain_order="left").select(
        "floor12", "floor23", "floor_hit1"
    )


STATISTIC = Statistic(
    "floors",
    "the benchmark's floors, against which a cell is tested",
    "cells",
    typed(
        pl.Float64,
        floor12="chance of the second figure for who knows the first and sees no molecule",
        floor23="chance of the third figure for who knows two and sees no molecule",
    ),
    _compute,
    inner=typed(pl.Float64, floor_hit1="share of the pairs of labels that agree at one figure"),
    order=30,
)
