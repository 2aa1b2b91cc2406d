"""Agreement of the codes of answers with those of labels, counted per group.

The kernels take codes, not values: encoding alone vectorises, encoding inside a counting loop did not (a
quarter of the speed). Callers pass blocks of pairs, so that the codes stay in the cache, and a table of counts for
each thread: sums of integers know no order.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..machine.compile import device, kernel
from .encoding import DIGIT_BITS, DIGIT_MASK

PATTERNS: Final = 8


@device
def _prefix_pattern(p: int, y: int) -> int:
    """Return bit k-1 set where the first k digits of two three-figure codes agree."""
    digits_p, digits_y = abs(p) & DIGIT_MASK, abs(y) & DIGIT_MASK
    agree = 4 if p == y else 0
    agree |= 2 if digits_p // 10 == digits_y // 10 else 0
    agree |= 1 if digits_p // 100 == digits_y // 100 else 0
    decade = ((abs(p) >> DIGIT_BITS) == (abs(y) >> DIGIT_BITS)) & ((p < 0) == (y < 0))
    return agree if decade & (p != 0) & (y != 0) else 0


@device
def _pattern(pred: NDArray[np.int64], label: NDArray[np.int64], i: int) -> int:
    """Return bit k-1 set where pair i agrees at k figures; a zero code agrees with nothing."""
    agree = 1 if pred[0, i] == label[0, i] else 0
    agree |= 2 if pred[1, i] == label[1, i] else 0
    agree |= 4 if pred[2, i] == label[2, i] else 0
    return agree if (pred[2, i] != 0) & (label[2, i] != 0) else 0


@kernel()
def pattern_counts(
    pred: NDArray[np.int64],
    label: NDArray[np.int64],
    scorable: NDArray[np.bool_],
    group: NDArray[np.int64],
    prefix: bool,
    counts: NDArray[np.int64],
) -> None:
    """Add to int64[n_groups, 8]: scorable pairs of codes int64[3, n] by the precisions at which they agree."""
    for i in range(group.size):
        seen = _prefix_pattern(pred[2, i], label[2, i]) if prefix else _pattern(pred, label, i)
        counts[group[i], seen] += np.int64(scorable[i])


@kernel()
def depths(pred: NDArray[np.int64], label: NDArray[np.int64], out: NDArray[np.int8]) -> None:
    """Write int8[n]: precisions from the first on at which codes int64[3, n] agree without a gap."""
    for i in range(pred.shape[1]):
        pattern = _pattern(pred, label, i)
        one, two, three = pattern & 1, (pattern >> 1) & 1, pattern >> 2
        out[i] = one + (one & two) + (one & two & three)


@kernel()
def pairwise_counts(
    pred: NDArray[np.int64],
    label: NDArray[np.int64],
    pred_figures: NDArray[np.int8],
    label_figures: NDArray[np.int8],
    group: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add to int64[n_groups, 6]: the counts of the earlier study, see ``figures.agreement_pairwise``."""
    for i in range(group.size):
        pattern = _pattern(pred, label, i)
        one, two, three = pattern & 1, (pattern >> 1) & 1, pattern >> 2
        both = min(pred_figures[i], label_figures[i])
        row = counts[group[i]]
        if label_figures[i] >= 3:
            row[0] += three
            row[1] += 1
        if both >= 2:
            row[2] += one
            row[3] += one & two
        if both >= 3:
            row[4] += two
            row[5] += two & three
