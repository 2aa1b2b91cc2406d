"""Whether a flag survives the honest explanations."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies.cautions import has_few_answers
from ..studies.standing import stands
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    found = [
        stands(
            row,
            few_answers=has_few_answers(row),
            resolution=row["resolution"],
            lattice=row["lattice"],
            alpha=given.settings.alpha,
        )
        for row in given.cells.iter_rows(named=True)
    ]
    return pl.DataFrame({"stands": pl.Series(found, dtype=pl.Boolean)})


STATISTIC = Statistic(
    "stands",
    "whether a flag survives the honest explanations",
    "cells",
    (
        Column(
            "stands",
            pl.Boolean,
            "whether the flag survives the honest explanations; empty where nothing is flagged",
        ),
    ),
    _compute,
    needs=(
        *("q12", "q23", "p12_matched", "p23_matched", "p12_skill", "p23_skill", "p_core", "p_near"),
        *("top_share", "resolution", "lattice"),
    ),
    order=80,
)
