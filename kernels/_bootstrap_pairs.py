"""Five measures of how answers and labels agree, all on the same resample of molecules.

A resample is held as the weights of the molecules. Order is found once, before resampling: the median walks the
errors in ascending order, and a rank is a running sum of weights over the groups of equal values, so that every
resample costs O(n).
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ._bootstrap_draws import draw_weights, leave_out, weighted_quantile
from .compile import device, kernel
from .streams import key

MEASURES: Final = ("mae", "medae", "rmse", "pearson", "spearman")
_BLOCK = 32


class PairData(NamedTuple):
    """Pairs made ready for resampling; pairs stand in ascending order of their absolute error.

    ``error`` is |x - y|; ``group_x`` and ``group_y`` number the distinct values of each side in ascending order;
    ``cluster`` numbers the clusters from 0.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    error: NDArray[np.float64]
    group_x: NDArray[np.int64]
    group_y: NDArray[np.int64]
    cluster: NDArray[np.int64]
    n_clusters: int
    n_groups_x: int
    n_groups_y: int


def prepare(
    x: NDArray[np.float64], y: NDArray[np.float64], cluster: NDArray[np.int64], n_clusters: int
) -> PairData:
    """Sort the pairs by absolute error and number the distinct values of both sides."""
    error = np.abs(x - y)
    order = np.argsort(error, kind="stable")
    distinct_x, group_x = np.unique(x[order], return_inverse=True)
    distinct_y, group_y = np.unique(y[order], return_inverse=True)
    return PairData(
        x[order],
        y[order],
        error[order],
        group_x.astype(np.int64),
        group_y.astype(np.int64),
        cluster[order],
        n_clusters,
        distinct_x.size,
        distinct_y.size,
    )


@device
def _ranks(weights: NDArray[np.int64], group: NDArray[np.int64], ranks: NDArray[np.float64]) -> int:
    """Write the mid-rank of each group under the weights; return how many groups have any weight."""
    ranks[:] = 0.0
    for i in range(len(weights)):
        ranks[group[i]] += weights[i]
    before = 0.0
    present = 0
    for g in range(len(ranks)):
        here = ranks[g]
        if here > 0.0:
            present += 1
        ranks[g] = before + 0.5 * (here + 1.0)
        before += here
    return present


@device
def _correlation(cross: float, square_x: float, square_y: float) -> float:
    """Return cross / sqrt(square_x square_y), by two roots lest the product over- or underflow."""
    return max(-1.0, min(1.0, cross / math.sqrt(square_x) / math.sqrt(square_y)))


@device
def _measure(
    data: PairData,
    weights: NDArray[np.int64],
    rank_x: NDArray[np.float64],
    rank_y: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    total = 0
    sum_error = sum_square = sum_x = sum_y = 0.0
    for i in range(len(weights)):
        w = float(weights[i])
        error = data.error[i]
        total += weights[i]
        sum_error += w * error
        sum_square += w * error * error
        sum_x += w * data.x[i]
        sum_y += w * data.y[i]
    out[:] = math.nan
    if total == 0:
        return
    out[0] = sum_error / total
    out[1] = weighted_quantile(data.error, weights, total, 0.5)
    out[2] = math.sqrt(sum_square / total)
    present_x = _ranks(weights, data.group_x, rank_x)
    present_y = _ranks(weights, data.group_y, rank_y)
    if present_x < 2 or present_y < 2:
        return
    mean_x, mean_y, middle = sum_x / total, sum_y / total, 0.5 * (total + 1.0)
    xx = yy = xy = rxx = ryy = rxy = 0.0
    for i in range(len(weights)):
        w = float(weights[i])
        dx, dy = data.x[i] - mean_x, data.y[i] - mean_y
        xx += w * dx * dx
        yy += w * dy * dy
        xy += w * dx * dy
        dx, dy = rank_x[data.group_x[i]] - middle, rank_y[data.group_y[i]] - middle
        rxx += w * dx * dx
        ryy += w * dy * dy
        rxy += w * dx * dy
    out[3] = _correlation(xy, xx, yy)
    out[4] = _correlation(rxy, rxx, ryy)


@kernel(parallel=True)
def resample_pairs(
    data: PairData, seed: int, stream: int, first: int, count: int, leave_one_out: bool
) -> NDArray[np.float64]:
    """Return the five measures of each resample, or with each cluster left out (number -1: none).

    The shape is (5, count), the rows in the order of ``MEASURES``. A correlation is NaN where a side of the
    resample holds one value only; all are NaN where nothing is left.
    """
    out = np.empty((len(MEASURES), count))
    n = len(data.x)
    for block in numba.prange((count + _BLOCK - 1) // _BLOCK):
        of_clusters = np.empty(data.n_clusters, dtype=np.int64)
        weights = np.empty(n, dtype=np.int64)
        rank_x, rank_y = np.empty(data.n_groups_x), np.empty(data.n_groups_y)
        measured = np.empty(len(MEASURES))
        for r in range(block * _BLOCK, min(count, (block + 1) * _BLOCK)):
            if leave_one_out:
                leave_out(of_clusters, first + r)
            else:
                draw_weights(of_clusters, key(seed, stream, first + r))
            for i in range(n):
                weights[i] = of_clusters[data.cluster[i]]
            _measure(data, weights, rank_x, rank_y, measured)
            for i in range(len(measured)):
                out[i, r] = measured[i]
    return out
