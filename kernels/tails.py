"""Exact tails of counts, and what is decided by them: p values, false discovery rates, detection limits."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._binomial import upper_tail
from ._columns import column, doubles
from .machine.compile import kernel
from .machine.threads import spread

_EVEN = 0.5
_TAIL_OPERATIONS: Final = 500  # of the processor, a tail


def binomial_upper(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
    """Return P(Bin(n, p) >= k), the exact one-sided p value of k hits in n trials.

    Parameters
    ----------
    k, n
        Hits and trials, whole numbers, of shapes that broadcast with p. Any k is allowed: the tail of k <= 0
        is 1 and that of k > n is 0.
    p
        Chance of a hit. NaN, or a number outside [0, 1], gives NaN.

    Returns
    -------
    ndarray
        Relative error below 1e-12 down to 1e-300.
    """
    hits, trials, chance = np.broadcast_arrays(
        np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64), np.asarray(p, dtype=np.float64)
    )
    shape = hits.shape
    counts, of, p = doubles(hits.ravel(), "k"), doubles(trials.ravel(), "n"), doubles(chance.ravel(), "p")
    out = np.empty(counts.size)
    spread(lambda a, b: _upper_tails(counts[a:b], of[a:b], p[a:b], out[a:b]), out.size, _TAIL_OPERATIONS)
    return out.reshape(shape)


def smallest_count(n: ArrayLike, p: ArrayLike, alpha: float) -> NDArray[np.int64]:
    """Return the smallest k with P(Bin(n, p) >= k) < alpha: the detection limit of n trials.

    Where even k = n is not significant, and where p is NaN, the answer is n + 1.
    """
    trials, chance = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(p, dtype=np.float64))
    shape = trials.shape
    of, chances = column(trials.ravel(), np.int64, "n"), doubles(chance.ravel(), "p")
    out = np.empty(of.size, dtype=np.int64)
    spread(
        lambda a, b: _smallest_counts(of[a:b], chances[a:b], float(alpha), out[a:b]),
        out.size,
        10 * _TAIL_OPERATIONS,
    )
    return out.reshape(shape)


def poisson_binomial_upper(k: int, p: ArrayLike) -> float:
    """Return P(at least k hits) in independent trials with chances p, by exact recursion over the trials.

    Parameters
    ----------
    k
        Hits.
    p
        Chance of each trial, shape (m,), each in [0, 1]; a NaN among them gives NaN.

    Notes
    -----
    Only positive numbers are added, so small tails keep their digits down to 1e-300. Time is O(m min(k, m - k)).
    """
    chances = doubles(p, "p")
    if bool(np.isnan(chances).any()):
        return math.nan
    if chances.size and (chances.min() < 0.0 or chances.max() > 1.0):
        raise ValueError("chances must lie between 0 and 1")
    return float(_poisson_binomial(int(k), chances))


def mcnemar(b: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
    """Return the exact two-sided p of McNemar's test from the two discordant counts.

    It is twice the tail of the larger count in Bin(b + c, 1/2), at most 1; no discordant pair gives 1.
    """
    first, second = np.broadcast_arrays(np.asarray(b, dtype=np.int64), np.asarray(c, dtype=np.int64))
    tail = binomial_upper(np.maximum(first, second), first + second, _EVEN)
    return np.asarray(np.minimum(1.0, 2.0 * tail), dtype=np.float64)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Return the q value of each p value: the smallest false discovery rate at which it is rejected.

    Parameters
    ----------
    p
        All p values of the family, shape (m,); the caller sets an untested one to 1. NaN raises ValueError.

    Notes
    -----
    Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995: q of the i-th smallest is the least of
    ``m p_(j) / j`` over j >= i, at most 1.
    """
    values = np.asarray(p, dtype=np.float64)
    if bool(np.isnan(values).any()):
        raise ValueError("p values must be numbers: set an untested one to 1")
    order = np.argsort(values, kind="stable")
    m = values.size
    steps = values[order] * m / np.arange(1, m + 1)
    q = np.empty_like(values)
    q[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return q


def bh_level(p: ArrayLike, alpha: float) -> float:
    """Return the run's operating point: the largest p value whose q is below alpha, NaN where none is."""
    values = np.asarray(p, dtype=np.float64)
    rejected = values[benjamini_hochberg(values) < alpha]
    return float(rejected.max()) if rejected.size else math.nan


@kernel()
def _upper_tails(
    k: NDArray[np.float64], n: NDArray[np.float64], p: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    for i in range(len(k)):
        out[i] = upper_tail(k[i], n[i], p[i])


@kernel()
def _smallest_counts(
    n: NDArray[np.int64], p: NDArray[np.float64], alpha: float, out: NDArray[np.int64]
) -> None:
    for i in range(len(n)):
        # The tail falls with k: not significant at `below`, significant (or n + 1) at `above`.
        below, above = -1, n[i] + 1
        while above - below > 1:
            middle = (below + above) // 2
            if upper_tail(float(middle), float(n[i]), p[i]) < alpha:
                above = middle
            else:
                below = middle
        out[i] = above


@kernel()
def _poisson_binomial(k: int, p: NDArray[np.float64]) -> float:
    m = len(p)
    if k <= 0:
        return 1.0
    if k > m:
        return 0.0
    # chance[j] = P(j hits so far) for j < k; chance[k] gathers all that have reached k.
    chance = np.zeros(k + 1)
    chance[0] = 1.0
    for i in range(m):
        hit, miss = p[i], 1.0 - p[i]
        top = min(i + 1, k)
        if top == k:
            chance[k] += chance[k - 1] * hit
        # What has too few hits by now to reach k in the trials that are left needs no more care.
        least = max(k - (m - i), 0)
        for j in range(min(top, k - 1), least, -1):
            chance[j] = chance[j] * miss + chance[j - 1] * hit
        chance[0] *= miss
    return float(chance[k])
