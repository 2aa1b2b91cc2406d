"""What is missing, and what it could hide."""

from __future__ import annotations

import polars as pl

from ..seams.columns import Column
from ..studies.missing import missing_columns
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    hits, trials = given.cells["hits3"], given.cells["n_hit3"]
    return missing_columns(given.pairs.frame, hits, trials, pooled=given.settings.pooled)


STATISTIC = Statistic(
    "missing",
    "what is missing: hit3 if all of it were wrong, and if all of it were right",
    "pairs",
    (
        Column("hit3_if_missing_wrong", pl.Float64, "hit3 if every missing answer were wrong"),
        Column("hit3_if_missing_right", pl.Float64, "hit3 if every missing answer were right"),
        Column("n_approximate", pl.Int64, 'usable answers that were given as "about" a value'),
    ),
    _compute,
    needs=("hits3", "n_hit3"),
    order=90,
)
