"""Exact (Clopper-Pearson) intervals of proportions for millions of counts.

The lower bound of k of n at tail chance a is the x with P(Bin(n, x) >= k) = a; the upper bound of k is one minus
the lower bound of n - k, so one root finder serves both, if it gives x and 1 - x with all their digits. It works
on log x, where the tail is close to a straight line (exactly so for k = n). With T = pmf S (see ``_binomial``)
the derivatives along u = log x cost nothing more::

    d log T / du = k / S        dS / du = k - c S        c = d log pmf / du = k - (n - k) x / y

so an evaluation gives a step of Householder's third-order rule, and nine bounds in ten need one evaluation.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._binomial import log_fall, log_top, tail_in_first_terms
from ._columns import column
from .machine.compile import device, kernel
from .machine.threads import spread
from .streams import GOLDEN, normal_quantile

_SHIFT: Final = np.uint64(32)
_ROOT_OPERATIONS: Final = 500  # of the processor, a pair
_LOOK_UP_OPERATIONS: Final = 5


class Bounds(NamedTuple):
    """Lower and upper bounds of proportions, in the shape of the counts."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def clopper_pearson(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> Bounds:
    """Return the exact two-sided interval of each proportion k / n.

    Parameters
    ----------
    k, n
        Hits and trials, whole numbers with 0 <= k <= n < 2**31, of shapes that broadcast.
    level
        The coverage, in (0, 1); half of the rest lies beyond either bound.

    Returns
    -------
    Bounds
        ``low`` (0 where k = 0) and ``high`` (1 where k = n); no trials give the whole of [0, 1].

    Raises
    ------
    ValueError
        A count out of range, or a level that is none.

    Notes
    -----
    Clopper and Pearson, Biometrika 26, 1934. Relative error below 1e-11 up to n = 1e9. A pair (k, n) that comes
    again, or comes again as (n - k, n), is looked up.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    return _bounds(k, n, 0.5 * (1.0 - level))


def lower_bound(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
    """Return the exact one-sided lower bound of each proportion: below it lies a chance of ``1 - level``.

    Parameters and errors are those of `clopper_pearson`, but the level must be at least one half.
    """
    return _bounds(k, n, _one_sided(level)).low


def upper_bound(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
    """Return the exact one-sided upper bound of each proportion: above it lies a chance of ``1 - level``.

    Parameters and errors are those of `clopper_pearson`, but the level must be at least one half. For no hits it is
    ``1 - (1 - level) ** (1 / n)``.
    """
    return _bounds(k, n, _one_sided(level)).high


def _one_sided(level: float) -> float:
    if not 0.5 <= level < 1.0:
        raise ValueError(f"a one-sided level must lie in [0.5, 1), not {level}")
    return 1.0 - level


def _bounds(k: ArrayLike, n: ArrayLike, tail: float) -> Bounds:
    hits, trials = np.broadcast_arrays(_whole(k, "k"), _whole(n, "n"))
    shape = hits.shape
    flat_hits, flat_trials = column(hits.ravel(), np.int64, "k"), column(trials.ravel(), np.int64, "n")
    if flat_hits.size and (
        flat_hits.min() < 0 or flat_trials.max() >= 2**31 or bool((flat_hits > flat_trials).any())
    ):
        raise ValueError("counts must satisfy 0 <= k <= n < 2**31")
    if not flat_hits.size:
        return Bounds(np.empty(shape), np.empty(shape))
    low, high = _solved(flat_hits, flat_trials, tail)
    return Bounds(low.reshape(shape), high.reshape(shape))


def _whole(counts: ArrayLike, name: str) -> NDArray[np.int64]:
    given = np.asarray(counts)
    whole = given.astype(np.int64, copy=False)
    if given.dtype.kind not in "iu" and not np.array_equal(whole, given):
        raise ValueError(f"{name} must hold whole numbers")
    return whole


@device
def _first_odds(k: float, n: float, z: float) -> float:
    """Return y / x near the root: Abramowitz and Stegun 26.5.22, z the normal quantile of the tail chance."""
    inverse_a = 1.0 / (2.0 * k - 1.0)
    inverse_b = 1.0 / (2.0 * (n - k) + 1.0)
    h = 2.0 / (inverse_a + inverse_b)
    bend = (z * z - 3.0) / 6.0
    w = z * math.sqrt(h + bend) / h + (inverse_b - inverse_a) * (bend + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return (n - k + 1.0) / k * math.exp(-2.0 * w)


@device
def _lower(hits: int, trials: int, top: float, tail: float, log_tail: float, z: float) -> tuple[float, float]:
    """Return x and y = 1 - x where P(Bin(trials, x) >= hits) = tail, for 0 <= hits <= trials; top is `log_top`."""
    if hits == 0:
        return 0.0, 1.0
    k, n = float(hits), float(trials)
    if hits == trials:
        return math.exp(log_tail / n), -math.expm1(log_tail / n)
    if hits == 1:
        return -math.expm1(math.log1p(-tail) / n), math.exp(math.log1p(-tail) / n)
    odds = _first_odds(k, n, z)
    x, y = 1.0 / (1.0 + odds), odds / (1.0 + odds)
    for _ in range(100):
        s = tail_in_first_terms(k, n, x, y, 1e-12)
        miss = top - log_fall(k, n, x, y) + math.log(s) - log_tail
        step = -miss * s / k
        if (
            abs(miss) < 0.5
        ):  # farther off only Newton's step is safe: log T is concave, so it cannot overshoot
            against = (n - k) * x / y
            first = k - (k - against) * s
            second = against / y * s - (k - against) * first
            bend = -first / s
            twist = (2.0 * first * first / s - second) / s
            step *= (1.0 + 0.5 * step * bend) / (1.0 + step * bend + step * step * twist / 6.0)
        growth = math.expm1(step)
        x, y = x + x * growth, y - x * growth
        if abs(miss) < 0.002:
            break
    return x, y


@kernel()
def _numbered(
    k: NDArray[np.int64], n: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct pairs (min(k, n - k), n) as they come: the number of each input, the pair of each number.

    Pairs are found in a table with a place for each possible one where that is no larger than a hashed one would be.
    """
    size = len(k)
    number = np.empty(size, dtype=np.int64)
    small = np.empty(size, dtype=np.int64)
    trials = np.empty(size, dtype=np.int64)
    least, most = n[0], n[0]
    for i in range(size):
        least, most = min(least, n[i]), max(most, n[i])
    starts = np.empty(min(most - least, 4 * size) + 1, dtype=np.int64)
    places = 0
    for total in range(least, min(most, least + 4 * size) + 1):
        starts[total - least] = places
        places += total // 2 + 1
    is_direct = most - least <= 4 * size and places <= 4 * size
    bits = 4
    while (1 << bits) < 2 * size:
        bits += 1
    mask = np.uint64((1 << bits) - 1)
    slots = np.full(places if is_direct else 1 << bits, -1, dtype=np.int32)
    found = 0
    for i in range(size):
        count, total = min(k[i], n[i] - k[i]), n[i]
        if is_direct:
            place = np.uint64(starts[total - least] + count)
        else:
            # Neighbouring k of one n share cache lines; the n are spread over the table.
            place = ((np.uint64(total) * GOLDEN >> _SHIFT) + np.uint64(count)) & mask
            while slots[place] >= 0 and (small[slots[place]] != count or trials[slots[place]] != total):
                place = (place + np.uint64(1)) & mask
        if slots[place] < 0:
            slots[place] = found
            small[found], trials[found] = count, total
            found += 1
        number[i] = slots[place]
    return number, small[:found], trials[:found]


def _solved(k: NDArray[np.int64], n: NDArray[np.int64], tail: float) -> Bounds:
    number, small, trials = _numbered(k, n)
    roots = np.empty((len(small), 4))
    spread(lambda a, b: _solve(small[a:b], trials[a:b], tail, roots[a:b]), small.size, _ROOT_OPERATIONS)
    bounds = Bounds(np.empty(k.size), np.empty(k.size))
    spread(
        lambda a, b: _look_up(k[a:b], n[a:b], number[a:b], roots, bounds.low[a:b], bounds.high[a:b]),
        k.size,
        _LOOK_UP_OPERATIONS,
    )
    return bounds


@kernel()
def _solve(
    small: NDArray[np.int64], trials: NDArray[np.int64], tail: float, roots: NDArray[np.float64]
) -> None:
    """Write x and 1 - x at the lower bound of each pair; then the same for its mirror image."""
    log_tail = math.log(tail)
    z = normal_quantile(tail)
    for j in range(len(small)):
        top = log_top(float(small[j]), float(trials[j])) if small[j] > 0 else 0.0
        for side in range(2):
            hits = trials[j] - small[j] if side == 1 else small[j]
            x, y = _lower(hits, trials[j], top, tail, log_tail, z)
            roots[j, 2 * side], roots[j, 3 - 2 * side] = x, y


@kernel()
def _look_up(
    k: NDArray[np.int64],
    n: NDArray[np.int64],
    number: NDArray[np.int64],
    roots: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> None:
    for i in range(len(k)):
        mirror = 2 if 2 * k[i] > n[i] else 0
        low[i], high[i] = roots[number[i], mirror], roots[number[i], mirror + 1]
