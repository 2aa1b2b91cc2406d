"""Collapse ratios: how much better a model does where the source's label is also the target's (METHOD 2.4).

A ratio above 1 always means that the consistent group does better; for errors it is the inverse. Over zero it is
infinite (ours: the study calls it undefined in one place and infinite in another), 0/0 is undefined and None.

Intervals. Rates: Koopman's score interval where every sample is a cluster of its own. All others: a bootstrap of
whole clusters within the consistent group, the inconsistent group, and the clusters that have samples of both.
Quantiles are those of the inverted distribution function, without interpolation, for ratios may be infinite (they
are the same on the log scale); where more than 2.5 % of the resamples are 0/0, the interval is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

UNDEFINED_SHARE = 0.025
_STEPS = 200


class Ratio(NamedTuple):
    """A ratio and its interval; None where undefined, infinity where it is over zero."""

    value: float | None
    low: float | None
    high: float | None


def collapse_ratio(
    consistent: float | None, inconsistent: float | None, *, error: bool = False
) -> float | None:
    """score(consistent) / score(inconsistent); with ``error`` the inverse.

    Examples
    --------
    >>> collapse_ratio(0.75, 0.5), collapse_ratio(5, 20, error=True), collapse_ratio(1, 0), collapse_ratio(0, 0)
    (1.5, 4.0, inf, None)
    """
    if consistent is None or inconsistent is None:
        return None
    top, bottom = (inconsistent, consistent) if error else (consistent, inconsistent)
    if bottom == 0:
        return math.inf if top > 0 else None
    return top / bottom


def koopman(x1: int, n1: int, x2: int, n2: int, level: float = 0.95) -> tuple[float, float] | None:
    """Score interval of a ratio of two independent rates, (x1/n1) / (x2/n2).

    Koopman, Biometrics 40, 1984: the ratios at which Pearson's statistic, with the rates that fit best under them,
    does not exceed the quantile of chi-square with one degree of freedom. None where both counts are 0.

    Raises
    ------
    ValueError
        Not 0 <= x <= n with n >= 1.
    """
    for x, n in ((x1, n1), (x2, n2)):
        if not 0 <= x <= n or n < 1:
            raise ValueError(f"found {x} of {n}; allowed: 0 <= x <= n, n >= 1")
    if x1 == x2 == 0:
        return None
    limit = float(special.chdtri(1, 1 - level))

    def excess(log_ratio: float) -> float:
        return _pearson(x1, n1, x2, n2, math.exp(log_ratio)) - limit

    # Where a rate is 0 or 1 the best ratio lies at an end; half a count stands in for where to start.
    start = math.log((x1 + 0.5) / (n1 + 0.5) / ((x2 + 0.5) / (n2 + 0.5)))
    start = math.log((x1 / n1) / (x2 / n2)) if x1 and x2 else start
    low = 0.0 if x1 == 0 else math.exp(_crossing(excess, start, -1.0))
    high = math.inf if x2 == 0 else math.exp(_crossing(excess, start, 1.0))
    return low, high


def _pearson(x1: int, n1: int, x2: int, n2: int, ratio: float) -> float:
    n = n1 + n2
    b = ratio * (n1 + x2) + x1 + n2
    root = math.sqrt(max(0.0, b * b - 4 * ratio * n * (x1 + x2)))
    # The smaller root, written without cancellation.
    p1 = min(1.0, 2 * ratio * (x1 + x2) / (b + root))
    p2 = min(1.0, p1 / ratio)
    return _term(x1, n1, p1) + _term(x2, n2, p2)


def _term(x: int, n: int, p: float) -> float:
    difference = x - n * p
    variance = n * p * (1 - p)
    if variance <= 0:
        return 0.0 if abs(difference) < 1e-9 else math.inf
    return difference * difference / variance


def _crossing(excess: Callable[[float], float], inside: float, direction: float) -> float:
    """Find where a function that grows away from ``inside`` crosses zero: doubling steps, then bisection."""
    if excess(inside) > 0:
        # The start is outside where a rate is at an end: walk back until it is inside.
        inside = _first_inside(excess, inside)
    step = 1.0
    while excess(inside + direction * step) < 0 and step < 1e3:
        step *= 2
    near, far = inside, inside + direction * step
    for _ in range(_STEPS):
        middle = 0.5 * (near + far)
        if excess(middle) < 0:
            near = middle
        else:
            far = middle
    return 0.5 * (near + far)


def _first_inside(excess: Callable[[float], float], start: float) -> float:
    around = [start + sign * 0.05 * k for k in range(1, 400) for sign in (-1, 1)]
    return next((at for at in around if excess(at) <= 0), start)


def ratio_of_rates(
    consistent: Sequence[float], inconsistent: Sequence[float], clusters: tuple[Sequence[int], Sequence[int]],
    *, resamples: int, seed: int, level: float = 0.95,
) -> Ratio:  # fmt: skip
    """Collapse ratio of scores that are 0 or 1: Koopman's interval, or of whole clusters where one has several."""
    numbers = [*clusters[0], *clusters[1]]
    if len(set(numbers)) < len(numbers) or not consistent or not inconsistent:
        return ratio_of_means(consistent, inconsistent, clusters, resamples=resamples, seed=seed, level=level)
    x1, x2 = round(sum(consistent)), round(sum(inconsistent))
    value = collapse_ratio(x1 / len(consistent), x2 / len(inconsistent))
    bounds = koopman(x1, len(consistent), x2, len(inconsistent), level)
    return Ratio(value, *(bounds if bounds is not None else (None, None)))


def ratio_of_means(
    consistent: Sequence[float], inconsistent: Sequence[float], clusters: tuple[Sequence[int], Sequence[int]],
    *, resamples: int, seed: int, level: float = 0.95, error: bool = False,
) -> Ratio:  # fmt: skip
    """Collapse ratio of mean scores, or of mean errors, with a bootstrap interval over clusters.

    Parameters
    ----------
    consistent, inconsistent
        Scores >= 0 of each group.
    clusters
        The cluster of every score, group by group.
    resamples, seed
        How many, and any whole number >= 0.
    """
    means = [math.fsum(g) / len(g) if g else None for g in (consistent, inconsistent)]
    value = collapse_ratio(means[0], means[1], error=error)
    if value is None:
        return Ratio(None, None, None)
    sums = _cluster_sums(consistent, inconsistent, clusters)
    drawn = _resampled(sums, resamples, np.random.default_rng(seed))
    return Ratio(value, *quantiles(_ratios(drawn, error), level))


def _cluster_sums(
    consistent: Sequence[float], inconsistent: Sequence[float], clusters: tuple[Sequence[int], Sequence[int]]
) -> list[NDArray[np.float64]]:
    """Sum and number of scores of each group in every cluster, float64[clusters, 4], by which groups it has."""
    table: dict[int, list[float]] = {}
    for group, scores in enumerate((consistent, inconsistent)):
        for score, cluster in zip(scores, clusters[group], strict=True):
            row = table.setdefault(cluster, [0.0, 0.0, 0.0, 0.0])
            row[2 * group] += score
            row[2 * group + 1] += 1
    kinds: dict[tuple[bool, bool], list[list[float]]] = {}
    for row in table.values():
        kinds.setdefault((row[1] > 0, row[3] > 0), []).append(row)
    return [np.array(rows) for rows in kinds.values()]


def _resampled(
    strata: list[NDArray[np.float64]], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    total = np.zeros((resamples, 4))
    for rows in strata:
        counts = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=resamples)
        total += counts @ rows
    return total


def _ratios(totals: NDArray[np.float64], error: bool) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore", divide="ignore"):
        means = totals[:, [0, 2]] / totals[:, [1, 3]]
        top, bottom = (means[:, 1], means[:, 0]) if error else (means[:, 0], means[:, 1])
        found: NDArray[np.float64] = top / bottom
    return found


def quantiles(ratios: NDArray[np.float64], level: float) -> tuple[float | None, float | None]:
    """Both ends of a percentile interval of ratios, NaN being 0/0; None where these are more than 2.5 %."""
    defined = np.sort(ratios[~np.isnan(ratios)])
    if len(ratios) - len(defined) > UNDEFINED_SHARE * len(ratios):
        return None, None
    tail = 0.5 * (1 - level)
    # The smallest value whose share of all at or below it reaches the tail.
    at = [max(0, math.ceil(share * len(defined) - 1e-9) - 1) for share in (tail, 1 - tail)]
    return float(defined[at[0]]), float(defined[at[1]])
