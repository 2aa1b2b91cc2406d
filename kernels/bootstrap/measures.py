"""The steps by which resamples of pairs are measured, each a kernel over some resamples.

Sums run over `LANES` registers, pair i in register i modulo their number: so the processor adds in vectors, and the
bits depend neither on threads nor on the width of the vectors. Ranks are whole numbers and their sums exact. Several
kernels over some resamples whose weights stay in the cache: together they compile in a third of
the time of one that does all, and other processes can compile the rest meanwhile.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..machine.compile import kernel
from ..streams import key
from .draws import AT_ONCE, draw_weights, leave_out

Floats = NDArray[np.float64]
Weights = NDArray[np.int32]
Indices = NDArray[np.uint32]

LANES: Final = 64

SUMS: Final = 7
"""Of a resample: error, error squared, x, y, x squared, y squared, x y."""

_EXACT: Final = 2_000_000
"""Weights in all, up to which the sums of products of doubled ranks stay below 2**63."""


@kernel()
def weigh(
    n: int,
    cluster: Indices,
    n_clusters: int,
    seed: int,
    stream: int,
    first: int,
    leave_one_out: bool,
    weights: Weights,
    total: NDArray[np.int64],
) -> None:
    """Write how often each of n pairs is in each resample, and how many pairs that are."""
    of_clusters = np.empty(n_clusters, dtype=np.int32)
    indices = np.empty(AT_ONCE, dtype=np.uint32)
    for r in range(len(weights)):
        row = weights[r]
        drawn = of_clusters if len(cluster) else row[:n]
        if leave_one_out:
            leave_out(drawn, first + r)
        else:
            draw_weights(drawn, key(seed, stream, first + r), indices)
        for i in range(len(cluster)):
            row[i] = of_clusters[cluster[i]]
        size = np.int64(0)
        for i in range(len(row)):
            size += row[i]
        total[r] = size


@kernel()
def add_up(weights: Weights, error: Floats, x: Floats, y: Floats, out: Floats) -> None:
    """Write the weighted sums of each resample."""
    lanes = np.empty((SUMS, LANES))
    errors, squares, xs, ys, xxs, yys, xys = (
        lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5], lanes[6]
    )  # fmt: skip
    for r in range(len(weights)):
        lanes[:] = 0.0
        for start in range(0, len(x), LANES):
            # Slices, for numba wraps a computed index round, which no vector does.
            w_, e_ = weights[r, start : start + LANES], error[start : start + LANES]
            x_, y_ = x[start : start + LANES], y[start : start + LANES]
            for j in range(LANES):
                w = float(w_[j])
                w_error, w_x, w_y = w * e_[j], w * x_[j], w * y_[j]
                errors[j] += w_error
                squares[j] += w_error * e_[j]
                xs[j] += w_x
                ys[j] += w_y
                xxs[j] += w_x * x_[j]
                yys[j] += w_y * y_[j]
                xys[j] += w_x * y_[j]
        out[r, :] = 0.0
        for j in range(LANES):
            for k in range(SUMS):
                out[r, k] += lanes[k, j]


@kernel()
def find_medians(
    weights: Weights,
    total: NDArray[np.int64],
    error: Floats,
    by_error: Indices,
    below: Weights,
    window: int,
    out: Floats,
) -> None:
    """Write the median error of each resample: the linear quantile, found by walking up from the window's start."""
    for r in range(len(weights)):
        row = weights[r]
        if total[r] == 0:
            out[r] = math.nan
            continue
        place = (total[r] - 1) // 2
        seen = np.int64(0)
        for i in range(len(below)):
            seen += row[i] * below[i]
        i = window
        if seen > place:
            seen, i = np.int64(0), 0
        here = row[by_error[i]]
        while seen + here <= place:
            seen += here
            i += 1
            here = row[by_error[i]]
        lower = error[by_error[i]]
        out[r] = lower
        if total[r] % 2 == 0 and seen + here == place + 1:
            i += 1
            while row[by_error[i]] == 0:
                i += 1
            out[r] = lower + 0.5 * (error[by_error[i]] - lower)


@kernel()
def rank(
    weights: Weights,
    total: NDArray[np.int64],
    group_x: Indices,
    group_y: Indices,
    n_groups_x: int,
    n_groups_y: int,
    out: Floats,
) -> None:
    """Write the sums of squares of both mid-ranks, doubled and about their middle, and that of their products."""
    ranks = np.empty((2, max(n_groups_x, n_groups_y)), dtype=np.int32)
    for r in range(len(weights)):
        row, size = weights[r], total[r]
        ranks[:] = 0
        for i in range(len(group_x)):
            ranks[0, group_x[i]] += row[i]
            ranks[1, group_y[i]] += row[i]
        for side in range(2):
            before, tied = np.int64(0), 0.0
            of_side = ranks[side]
            for g in range(len(of_side)):
                here = np.int64(of_side[g])
                of_side[g] = np.int32(2 * before + here - size)
                before += here
                tied += float(here) * here * here
            out[r, side] = (float(size) * size * size - tied) / 3.0
        exact, rounded = np.int64(0), 0.0
        if size <= _EXACT:
            for i in range(len(group_x)):
                exact += np.int64(row[i]) * ranks[0, group_x[i]] * ranks[1, group_y[i]]
        else:
            for i in range(len(group_x)):
                rounded += float(row[i]) * ranks[0, group_x[i]] * ranks[1, group_y[i]]
        out[r, 2] = float(exact) + rounded


@kernel()
def about_means(weights: Weights, total: float, x: Floats, y: Floats, sum_x: float, sum_y: float) -> float:
    """Return the correlation of one resample, summed about its own means."""
    xx = yy = xy = 0.0
    for i in range(len(x)):
        dx, dy = x[i] - sum_x / total, y[i] - sum_y / total
        xx += weights[i] * dx * dx
        yy += weights[i] * dy * dy
        xy += weights[i] * dx * dy
    return max(-1.0, min(1.0, xy / math.sqrt(xx) / math.sqrt(yy)))
