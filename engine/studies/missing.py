"""What is missing, and what it could hide (METHOD 1.4).

``hit3_if_missing_wrong, hit3_if_missing_right, n_approximate``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from .floors_table import MIN_FIGURES

APPROXIMATE = "approximate"
"""Flag of an answer that was given as about a value."""

MANY_LEFT_OUT = 0.5

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def missing_columns(frame: pl.DataFrame, hits: pl.Series, trials: pl.Series, *, pooled: bool) -> pl.DataFrame:
    """Return the two bounds of hit3 and ``n_approximate`` for every cell.

    Parameters
    ----------
    frame
        That of `pairs.pair`.
    hits, trials
        Numerator and denominator of hit3, one a cell.
    pooled
        Whether every sample counts, or one answer a molecule.
    """
    missing = missing_answers(frame, hits.len(), pooled=pooled)
    k, n = hits.to_numpy(), trials.to_numpy() + missing
    wrong, right = (
        np.divide(each, n, out=np.full(n.shape, np.nan), where=n > 0) for each in (k, k + missing)
    )
    flags = pl.col("flags").fill_null("").str.split("; ").list.contains(APPROXIMATE)
    return pl.DataFrame(
        {
            "hit3_if_missing_wrong": pl.Series(wrong).fill_nan(None),
            "hit3_if_missing_right": pl.Series(right).fill_nan(None),
            "n_approximate": _per_cell(frame.filter(pl.col("scorable") & flags), hits.len()),
        }
    )


def missing_answers(frame: pl.DataFrame, cells: int, *, pooled: bool) -> Ints:
    """Count per cell what was asked of a molecule with a scorable label and gave no usable answer."""
    scorable_label = (
        pl.col("label_row").is_not_null()
        & (pl.col("reason").is_null() | (pl.col("reason") != "conflict"))
        & (pl.col("label") != 0)
        & (pl.col("label_figures") >= MIN_FIGURES)
    )
    asked = frame.filter(scorable_label)
    if not pooled:
        asked = asked.group_by("cell", "label_row").agg(pl.col("scorable").any())
    return _per_cell(asked.filter(~pl.col("scorable")), cells)


def many_left_out(frame: pl.DataFrame, cells: int) -> Bools:
    """Whether a cell lost over half of its answers to any one reason; further samples of a molecule are no loss."""
    counted = frame.filter(pl.col("reason").is_null() | (pl.col("reason") != "later_sample"))
    total = _per_cell(counted, cells)
    lost = counted.drop_nulls("reason").group_by("cell", "reason").len()
    most = np.zeros(cells, np.int64)
    np.maximum.at(most, lost["cell"].to_numpy(), lost["len"].to_numpy().astype(np.int64))
    return np.asarray(most > MANY_LEFT_OUT * total)


def _per_cell(frame: pl.DataFrame, cells: int) -> Ints:
    return np.bincount(frame["cell"].to_numpy(), minlength=cells).astype(np.int64)
