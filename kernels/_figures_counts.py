"""Agreement of answers with labels, counted per group in one pass over blocks.

A block's agreement patterns are computed without branches into a small buffer, so that they vectorise; the
scattered increments follow. Each chunk has its own table of counts: sums of integers know no order.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import prange
from numpy.typing import NDArray

from ._figures_codes import DIGIT_BITS, DIGIT_MASK, codes_device
from .compile import device, kernel

PATTERNS: Final = 8
BLOCK: Final = 512


@device
def _pattern(pred: float, label: float, prefix: bool) -> int:
    """Return bit k-1 set where the codes at k figures agree (or, with prefix, their first k digits)."""
    p1, p2, p3 = codes_device(pred)
    y1, y2, y3 = codes_device(label)
    counts = (p3 != 0) & (y3 != 0)
    if prefix:
        digits_p, digits_y = abs(p3) & DIGIT_MASK, abs(y3) & DIGIT_MASK
        same = ((abs(p3) >> DIGIT_BITS) == (abs(y3) >> DIGIT_BITS)) & ((p3 < 0) == (y3 < 0)) & counts
        one = same & (digits_p // 100 == digits_y // 100)
        two = same & (digits_p // 10 == digits_y // 10)
    else:
        one = (p1 == y1) & counts
        two = (p2 == y2) & counts
    three = (p3 == y3) & counts
    return (1 if one else 0) | (2 if two else 0) | (4 if three else 0)


@kernel(parallel=True)
def pattern_counts(
    pred: NDArray[np.float64],
    label: NDArray[np.float64],
    scorable: NDArray[np.bool_],
    group: NDArray[np.int64],
    n_groups: int,
    prefix: bool,
    chunks: int,
) -> NDArray[np.int64]:
    """Return int64[n_groups, 8]: scorable pairs by the precisions at which they agree."""
    n = pred.size
    partial = np.zeros((chunks, n_groups, PATTERNS), dtype=np.int64)
    for chunk in prange(chunks):
        seen = np.empty(BLOCK, dtype=np.int64)
        stop = n * (chunk + 1) // chunks
        for start in range(n * chunk // chunks, stop, BLOCK):
            size = min(BLOCK, stop - start)
            for i in range(size):
                seen[i] = _pattern(pred[start + i], label[start + i], prefix)
            for i in range(size):
                if scorable[start + i]:
                    partial[chunk, group[start + i], seen[i]] += 1
    total: NDArray[np.int64] = partial.sum(axis=0)
    return total


@kernel(parallel=True)
def depths(pred: NDArray[np.float64], label: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return int8[n], how many precisions from the first on agree without a gap."""
    depth = np.empty(pred.size, dtype=np.int8)
    for i in prange(pred.size):
        pattern = _pattern(pred[i], label[i], False)
        one, two, three = pattern & 1, (pattern >> 1) & 1, pattern >> 2
        depth[i] = one + (one & two) + (one & two & three)
    return depth


@kernel(parallel=True)
def pairwise_counts(
    pred: NDArray[np.float64],
    label: NDArray[np.float64],
    pred_figures: NDArray[np.int8],
    label_figures: NDArray[np.int8],
    group: NDArray[np.int64],
    n_groups: int,
    chunks: int,
) -> NDArray[np.int64]:
    """Return int64[n_groups, 6]: the counts of the earlier study, see ``figures.agreement_pairwise``."""
    n = pred.size
    partial = np.zeros((chunks, n_groups, 6), dtype=np.int64)
    for chunk in prange(chunks):
        for i in range(n * chunk // chunks, n * (chunk + 1) // chunks):
            pattern = _pattern(pred[i], label[i], False)
            one, two, three = pattern & 1, (pattern >> 1) & 1, pattern >> 2
            both = min(pred_figures[i], label_figures[i])
            row = partial[chunk, group[i]]
            if label_figures[i] >= 3:
                row[0] += three
                row[1] += 1
            if both >= 2:
                row[2] += one
                row[3] += one & two
            if both >= 3:
                row[4] += two
                row[5] += two & three
    total: NDArray[np.int64] = partial.sum(axis=0)
    return total
