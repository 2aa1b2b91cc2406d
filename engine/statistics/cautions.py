"""What a reader must weigh beside a verdict."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies import cautions
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return cautions.cautions(given.cells, given.pairs, given.settings, given.notes).to_frame()


STATISTIC = Statistic(
    "cautions",
    "what a reader must weigh beside a verdict",
    "pairs",
    (
        Column(
            "cautions",
            pl.String,
            "what to weigh, with `; ` between: skill R12, skill R23, few answers, resolution, lattice, "
            "many left out, computable, low power, pooled samples, source unit",
        ),
    ),
    _compute,
    needs=(
        *("q12", "q23", "p12_skill", "p23_skill", "top_share", "resolution", "lattice"),
        *("n_usable", "m1", "m2", "m3", "floor12", "floor23"),
    ),
    order=110,
)
