"""Detection limits: the smallest count that would be significant (METHOD 1.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from molaudit.kernels import tails

STATS = {"R12": "floor12", "R23": "floor23", "hit1": "floor_hit1", "hit3": "floor_hit3"}
"""Statistic to the floor that it is tested against."""

RUNGS = ("R12", "R23")

DENOMINATORS = (15, 30, 50, 100, 200, 500)


def detection_limits(floors: pl.DataFrame, *, n: Sequence[int], alpha: float) -> pl.DataFrame:
    """Return the smallest k with P(Bin(n, floor) >= k) < alpha for every benchmark, statistic and n.

    Parameters
    ----------
    floors
        ``benchmark`` and any of ``floor12, floor23, floor_hit1, floor_hit3``; a missing or null floor gives
        no row. A floor of 0 was measured on too few labels to test R12 or R23 against, and limits neither.
    n
        Denominators: m1 for R12, m2 for R23, usable pairs for hit1 and hit3.
    alpha
        Level of the one-sided test.

    Returns
    -------
    ``benchmark, stat, n, floor, k_min``; ``k_min`` is null where even n of n would not be significant.
    """
    rows = []
    for row in floors.iter_rows(named=True):
        for stat, column in STATS.items():
            floor = row.get(column)
            if floor is None:
                continue
            tested = np.nan if floor == 0 and stat in RUNGS else floor
            counts = tails.smallest_count(np.asarray(n, np.int64), np.full(len(n), tested), alpha)
            rows += [
                {"benchmark": row["benchmark"], "stat": stat, "n": trials, "floor": floor, "k_min": int(k)}
                for trials, k in zip(n, counts, strict=True)
            ]
    schema = {
        "benchmark": pl.String,
        "stat": pl.String,
        "n": pl.Int64,
        "floor": pl.Float64,
        "k_min": pl.Int64,
    }
    table = pl.DataFrame(rows, schema=schema)
    return table.with_columns(k_min=pl.when(pl.col("k_min") <= pl.col("n")).then("k_min"))
