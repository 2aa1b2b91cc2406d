"""Five measures of how answers and labels agree, all on the same resample of molecules.

A resample is held as the weights of the pairs. Order is found once, before resampling: the median of a resample lies
near that of the sample, so only the weights of the errors near it are looked at one by one, and a rank is a running
sum of weights over the groups of equal values. So every resample costs O(n).
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..machine.threads import spread
from .measures import LANES, SUMS, Floats, Indices, Weights, about_means, add_up, find_medians, rank, weigh

MEASURES: Final = ("mae", "medae", "rmse", "pearson", "spearman")

_WEIGHTS_AT_ONCE: Final = 64 * 1024
"""Weights of some resamples that are held at a time: 256 kB, which a second cache takes."""

_WINDOW: Final = 3.0
"""Roots of n to either side of the sample's median in which that of a resample is looked for first: six standard
deviations."""

_CANCELLED: Final = 1e-6
"""Share of a sum of squares that is left around the resample's mean, below which it is summed anew around it."""


class PairData(NamedTuple):
    """Pairs made ready for resampling; ``x, y, error`` are padded with zeros to a multiple of `LANES`.

    ``x`` and ``y`` are taken about their means; ``error`` is |x - y|; ``group_x`` and ``group_y`` number the distinct
    values of each side in ascending order; ``by_error`` lists the pairs in ascending order of their error, and
    ``below`` is 1 for those before number ``window`` of that list. ``cluster`` numbers the clusters from 0; it is
    empty where every pair is its own.
    """

    x: Floats
    y: Floats
    error: Floats
    group_x: Indices
    group_y: Indices
    by_error: Indices
    below: Weights
    window: int
    cluster: Indices
    n_clusters: int
    n_groups_x: int
    n_groups_y: int


def prepare(x: Floats, y: Floats, cluster: NDArray[np.int64], n_clusters: int) -> PairData:
    """Order the pairs by absolute error and number the distinct values of both sides."""
    error = np.abs(x - y)
    order = np.argsort(error, kind="stable").astype(np.uint32)
    distinct_x, group_x = np.unique(x, return_inverse=True)
    distinct_y, group_y = np.unique(y, return_inverse=True)
    alone = np.array_equal(cluster, np.arange(x.size))
    deviation = math.sqrt(float((np.bincount(cluster, minlength=1) ** 2).sum()))
    window = max(0, int(0.5 * x.size - _WINDOW * deviation))
    below = np.zeros(x.size, dtype=np.int32)
    below[order[:window]] = 1
    return PairData(
        _padded(_centred(x)),
        _padded(_centred(y)),
        _padded(error),
        group_x.astype(np.uint32),
        group_y.astype(np.uint32),
        order,
        below,
        window,
        np.empty(0, dtype=np.uint32) if alone else cluster.astype(np.uint32),
        n_clusters,
        distinct_x.size,
        distinct_y.size,
    )


def _centred(values: Floats) -> Floats:
    # A correlation does not know the centre; near it little cancels.
    return values - values.mean() if values.size else values


def _padded(values: Floats) -> Floats:
    padded = np.zeros(-(-values.size // LANES) * LANES)
    padded[: values.size] = values
    return padded


def resample_pairs(
    data: PairData, seed: int, stream: int, first: int, count: int, leave_one_out: bool
) -> Floats:
    """Return the five measures of each resample, or with each cluster left out (number -1: none).

    The shape is (5, count), the rows in the order of ``MEASURES``. A correlation is NaN where a side of the
    resample holds one value only; all are NaN where nothing is left.
    """
    n = data.by_error.size
    sums, medians = np.empty((count, SUMS)), np.empty(count)
    ranked, total = np.empty((count, 3)), np.empty(count, dtype=np.int64)
    at_once = max(1, _WEIGHTS_AT_ONCE // max(1, data.x.size))

    def measure(begin: int, end: int) -> None:
        weights = np.zeros((min(at_once, end - begin), data.x.size), dtype=np.int32)
        for start in range(begin, end, at_once):
            stop = min(start + at_once, end)
            drawn, part = weights[: stop - start], slice(start, stop)
            weigh(
                n,
                data.cluster,
                data.n_clusters,
                seed,
                stream,
                first + start,
                leave_one_out,
                drawn,
                total[part],
            )
            add_up(drawn, data.error, data.x, data.y, sums[part])
            find_medians(
                drawn, total[part], data.error, data.by_error, data.below, data.window, medians[part]
            )
            rank(
                drawn, total[part], data.group_x, data.group_y, data.n_groups_x, data.n_groups_y, ranked[part]
            )

    spread(measure, count, 20 * n)
    varies = (ranked[:, 0] > 0.0) & (ranked[:, 1] > 0.0)
    pearson = np.where(varies, _pearson(sums, total), np.nan)
    for r in np.flatnonzero(np.isinf(pearson)).tolist():
        weights, one = np.zeros((1, data.x.size), dtype=np.int32), np.empty(1, dtype=np.int64)
        weigh(n, data.cluster, data.n_clusters, seed, stream, first + r, leave_one_out, weights, one)
        pearson[r] = about_means(weights[0], float(one[0]), data.x, data.y, sums[r, 2], sums[r, 3])
    with np.errstate(invalid="ignore", divide="ignore"):
        mae, rmse = sums[:, 0] / total, np.sqrt(sums[:, 1] / total)
        spearman = _correlations(ranked[:, 2], ranked[:, 0], ranked[:, 1])
    return np.stack([mae, medians, rmse, pearson, np.where(varies, spearman, np.nan)])


def _pearson(sums: Floats, total: NDArray[np.int64]) -> Floats:
    """Return the correlations by their sums; infinite where those have lost too many digits to say."""
    with np.errstate(all="ignore"):
        xx = sums[:, 4] - sums[:, 2] * (sums[:, 2] / total)
        yy = sums[:, 5] - sums[:, 3] * (sums[:, 3] / total)
        xy = sums[:, 6] - sums[:, 2] * (sums[:, 3] / total)
        sound = (xx > _CANCELLED * sums[:, 4]) & (yy > _CANCELLED * sums[:, 5])
        return np.where(sound | (total == 0), _correlations(xy, xx, yy), np.inf)


def _correlations(cross: Floats, square_x: Floats, square_y: Floats) -> Floats:
    """Return cross / sqrt(square_x square_y), by two roots lest the product over- or underflow."""
    return np.clip(cross / np.sqrt(square_x) / np.sqrt(square_y), -1.0, 1.0)
