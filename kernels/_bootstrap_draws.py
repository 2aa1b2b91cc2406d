"""Statistics of resamples, one kernel for each way of summing up a resample.

Every kernel takes ``first`` and ``count``: resample number r is the same whichever call computes it. A resample of
n items takes words 0, 1, 2, ... of its key, two indices from each. Sums run in a fixed order over four registers,
so their bits depend neither on threads nor on the width of the machine's vectors.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from .compile import device, kernel
from .streams import high_below, key, low_below, word

# Resamples that share one scratch array: enough to hide its allocation, few enough to spread over threads.
_BLOCK = 32
# Draws whose indices are held at a time: an even number, and few enough for the first cache.
_PIECE = 2048


@device
def _mean_of_resample(values: NDArray[np.float64], state: np.uint64, indices: NDArray[np.uint32]) -> float:
    """Return the mean of one resample, a piece of draws at a time, in four registers.

    Indices first, sums after: then hashing runs in vectors and four sums in parallel, 2.3 G draws/s on a core. In
    one loop LLVM does neither (1.1 G draws/s, and half of it with more registers; numba 0.68, AVX-512).
    """
    n = len(values)
    size = np.uint64(n)
    a = b = c = d = 0.0
    for start in range(0, n, _PIECE):
        drawn = min(_PIECE, n - start)
        for pair in range((drawn + 1) // 2):
            bits = word(state, start // 2 + pair)
            indices[2 * pair] = high_below(bits, size)
            indices[2 * pair + 1] = low_below(bits, size)
        for i in range(drawn // 4):
            a += values[indices[4 * i]]
            b += values[indices[4 * i + 1]]
            c += values[indices[4 * i + 2]]
            d += values[indices[4 * i + 3]]
        for i in range(4 * (drawn // 4), drawn):
            a += values[indices[i]]
    return ((a + b) + (c + d)) / n


@kernel(parallel=True)
def resample_means(
    values: NDArray[np.float64], seed: int, stream: int, first: int, count: int
) -> NDArray[np.float64]:
    """Return the mean of each resample of the values."""
    out = np.empty(count)
    for block in numba.prange((count + _BLOCK - 1) // _BLOCK):
        indices = np.empty(min(_PIECE, len(values)) + 1, dtype=np.uint32)
        for r in range(block * _BLOCK, min(count, (block + 1) * _BLOCK)):
            out[r] = _mean_of_resample(values, key(seed, stream, first + r), indices)
    return out


@kernel(parallel=True)
def resample_ratios(
    top: NDArray[np.float64], bottom: NDArray[np.float64], seed: int, stream: int, first: int, count: int
) -> NDArray[np.float64]:
    """Return the ratio of two sums over the same resampled items: inf over a zero bottom, NaN for 0/0."""
    out = np.empty(count)
    n = len(top)
    size = np.uint64(n)
    for r in numba.prange(count):
        state = key(seed, stream, first + r)
        a = b = c = d = 0.0
        for pair in range(n // 2):
            bits = word(state, pair)
            one, two = high_below(bits, size), low_below(bits, size)
            a += top[one]
            b += top[two]
            c += bottom[one]
            d += bottom[two]
        if n & 1:
            one = high_below(word(state, n // 2), size)
            a += top[one]
            c += bottom[one]
        out[r] = (a + b) / (c + d)
    return out


@device
def draw_weights(weights: NDArray[np.int64], state: np.uint64) -> None:
    """Overwrite the weights by the number of times that each item is in one resample."""
    n = len(weights)
    size = np.uint64(n)
    weights[:] = 0
    for pair in range(n // 2):
        bits = word(state, pair)
        weights[high_below(bits, size)] += 1
        weights[low_below(bits, size)] += 1
    if n & 1:
        weights[high_below(word(state, n // 2), size)] += 1


@device
def leave_out(weights: NDArray[np.int64], item: int) -> None:
    """Overwrite the weights by ones, and a zero for the item (none where it is negative)."""
    weights[:] = 1
    if item >= 0:
        weights[item] = 0


@device
def weighted_quantile(
    ordered: NDArray[np.float64], weights: NDArray[np.int64], total: int, q: float
) -> float:
    """Return the linear quantile of values in ascending order, each as often as its weight says."""
    if total == 0:
        return math.nan
    position = q * (total - 1)
    rank = math.floor(position)
    share = position - rank
    seen = 0
    i = 0
    while seen + weights[i] <= rank:
        seen += weights[i]
        i += 1
    lower = float(ordered[i])
    if share == 0.0 or seen + weights[i] > rank + 1:
        return lower
    i += 1
    while weights[i] == 0:
        i += 1
    return lower + share * (float(ordered[i]) - lower)


@kernel(parallel=True)
def resample_quantiles(
    ordered: NDArray[np.float64],
    cluster: NDArray[np.int64],
    n_clusters: int,
    q: float,
    seed: int,
    stream: int,
    first: int,
    count: int,
    leave_one_out: bool,
) -> NDArray[np.float64]:
    """Return the quantile of each resample, or with each cluster left out (number -1: none).

    ``ordered`` ascends; ``cluster`` holds the cluster of each of its values, numbered from 0.
    """
    out = np.empty(count)
    n = len(ordered)
    for block in numba.prange((count + _BLOCK - 1) // _BLOCK):
        of_clusters = np.empty(n_clusters, dtype=np.int64)
        weights = np.empty(n, dtype=np.int64)
        for r in range(block * _BLOCK, min(count, (block + 1) * _BLOCK)):
            if leave_one_out:
                leave_out(of_clusters, first + r)
            else:
                draw_weights(of_clusters, key(seed, stream, first + r))
            total = 0
            for i in range(n):
                weights[i] = of_clusters[cluster[i]]
                total += weights[i]
            out[r] = weighted_quantile(ordered, weights, total, q)
    return out
