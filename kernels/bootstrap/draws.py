"""Statistics of resamples, one kernel for each way of summing up a resample.

Every kernel takes ``first`` and ``count``: resample number r is the same whichever call computes it. A resample of
n items takes words 0, 1, 2, ... of its key, two indices from each. Sums run in a fixed order over four registers,
so their bits depend neither on threads nor on the width of the machine's vectors.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..machine.compile import device, kernel
from ..machine.threads import spread
from ..streams import high_below, key, low_below, word

Floats = NDArray[np.float64]

# Draws whose indices are held at a time: an even number, and few enough for the first cache.
AT_ONCE = 2048


@device
def _mean_of_resample(values: NDArray[np.float64], state: np.uint64, indices: NDArray[np.uint32]) -> float:
    """Return the mean of one resample, a piece of draws at a time, in four registers.

    Indices first, sums after: then hashing runs in vectors and four sums in parallel, 2.3 G draws/s on a core. In
    one loop LLVM does neither (1.1 G draws/s, and half of it with more registers; numba 0.68, AVX-512).
    """
    n = len(values)
    size = np.uint64(n)
    a = b = c = d = 0.0
    for start in range(0, n, AT_ONCE):
        drawn = min(AT_ONCE, n - start)
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


@kernel()
def means_of_resamples(
    values: NDArray[np.float64], seed: int, stream: int, first: int, out: NDArray[np.float64]
) -> None:
    """Write the mean of each resample of the values."""
    indices = np.empty(min(AT_ONCE, len(values)) + 1, dtype=np.uint32)
    for r in range(len(out)):
        out[r] = _mean_of_resample(values, key(seed, stream, first + r), indices)


@kernel()
def ratios_of_resamples(
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
    seed: int,
    stream: int,
    first: int,
    out: NDArray[np.float64],
) -> None:
    """Write the ratio of two sums over the same resampled items: inf over a zero bottom, NaN for 0/0."""
    n = len(top)
    size = np.uint64(n)
    for r in range(len(out)):
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


@device
def draw_weights(weights: NDArray[np.int32], state: np.uint64, indices: NDArray[np.uint32]) -> None:
    """Overwrite the weights by the number of times that each item is in one resample.

    ``indices`` has room for `AT_ONCE`: indices first and counts after take half the time of one loop.
    """
    n = len(weights)
    size = np.uint64(n)
    weights[:] = 0
    for start in range(0, n, AT_ONCE):
        drawn = min(AT_ONCE, n - start)
        for pair in range((drawn + 1) // 2):
            bits = word(state, start // 2 + pair)
            indices[2 * pair] = high_below(bits, size)
            indices[2 * pair + 1] = low_below(bits, size)
        for i in range(drawn):
            weights[indices[i]] += 1


@device
def leave_out(weights: NDArray[np.int32], item: int) -> None:
    """Overwrite the weights by ones, and a zero for the item (none where it is negative)."""
    weights[:] = 1
    if item >= 0:
        weights[item] = 0


@device
def weighted_quantile(
    ordered: NDArray[np.float64], weights: NDArray[np.int32], total: int, q: float
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


@kernel()
def quantiles_of_resamples(
    ordered: NDArray[np.float64],
    cluster: NDArray[np.int64],
    n_clusters: int,
    q: float,
    seed: int,
    stream: int,
    first: int,
    leave_one_out: bool,
    out: NDArray[np.float64],
) -> None:
    """Write the quantile of each resample, or with each cluster left out (number -1: none).

    ``ordered`` ascends; ``cluster`` holds the cluster of each of its values, numbered from 0.
    """
    n = len(ordered)
    of_clusters = np.empty(n_clusters, dtype=np.int32)
    weights = np.empty(n, dtype=np.int32)
    indices = np.empty(AT_ONCE, dtype=np.uint32)
    for r in range(len(out)):
        if leave_one_out:
            leave_out(of_clusters, first + r)
        else:
            draw_weights(of_clusters, key(seed, stream, first + r), indices)
        total = 0
        for i in range(n):
            weights[i] = of_clusters[cluster[i]]
            total += weights[i]
        out[r] = weighted_quantile(ordered, weights, total, q)


def resample_means(values: Floats, seed: int, stream: int, first: int, count: int) -> Floats:
    """Return the mean of each resample of the values, shape (count,)."""
    out = np.empty(count)
    spread(lambda a, b: means_of_resamples(values, seed, stream, first + a, out[a:b]), count, values.size)
    return out


def resample_ratios(top: Floats, bottom: Floats, seed: int, stream: int, first: int, count: int) -> Floats:
    """Return `ratios_of_resamples`, shape (count,)."""
    out = np.empty(count)
    spread(
        lambda a, b: ratios_of_resamples(top, bottom, seed, stream, first + a, out[a:b]), count, 2 * top.size
    )
    return out


def resample_quantiles(
    ordered: Floats,
    cluster: NDArray[np.int64],
    n_clusters: int,
    q: float,
    seed: int,
    stream: int,
    first: int,
    count: int,
    leave_one_out: bool,
) -> Floats:
    """Return `quantiles_of_resamples`, shape (count,)."""
    out = np.empty(count)

    def draw(a: int, b: int) -> None:
        place = (seed, stream, first + a, leave_one_out)
        quantiles_of_resamples(ordered, cluster, n_clusters, q, *place, out[a:b])

    spread(draw, count, 4 * ordered.size)
    return out
