"""Bootstrap distributions and intervals of an enumerated set of statistics.

Conventions. A quantile of a sample or of resamples is linear between order statistics (numpy's default). An interval
is made of the resamples on which the statistic is defined; their number that were not is reported, and if they are
more than 2.5 % the bounds are NaN. A statistic may be infinite (a ratio over zero): infinities are ordered with the
rest. About an infinite estimate the basic interval is undefined in every resample.

Degenerate samples. Equal values (or errors) throughout: both bounds equal the estimate (correlations: undefined).
One value: the same. No value: everything is NaN and every resample undefined. BCa where all resamples lie on one side
of the estimate: their share is taken as half a resample from the end; its acceleration is 0 where the leave-one-out
values are constant or not finite.

Resample r of a seed is the same in every call, chunk and thread.
"""

from __future__ import annotations

import math
from enum import Enum
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .exact import order_statistic_quantile, proportion_quantile
from .nesting import NestedTables, resample_nested
from .pairs import MEASURES
from .plans import Floats, Order, Pairs, Plan, Sums, acceleration
from .selecting import CHUNK, Levels, select
from .statistics import Statistic, numbers, plan, same_length

__all__ = [
    "Errors",
    "Interval",
    "Method",
    "Nested",
    "Statistic",
    "distribution",
    "errors",
    "interval",
    "nested",
    "nested_distribution",
]

UNDEFINED_SHARE: Final = 0.025


class Method(Enum):
    """How an interval is read from the resamples (Efron and Tibshirani 1993, chapters 13 and 14)."""

    PERCENTILE = "percentile"
    BASIC = "basic"
    BCA = "bca"


class Interval(NamedTuple):
    """An estimate with its bounds, and how many resamples left the statistic undefined."""

    estimate: float
    low: float
    high: float
    n_undefined: int


class Errors(NamedTuple):
    """Error measures and correlations of answers and labels."""

    mae: Interval
    medae: Interval
    rmse: Interval
    pearson: Interval
    spearman: Interval


class Nested(NamedTuple):
    """The nested rates of a cell: m2/m1, m3/m2, m3/n."""

    R12: Interval
    R23: Interval
    hit3: Interval


def interval(
    statistic: Statistic,
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    resamples: int,
    seed: int,
    level: float = 0.95,
    method: Method = Method.PERCENTILE,
    cluster: NDArray[np.int64] | None = None,
    cluster_y: NDArray[np.int64] | None = None,
    paired: bool = False,
    q: float = 0.5,
) -> Interval:
    """Return a bootstrap interval.

    Parameters
    ----------
    statistic
        One of `Statistic`.
    x, y
        Finite numbers, shape (n,). ``y`` is needed by the statistics of pairs (same length) and by the ratio and
        difference of means, where it is a second, independent sample unless ``paired``.
    resamples, seed
        How many, and any 64-bit integer.
    cluster, cluster_y
        Integer labels, shape (n,): values of one cluster are drawn together, and clusters are what is drawn.
        ``cluster_y`` belongs to a second independent sample.
    q
        The quantile of `Statistic.QUANTILE`.

    Notes
    -----
    Memory does not depend on ``resamples``, yet bounds equal those of the whole sorted distribution. For a
    proportion, and for a median or quantile that is a single order statistic, all without clusters, the
    percentile and basic bounds are the exact ones of infinitely many resamples; ``resamples`` and ``seed`` then
    play no part.
    """
    _check(resamples, level)
    chosen = plan(statistic, x, y, cluster, cluster_y, paired, q)
    tail = 0.5 * (1.0 - level)
    exact = None if cluster is not None or method is Method.BCA else _exact(statistic, chosen, tail)
    if exact is not None:
        return _finish(chosen.estimate, *exact, 0, resamples, method)
    at = _bca_levels(tail, acceleration(chosen.leave_one_out())) if method is Method.BCA else _fixed(tail)
    found = select(
        lambda first, count: chosen.draw(seed, first, count)[None],
        resamples,
        np.array([chosen.estimate]),
        [at],
    )
    return _finish(chosen.estimate, *found[0], resamples, method)


def distribution(
    statistic: Statistic,
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    resamples: int,
    seed: int,
    first: int = 0,
    cluster: NDArray[np.int64] | None = None,
    cluster_y: NDArray[np.int64] | None = None,
    paired: bool = False,
    q: float = 0.5,
) -> Floats:
    """Return the statistic of resamples ``first, ..., first + resamples - 1`` of the seed, shape (resamples,).

    Parameters are those of `interval`; NaN where the statistic is undefined.
    """
    return plan(statistic, x, y, cluster, cluster_y, paired, q).draw(seed, first, resamples)


def errors(
    pred: ArrayLike,
    label: ArrayLike,
    cluster: NDArray[np.int64] | None,
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> Errors:
    """Return five measures of answers against labels with percentile intervals from one resampling of pairs.

    Parameters
    ----------
    pred, label
        Finite numbers, shape (n,).
    cluster
        The molecule of each pair where molecules have several answers, else None.
    """
    _check(resamples, level)
    x, y = numbers(pred, "pred"), numbers(label, "label")
    same_length(x, y)
    pairs = Pairs(x, y, cluster)
    at = [_fixed(0.5 * (1.0 - level))] * len(MEASURES)
    found = select(lambda first, count: pairs.draw_all(seed, first, count), resamples, pairs.estimates, at)
    measured = [
        _finish(float(estimate), *bounds, resamples, Method.PERCENTILE)
        for estimate, bounds in zip(pairs.estimates, found, strict=True)
    ]
    off = np.abs(x - y)
    if off.size and off.min() == off.max():
        measured[:3] = [Interval(float(off[0]), float(off[0]), float(off[0]), 0)] * 3
    return Errors(*measured)


def nested(m1: int, m2: int, m3: int, n: int, *, resamples: int, seed: int, level: float = 0.95) -> Nested:
    """Return percentile intervals of the nested rates of a cell with n scorable pairs, m1 >= m2 >= m3 nested hits.

    A resample of the pairs matters only through how many of the four kinds (no hit, one, two, three figures)
    it holds, which is multinomial: three binomial draws replace n index draws.
    """
    _check(resamples, level)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimates = np.divide([m2, m3, m3], [m1, m2, n])
    at = [_fixed(0.5 * (1.0 - level))] * 3
    tables = NestedTables.of(m1, m2, m3, n)
    memory = np.empty(
        3 * min(CHUNK, resamples), dtype=np.int64
    )  # used again: fresh pages cost more than the draws
    found = select(
        lambda first, count: _rates(tables, seed, first, memory[: 3 * count].reshape(3, count)),
        resamples,
        estimates,
        at,
    )
    return Nested(
        *(
            _finish(float(estimate), *bounds, resamples, Method.PERCENTILE)
            for estimate, bounds in zip(estimates, found, strict=True)
        )
    )


def nested_distribution(
    m1: int, m2: int, m3: int, n: int, *, resamples: int, seed: int, first: int = 0
) -> NDArray[np.int64]:
    """Return m1, m2 and m3 of resamples ``first, ...`` of a cell, shape (3, resamples)."""
    counts = np.empty((3, resamples), dtype=np.int64)
    resample_nested(NestedTables.of(m1, m2, m3, n), seed, first, counts)
    return counts


def _rates(tables: NestedTables, seed: int, first: int, counts: NDArray[np.int64]) -> Floats:
    resample_nested(tables, seed, first, counts)
    one, two, three = counts
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([two / one, three / two, np.divide(three, tables.n)])


def _exact(statistic: Statistic, chosen: Plan, tail: float) -> tuple[float, float] | None:
    """Return both quantiles of infinitely many resamples where they have a closed form."""
    if isinstance(chosen, Order):
        return order_statistic_quantile(chosen.ordered, chosen.q, (tail, 1.0 - tail))
    if statistic is Statistic.PROPORTION and isinstance(chosen, Sums):
        values = chosen.sides[0].top
        return proportion_quantile(int(values.sum()), values.size, (tail, 1.0 - tail))
    return None


def _fixed(tail: float) -> Levels:
    return lambda _share_below: (tail, 1.0 - tail)


def _bca_levels(tail: float, a: float) -> Levels:
    quantile = NormalDist().inv_cdf

    def levels(share_below: float) -> tuple[float, float]:
        bias = quantile(share_below)
        shifted = [bias + quantile(t) for t in (tail, 1.0 - tail)]
        low, high = (0.5 * math.erfc(-(bias + z / (1.0 - a * z)) / math.sqrt(2.0)) for z in shifted)
        return low, high

    return levels


def _finish(
    estimate: float, low: float, high: float, n_undefined: int, resamples: int, method: Method
) -> Interval:
    if method is Method.BASIC and math.isinf(estimate):
        n_undefined = resamples  # nothing can be reflected about an infinite estimate
    elif method is Method.BASIC:
        low, high = 2 * estimate - high, 2 * estimate - low
    if n_undefined > UNDEFINED_SHARE * resamples:
        low = high = math.nan
    return Interval(estimate, low, high, n_undefined)


def _check(resamples: int, level: float) -> None:
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
