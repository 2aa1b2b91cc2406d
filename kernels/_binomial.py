"""Binomial probabilities to nearly full precision: what exact tails and exact intervals are both made of.

Notation: n trials with chance x = 1 - y, and the upper tail T = P(Bin(n, x) >= k). Everything takes x and y
apart, so that a chance near one keeps its digits, and T is handled as ``pmf(k) * S``: the pmf by the saddle-point
form of Loader (Fast and accurate computation of binomial probabilities, 2000), and S, the sum of the terms of
the tail in units of its first, by a continued fraction or by quadrature.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from .machine.compile import device

# log(m!) minus Stirling's formula for m = 1..15 (index 0 unused); beyond, the series is exact to 1e-16.
_STIRLING_ERROR: Final = np.array(
    [
        0.0, 0.08106146679532726, 0.0413406959554093, 0.02767792568499834, 0.02079067210376509,
        0.01664469118982119, 0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
        0.009255462182712733, 0.008330563433362871, 0.007573675487951841, 0.006942840107209530,
        0.006408994188004207, 0.005951370112758848, 0.005554733551962801,
    ]
)  # fmt: skip

# Above this standard deviation of the count, quadrature beats the continued fraction (measured: they cross
# between 15 and 30), and its error, below 1e-10 of S, moves x by less than 1e-12 of itself.
_WIDE: Final = 25.0
_NODES: Final = 16
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(_NODES)
_POINTS = 0.5 * (_POINTS + 1.0)
_WEIGHTS = 0.5 * _WEIGHTS


@device
def _stirling_error(m: float) -> float:
    if m <= 15.0:
        return float(_STIRLING_ERROR[int(m)])
    s = 1.0 / (m * m)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - s / 1188) * s) * s) * s) / m


@device
def _deviance(m: float, mean: float) -> float:
    """Return m log(m / mean) + mean - m without cancellation where the two are near (Loader's bd0)."""
    gap = m - mean
    total = m + mean
    if abs(gap) >= 0.1 * total:
        return m * math.log(m / mean) - gap
    v = gap / total
    square = v * v
    series = 0.0
    for j in range(19, 1, -2):  # v is below 0.1: the next term would be under 1e-18
        series = series * square + 1.0 / j
    return gap * v + 2.0 * m * v * square * series


@device
def log_top(k: float, n: float) -> float:
    """Return log P(Bin(n, k/n) = k) for 1 <= k <= n - 1: the part of the pmf that does not depend on the chance."""
    rest = n - k
    correction = _stirling_error(n) - _stirling_error(k) - _stirling_error(rest)
    return correction + 0.5 * math.log(n / (6.283185307179586 * k * rest))


@device
def log_fall(k: float, n: float, x: float, y: float) -> float:
    """Return how far log P(Bin(n, x) = k) lies below `log_top`, for 0 < x < 1, y = 1 - x."""
    return _deviance(k, n * x) + _deviance(n - k, n * y)


@device
def tail_by_fraction(k: float, n: float, x: float, y: float, tolerance: float) -> float:
    """Return S by the continued fraction of DiDonato and Morris (ACM TOMS 18, 1992, BFRAC).

    Its numerators and denominators run forward, with one division a step: twice as fast as Lentz's form. Two steps
    to a test of convergence spare a sixth.
    """
    b = n - k + 1.0
    drift = k * y - b * x + 1.0
    rise = 1.0 + y
    square = x * x
    q = 1.0 / (k + 1.0)
    top_before, top = 1.0, k * drift * q
    bottom_before, bottom = 0.0, 1.0
    m = 1.0
    while m < 50_000.0:
        for _ in range(2):
            u = m * (b - m) * q
            above = u * q * square * ((k + m - 1.0) * (n + m))
            q = 1.0 / (k + 2.0 * m + 1.0)
            beside = m + u * x + (k + m) * (drift + m * rise) * q
            top_before, top = top, beside * top + above * top_before
            bottom_before, bottom = bottom, beside * bottom + above * bottom_before
            m += 1.0
        cross = top * bottom_before
        if abs(cross - top_before * bottom) < tolerance * abs(cross):
            return k * y * bottom / top
        if abs(top) > 1e100:
            top_before, top = top_before * 1e-100, top * 1e-100
            bottom_before, bottom = bottom_before * 1e-100, bottom * 1e-100
    return k * y * bottom / top


@device
def _quadrature(k: float, n: float, x: float, y: float) -> float:
    """Return S as k times the integral of exp(-k s + (n - k) log(1 + (x/y)(1 - exp(-s)))) over s > 0."""
    odds = x / y
    slope = k - (n - k) * odds
    bend = (n - k) * odds / y
    # The exponent stays below -slope s - (about) bend s^2 / 2: cut where that passes -36.
    end = 72.0 / (slope + math.sqrt(slope * slope + 72.0 * bend))
    total = 0.0
    for i in range(_NODES):
        s = end * _POINTS[i]
        total += _WEIGHTS[i] * math.exp((n - k) * math.log1p(-odds * math.expm1(-s)) - k * s)
    return k * end * total


@device
def tail_in_first_terms(k: float, n: float, x: float, y: float, tolerance: float) -> float:
    """Return S = P(Bin(n, x) >= k) / P(Bin(n, x) = k) for 1 <= k <= n, for k above the mean or near it."""
    if n * x * y > _WIDE * _WIDE:
        return _quadrature(k, n, x, y)
    return tail_by_fraction(k, n, x, y, tolerance)


@device
def upper_tail(k: float, n: float, p: float) -> float:
    """Return P(Bin(n, p) >= k): summed from the side where nothing cancels, relative error near 1e-13."""
    if not (0.0 <= p <= 1.0):
        return math.nan
    if k <= 0.0:
        return 1.0
    if k > n or p == 0.0:
        return 0.0
    if p == 1.0:
        return 1.0
    if k > n * p:
        return _far_tail(k, n, p, 1.0 - p)
    return 1.0 - _far_tail(n - k + 1.0, n, 1.0 - p, p)


@device
def _far_tail(k: float, n: float, x: float, y: float) -> float:
    if k == n:
        return math.exp(n * (math.log(x) if x < 0.5 else math.log1p(-y)))
    # The fraction always, for quadrature is a little coarse where the tail falls off steeply.
    return math.exp(log_top(k, n) - log_fall(k, n, x, y)) * tail_by_fraction(k, n, x, y, 1e-15)
