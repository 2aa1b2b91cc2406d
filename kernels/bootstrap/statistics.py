"""The enumerated statistics, and the plan by which each is resampled."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._columns import doubles
from .plans import Floats, Order, Pairs, Plan, Side, Sums, clusters


class Statistic(Enum):
    """What is computed of a sample x, of pairs (x, y), or of two samples x and y."""

    MEAN = "mean"
    SUM = "sum"
    PROPORTION = "proportion"
    """Mean of zeros and ones."""
    MEDIAN = "median"
    QUANTILE = "quantile"
    RATIO_OF_MEANS = "ratio_of_means"
    """mean(x) / mean(y) on the extended reals: infinite over zero, undefined for 0/0."""
    DIFFERENCE_OF_MEANS = "difference_of_means"
    """mean(x) - mean(y)."""
    MAE = "mae"
    """Mean of |x - y| over pairs."""
    MEDAE = "medae"
    RMSE = "rmse"
    PEARSON = "pearson"
    SPEARMAN = "spearman"


def plan(
    statistic: Statistic,
    x: ArrayLike,
    y: ArrayLike | None,
    cluster: NDArray[np.int64] | None,
    cluster_y: NDArray[np.int64] | None,
    paired: bool,
    q: float,
) -> Plan:
    """Return the plan of a statistic; the parameters are those of `bootstrap.interval`."""
    first = numbers(x, "x")
    if statistic in _ONE_SAMPLE:
        if y is not None:
            raise ValueError(f"{statistic.value} takes one sample")
        return _ONE_SAMPLE[statistic](first, cluster, q)
    if y is None:
        raise ValueError(f"{statistic.value} needs a second sample, y")
    second = numbers(y, "y")
    if statistic in _TWO_SAMPLES and not paired:
        sides = (Side.mean(first, cluster), Side.mean(second, cluster_y))
        return Sums(sides, _TWO_SAMPLES[statistic])
    same_length(first, second)
    return _OF_PAIRS[statistic](first, second, cluster)


def _proportion(x: Floats, cluster: NDArray[np.int64] | None, _q: float) -> Plan:
    if not np.isin(x, (0.0, 1.0)).all():
        raise ValueError("a proportion takes zeros and ones")
    return Sums((Side.mean(x, cluster),), _itself)


def _sum(x: Floats, cluster: NDArray[np.int64] | None, _q: float) -> Plan:
    # Of clusters it is the sum over as many clusters as there are, however many values those hold.
    group = clusters(cluster, x.size)
    totals = np.bincount(group.of, weights=x, minlength=group.number).astype(np.float64)
    return Sums((Side(totals),), lambda mean: group.number * mean)


def _itself(mean: Floats) -> Floats:
    return mean


_ONE_SAMPLE: Final[dict[Statistic, Callable[[Floats, NDArray[np.int64] | None, float], Plan]]] = {
    Statistic.MEAN: lambda x, cluster, _q: Sums((Side.mean(x, cluster),), _itself),
    Statistic.SUM: _sum,
    Statistic.PROPORTION: _proportion,
    Statistic.MEDIAN: lambda x, cluster, _q: Order.of(x, cluster, 0.5),
    Statistic.QUANTILE: lambda x, cluster, q: Order.of(x, cluster, _share(q)),
}
_TWO_SAMPLES: Final[dict[Statistic, Callable[[Floats, Floats], Floats]]] = {
    Statistic.RATIO_OF_MEANS: np.divide,
    Statistic.DIFFERENCE_OF_MEANS: np.subtract,
}
_OF_PAIRS: Final[dict[Statistic, Callable[[Floats, Floats, NDArray[np.int64] | None], Plan]]] = {
    Statistic.RATIO_OF_MEANS: lambda x, y, cluster: Sums((Side.ratio(x, y, cluster),), _itself),
    Statistic.DIFFERENCE_OF_MEANS: lambda x, y, cluster: Sums((Side.mean(x - y, cluster),), _itself),
    Statistic.MAE: lambda x, y, cluster: Sums((Side.mean(np.abs(x - y), cluster),), _itself),
    Statistic.MEDAE: lambda x, y, cluster: Order.of(np.abs(x - y), cluster, 0.5),
    Statistic.RMSE: lambda x, y, cluster: Sums((Side.mean((x - y) ** 2, cluster),), np.sqrt),
    Statistic.PEARSON: lambda x, y, cluster: Pairs(x, y, cluster, "pearson"),
    Statistic.SPEARMAN: lambda x, y, cluster: Pairs(x, y, cluster, "spearman"),
}


def numbers(values: ArrayLike, name: str) -> Floats:
    """Return the values as doubles of one dimension; refuse NaN and infinity by their place."""
    array = doubles(values, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not finite: leave such values out")
    return array


def same_length(x: Floats, y: Floats) -> None:
    """Refuse pairs of unequal samples."""
    if x.size != y.size:
        raise ValueError(f"pairs need two samples of one length, not {x.size} and {y.size}")


def _share(q: float) -> float:
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"q must lie between 0 and 1, not {q}")
    return q
