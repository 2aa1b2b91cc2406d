"""Bootstrap distributions that need no resampling: those of a proportion and of an order statistic."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..tails import binomial_upper


def proportion_quantile(k: int, n: int, levels: tuple[float, float]) -> tuple[float, float] | None:
    """Return two quantiles of the resampled proportion, which is Bin(n, k/n) / n; None without values."""
    if n == 0:
        return None
    above = binomial_upper(np.arange(1, n + 2), n, k / n)  # P(more than j hits), j = 0..n
    low, high = (int(np.argmax(above <= 1.0 - level)) / n for level in levels)
    return low, high


def order_statistic_quantile(
    ordered: NDArray[np.float64], q: float, levels: tuple[float, float]
) -> tuple[float, float] | None:
    """Return two quantiles of the resampled q-quantile of ascending values; None unless it is one of them.

    The r-th smallest of a resample is at most the j-th value if at least r of its n draws are among the first j,
    of which the chance is P(Bin(n, j/n) >= r).
    """
    n = ordered.size
    position = q * (n - 1)
    if n == 0 or position != math.floor(position):
        return None
    reached = binomial_upper(int(position) + 1, n, np.arange(1, n + 1) / n)
    low, high = (float(ordered[np.argmax(reached >= level)]) for level in levels)
    return low, high
