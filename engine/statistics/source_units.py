"""Agreement in the unit that was measured, where the labels were converted from another."""

from __future__ import annotations

import polars as pl

from ..seams.columns import typed
from ..studies.source_units import source_counts
from ._statistic import Given, Statistic


def _compute(given: Given) -> pl.DataFrame:
    return source_counts(given.pairs, given.cells["benchmark"], given.settings)


STATISTIC = Statistic(
    "source_units",
    "counts of agreement on values converted back to the unit that was measured",
    "pairs",
    typed(
        pl.Int64,
        source_n_usable="usable answers, in the unit that was measured; empty for benchmarks without one",
        source_m1="of these, right at the first figure",
        source_m2="of these, right at two figures",
        source_m3="of these, right at three figures",
    ),
    _compute,
    order=150,
    asked=lambda settings: bool(settings.source_units),
    when="`source_units`",
)
