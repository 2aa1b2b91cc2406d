"""From counts and floors to p, q, verdict, evidence and regime (METHOD 1.4).

One place decides; ``score`` and ``judge`` both come here. The two rungs of a cell enter the correction as two
tests, and an untested rung enters as p = 1, so that a family has always 2 x cells tests.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import intervals, tails

from .settings import Correction

Floats = npt.NDArray[np.float64]

ALPHA = 0.05
MIN_TRIALS = 15
HEAVY_HIT3 = 0.10

INPUT = ("family", "trials12", "hits12", "trials23", "hits23", "n_usable", "m1", "n_hit3", "hits3")
"""Columns that `judge` needs, beside the floors; the protocol chooses what a rung's trials are."""


def judge(counts: pl.DataFrame, *, alpha: float = ALPHA, correction: Correction = "rung") -> pl.DataFrame:
    """Give every cell its p, q, verdict, evidence, regime and bounds.

    Parameters
    ----------
    counts
        One row a cell with the columns `INPUT` and ``floor12, floor23, floor_hit1`` (fractions, null where
        the benchmark has no floor).
    alpha
        Level of the false discovery rate.
    correction
        ``rung``: Benjamini-Hochberg over the 2 x cells p-values of a family. ``cell``: over
        2 x min(p12, p23), one a cell.

    Returns
    -------
    The table with ``p12, p23, q12, q23, verdict, evidence, regime, hit3, hit3_upper`` added, rows in order.
    """
    p12, p23 = rung_p(counts)
    q12, q23 = _corrected(counts["family"].to_numpy(), p12, p23, correction)
    hit3 = _ratio(counts["hits3"], counts["n_hit3"])
    upper = intervals.upper_bound(counts["hits3"].to_numpy(), counts["n_hit3"].to_numpy(), 0.95)
    upper = np.where(counts["n_hit3"].to_numpy() > 0, upper, np.nan)
    judged = counts.with_columns(
        p12=_nullable(p12),
        p23=_nullable(p23),
        q12=_nullable(q12),
        q23=_nullable(q23),
        hit3=_nullable(hit3),
        hit3_upper=_nullable(upper),
    )
    return judged.with_columns(_verdict(judged, alpha), _evidence(alpha)).with_columns(_regime(alpha))


def rung_p(counts: pl.DataFrame) -> tuple[Floats, Floats]:
    """Exact one-sided binomial p of both rungs; NaN where a rung is untested or has no floor, or a floor of 0.

    A floor of 0 was measured on too few labels: it would make p 0 at the first hit.
    """
    n12, n23 = counts["trials12"].to_numpy(), counts["trials23"].to_numpy()
    floor12, floor23 = (_floats(counts[name]) for name in ("floor12", "floor23"))
    p12 = tails.binomial_upper(counts["hits12"].to_numpy(), n12, np.where(floor12 == 0, np.nan, floor12))
    p23 = tails.binomial_upper(counts["hits23"].to_numpy(), n23, np.where(floor23 == 0, np.nan, floor23))
    tested12 = n12 >= MIN_TRIALS
    p12 = np.where(tested12, p12, np.nan)
    p23 = np.where(tested12 & (n23 >= MIN_TRIALS), p23, np.nan)
    return p12, p23


def operating_levels(judged: pl.DataFrame, alpha: float = ALPHA) -> dict[str, float]:
    """Return each family's BH operating point: the largest p whose q is below alpha, else alpha / (2 x cells).

    ``judged`` has ``family, p12, p23``; untested rungs enter as 1. Families in order of first appearance.
    """
    levels = {}
    for part in judged.partition_by("family", maintain_order=True):
        p = np.concatenate([part[name].fill_null(1.0).to_numpy() for name in ("p12", "p23")])
        level = tails.bh_level(p, alpha)
        levels[str(part["family"][0])] = alpha / p.size if np.isnan(level) else float(level)
    return levels


def calling_level(judged: pl.DataFrame, alpha: float = ALPHA) -> float:
    """Return the level at which one more rung of the run would be called: alpha (k + 1) / (2 x cells).

    ``k`` rungs are called already. Unlike the operating point it does not sink with the p of the called ones.
    """
    called = sum(judged.filter(pl.col(name) < alpha).height for name in ("q12", "q23"))
    tests = 2 * judged.height
    return alpha * min(tests, called + 1) / tests


def _corrected(
    family: npt.NDArray[np.object_], p12: Floats, p23: Floats, correction: Correction
) -> tuple[Floats, Floats]:
    q12, q23 = np.full_like(p12, np.nan), np.full_like(p23, np.nan)
    for name in np.unique(family.astype(str)):
        rows = np.flatnonzero(family.astype(str) == name)
        first, second = np.nan_to_num(p12[rows], nan=1.0), np.nan_to_num(p23[rows], nan=1.0)
        if correction == "rung":
            q = tails.benjamini_hochberg(np.concatenate([first, second]))
            q12[rows], q23[rows] = q[: rows.size], q[rows.size :]
        else:
            # A rung is called only in a called cell, by the larger of the cell's q and its own 2p.
            cell = tails.benjamini_hochberg(np.minimum(1.0, 2 * np.minimum(first, second)))
            q12[rows] = np.maximum(cell, np.minimum(1.0, 2 * first))
            q23[rows] = np.maximum(cell, np.minimum(1.0, 2 * second))
    return np.where(np.isnan(p12), np.nan, q12), np.where(np.isnan(p23), np.nan, q23)


def _verdict(judged: pl.DataFrame, alpha: float) -> pl.Series:
    """Flagged, clean, no-signal or untestable; a cell without a floor is untestable whatever its counts."""
    n, m1 = judged["n_usable"].to_numpy(), judged["m1"].to_numpy()
    hit1 = _floats(judged["floor_hit1"])
    tail = tails.binomial_upper(m1, n, hit1)
    rate = np.divide(m1, n, out=np.full(n.shape, np.nan), where=n > 0)
    no_signal = (tail >= alpha) & (rate <= hit1)
    q = np.fmin(_floats(judged["q12"]), _floats(judged["q23"]))
    untested = (judged["trials12"].to_numpy() < MIN_TRIALS) & ~(q < alpha)
    no_floor = np.isnan(_floats(judged["floor12"])) | np.isnan(_floats(judged["floor23"]))
    verdict = np.where(q < alpha, "flagged", "clean")
    verdict = np.where(untested, np.where(no_signal, "no-signal", "untestable"), verdict)
    nothing_tested = ~untested & np.isnan(_floats(judged["p12"])) & np.isnan(_floats(judged["p23"]))
    return pl.Series("verdict", np.where(no_floor | nothing_tested, "untestable", verdict), dtype=pl.String)


def _evidence(alpha: float) -> pl.Expr:
    broad, fine = _below("q12", alpha), _below("q23", alpha)
    return (
        pl.when(broad & fine)
        .then(pl.lit("both"))
        .when(broad)
        .then(pl.lit("R12 only"))
        .when(fine)
        .then(pl.lit("R23 only"))
        .when(pl.col("p12").is_null())
        .then(pl.lit("no power"))
        .when(pl.col("p23").is_null())
        .then(pl.lit("no power R23"))
        .otherwise(pl.lit("none"))
        .alias("evidence")
    )


def _regime(alpha: float) -> pl.Expr:
    return (
        pl.when(pl.col("verdict") != "flagged")
        .then("verdict")
        .when(_below("q12", alpha) & (pl.col("hit3") >= HEAVY_HIT3))
        .then(pl.lit("heavy"))
        .when(_below("q12", alpha))
        .then(pl.lit("partial"))
        .otherwise(pl.lit("trace"))
        .alias("regime")
    )


def _below(column: str, alpha: float) -> pl.Expr:
    return (pl.col(column) < alpha).fill_null(value=False)


def _floats(column: pl.Series) -> Floats:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _ratio(k: pl.Series, n: pl.Series) -> Floats:
    trials = n.to_numpy()
    return np.asarray(np.divide(k.to_numpy(), trials, out=np.full(trials.shape, np.nan), where=trials > 0))


def _nullable(values: Floats) -> pl.Series:
    return pl.Series(values, dtype=pl.Float64).fill_nan(None)
