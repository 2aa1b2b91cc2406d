"""Exact hits against answers next door, in units of the label's third figure (METHOD 1.4).

The unit is that of the third figure of the label's code; the position of a number is that number in units, rounded
from its exact binary value, ties to even, with its sign.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import doubles, same_length
from ._positions import REACH, positions, unit_exponents
from .figures import codes
from .tails import binomial_upper, poisson_binomial_upper

__all__ = [
    "MIN_MISSES",
    "MIN_TRIALS",
    "NEAR",
    "Neighbourhood",
    "NextDoor",
    "error_scale",
    "neighbourhood",
    "next_door",
    "p_core",
    "p_near",
    "units",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR: Final = 5
MIN_TRIALS: Final = 15
MIN_MISSES: Final = 10
COARSE: Final = 5.0
"""Error scale in units below which figures can be predicted."""

EVEN_CORE: Final = 0.6
_ROBUST: Final = 1.4826  # of the median absolute deviation to the standard deviation of a normal law


class Neighbourhood(NamedTuple):
    """Where all labels of a benchmark lie, on the unit of each decade that one of them has.

    Attributes
    ----------
    exponents
        Powers of ten of the units, ascending, shape (decades,).
    counts
        Labels at each position, shape (decades, 2 REACH + 1); position p of a decade is column p + REACH.
    pairs
        Ordered pairs of labels, the first one's unit taken, that lie 0, 1, ..., 5 units apart, shape (6,).
    """

    exponents: Ints
    counts: Ints
    pairs: Ints

    @property
    def equal_share(self) -> float:
        """Share of equal ones among the pairs of labels within one unit; 0 where there is no such pair."""
        return _share(self.pairs[0], self.pairs[:2].sum())

    @property
    def near_share(self) -> float:
        """Share of equal ones among the pairs of labels within five units; 0 where there is no such pair."""
        return _share(self.pairs[0], self.pairs.sum())

    def pooled_share(self, scale: float) -> float:
        """Return the same share with pairs at distance d weighted by exp(-d / scale)."""
        return _share(self.pairs[0], float(self.pairs @ _weights(scale)[NEAR:]))


class NextDoor(NamedTuple):
    """What the answers of a cell have within five units of their labels.

    ``exact`` lie on their label, ``off_by_one`` one unit beside it, ``n_near`` at most five; ``chances`` are those
    of the near answers to lie on their label, null hypothesis of the neighbour test, shape (n_near,).
    """

    exact: int
    off_by_one: int
    n_near: int
    chances: Floats


def neighbourhood(labels: ArrayLike, others: ArrayLike = ()) -> Neighbourhood:
    """Place every label of a benchmark on the unit of every other.

    Parameters
    ----------
    labels
        Labels that carry three figures, one a molecule, finite and not zero, shape (n,).
    others
        Further labels whose unit will be asked for: those of molecules with several values.
    """
    values = _labels(labels)
    own = unit_exponents(codes(values, 3))
    exponents = np.unique(np.concatenate([own, unit_exponents(codes(_labels(others), 3))]))
    counts = np.zeros((exponents.size, 2 * REACH + 1), dtype=np.int64)
    pairs = np.zeros(NEAR + 1, dtype=np.int64)
    for row, exponent in enumerate(exponents):
        at = positions(values, np.full(values.size, exponent)) + REACH
        counts[row] = np.bincount(at, minlength=2 * REACH + 1)
        counts[row, [0, -1]] = 0  # beyond reach, and no neighbours of each other
        centres, number = np.unique(at[own == exponent], return_counts=True)
        pairs[0] += (number * (counts[row, centres] - 1)).sum()
        for d in range(1, NEAR + 1):
            pairs[d] += (number * (counts[row, centres - d] + counts[row, centres + d])).sum()
    return Neighbourhood(exponents, counts, pairs)


def units(label: ArrayLike) -> Floats:
    """Return the size of one unit of the third figure of each label, shape (n,)."""
    return np.asarray(10.0 ** unit_exponents(codes(_labels(label), 3)).astype(np.float64))


def error_scale(label: ArrayLike, pred: ArrayLike) -> tuple[float, int]:
    """Return the cell's error scale in units of the third figure, and how many answers miss at three figures.

    1.4826 times the median of |answer - label| / unit over those misses; infinite below 10 of them.
    """
    labels, answers = _labels(label), doubles(pred, "pred")
    same_length(label=labels, pred=answers)
    label_codes = codes(labels, 3)
    missed = label_codes != codes(answers, 3)
    number = int(missed.sum())
    if number < MIN_MISSES:
        return math.inf, number
    with np.errstate(over="ignore"):
        off = np.abs(answers - labels)[missed] / units(labels[missed])
    return _ROBUST * float(np.median(off)), number


def next_door(
    around: Neighbourhood, label: ArrayLike, pred: ArrayLike, own: ArrayLike, scale: float
) -> NextDoor:
    """Count exact and neighbouring answers, with the chance of each near one to be exact.

    Parameters
    ----------
    around
        Of the benchmark.
    label, pred
        The scorable pairs of a cell, shape (n,).
    own
        The label by which each pair's molecule stands in ``around`` (NaN: by none); it is left out of its neighbours.
    scale
        `error_scale` of the cell.

    Notes
    -----
    Of an answer at position a: (at + 2g) / (w + 2), where ``at`` is the number of other labels at a, w the sum of
    exp(-|d| / scale) over other labels at distances |d| <= 5 from a, and g the larger of the pooled share and
    1 / sum of exp(-|d| / scale) over d = -5..5.
    """
    labels, answers, mine = _labels(label), doubles(pred, "pred"), doubles(own, "own")
    same_length(label=labels, pred=answers, own=mine)
    exponent = unit_exponents(codes(labels, 3))
    at = positions(answers, exponent)
    off = np.abs(at - positions(labels, exponent))
    near = off <= NEAR
    weights = _weights(scale)
    rows = np.searchsorted(around.exponents, exponent[near])
    columns = at[near, None] + REACH + np.arange(-NEAR, NEAR + 1)
    others = around.counts[rows[:, None], columns]
    away = positions(mine[near], exponent[near]) - at[near]
    known = np.flatnonzero(~np.isnan(mine[near]) & (np.abs(away) <= NEAR))
    others[known, away[known] + NEAR] -= 1
    g = max(around.pooled_share(scale), 1.0 / float(weights.sum()))
    here = others[:, NEAR]
    return NextDoor(
        exact=int((off == 0).sum()),
        off_by_one=int((off == 1).sum()),
        n_near=int(near.sum()),
        chances=np.minimum((here + 2.0 * g) / (others @ weights + 2.0), 1.0),
    )


def p_core(around: Neighbourhood, exact: int, off_by_one: int) -> float:
    """Return P(Bin(exact + off_by_one, b) >= exact), b = max(0.6, `Neighbourhood.equal_share`); NaN below 15."""
    if exact + off_by_one < MIN_TRIALS:
        return math.nan
    return float(binomial_upper(exact, exact + off_by_one, max(EVEN_CORE, around.equal_share)))


def p_near(around: Neighbourhood, found: NextDoor, scale: float) -> float:
    """Return the Poisson-binomial tail of the exact answers among the near ones.

    NaN below 15 near answers, where the scale is below 5 units, or where near labels are all equal.
    """
    if found.n_near < MIN_TRIALS or scale < COARSE or around.near_share == 1.0:
        return math.nan
    return poisson_binomial_upper(found.exact, found.chances)


def _weights(scale: float) -> Floats:
    """Return exp(-|d| / scale) for d = -5..5; only d = 0 counts where the scale is 0."""
    distance = np.abs(np.arange(-NEAR, NEAR + 1)).astype(np.float64)
    return np.exp(-distance / scale) if scale > 0 else (distance == 0).astype(np.float64)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def _labels(values: ArrayLike) -> Floats:
    labels = doubles(values, "label")
    if not (np.isfinite(labels) & (labels != 0.0)).all():
        raise ValueError("labels must be finite and not zero: those carry no figures")
    return labels
