"""Whether accuracy alone explains that a cell's second figures agree (METHOD 1.4, caution ``skill``)."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import doubles, same_length
from ._figures_codes import DIGIT_BITS, DIGIT_MASK, EXPONENT_OFFSET
from .compile import device, kernel
from .figures import codes_all
from .simulate import sets_reaching

Floats = NDArray[np.float64]

_ROBUST: Final = 1.4826  # of the median absolute deviation to the standard deviation of a normal law
_HALVINGS: Final = 60
_SQRT_HALF: Final = math.sqrt(0.5)


def skill_p(label: ArrayLike, pred: ArrayLike, draws: int = 2000, *, seed: int) -> float:
    """Return the chance that a predictor of the cell's own accuracy reaches the cell's R12.

    Parameters
    ----------
    label, pred
        The scorable pairs of a cell, shape (n,), finite and in the same order.
    draws
        Simulated answer sets: label + independent normal errors of the scale `error_scale`.

    Returns
    -------
    float
        (1 + number of sets whose R12 is at least the observed) / (draws + 1); a set that agrees nowhere at one
        figure does not reach it. NaN where no pair agrees at one figure, or where every answer agrees at three
        and so none shows the accuracy.
    """
    labels, answers = doubles(label, "label"), doubles(pred, "pred")
    same_length(label=labels, pred=answers)
    label_codes, answer_codes = codes_all(labels), codes_all(answers)
    agree = (label_codes == answer_codes) & (label_codes != 0)
    m1, m2 = int(agree[0].sum()), int((agree[0] & agree[1]).sum())
    scale = error_scale(labels, answers)
    if m1 == 0 or math.isnan(scale):
        return math.nan
    return (1 + sets_reaching(labels, scale, m1, m2, seed, draws)) / (draws + 1)


def error_scale(label: ArrayLike, pred: ArrayLike) -> float:
    """Return the robust scale of the errors outside three-figure hits, as that of a normal law.

    Parameters
    ----------
    label, pred
        Scorable pairs, shape (n,), finite.

    Returns
    -------
    float
        The standard deviation at which normal errors have, outside the three-figure hits that they make
        themselves, the observed median absolute error. NaN where every answer is a hit.

    Notes
    -----
    The hits are left out because a recited value says nothing of the accuracy. But a good predictor's hits are its
    smallest errors: 1.4826 times the median of the rest is then too large (by a tenth for r = 0.99 on QM7, where
    that alone calls 57 % of such predictors better than themselves, 5 % being nominal). The median is about zero,
    not about the median error, so that the simulated predictor keeps the cell's bias within its accuracy.
    """
    labels, answers = doubles(label, "label"), doubles(pred, "pred")
    same_length(label=labels, pred=answers)
    codes, answered = codes_all(labels)[2], codes_all(answers)[2]
    missed = (codes != answered) | (codes == 0)
    if not missed.any():
        return math.nan
    middle = float(np.median(np.abs(answers - labels)[missed]))
    low, high = _hit_edges(labels, codes)
    return float(_solve_scale(middle, low, high))


def _hit_edges(labels: Floats, codes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the errors between which the answer is a three-figure hit, in the direction away from zero."""
    digits = (np.abs(codes) & DIGIT_MASK).astype(np.float64)
    unit = 10.0 ** ((np.abs(codes) >> DIGIT_BITS) - EXPONENT_OFFSET - 2)
    # Below a power of ten the figures are ten times finer.
    low = (digits - np.where(digits == 100, 0.05, 0.5)) * unit - np.abs(labels)
    high = (digits + 0.5) * unit - np.abs(labels)
    return np.where(codes == 0, 0.0, low), np.where(codes == 0, 0.0, high)


@kernel()
def _solve_scale(middle: float, low: Floats, high: Floats) -> float:
    """Halve the interval in which the median of the errors outside the hits is ``middle``."""
    below, above = 0.0, _ROBUST * middle
    if _share_below(above, middle, low, high) >= 0.5:
        return above
    for _ in range(_HALVINGS):
        scale = 0.5 * (below + above)
        if _share_below(scale, middle, low, high) > 0.5:
            below = scale
        else:
            above = scale
    return 0.5 * (below + above)


@device
def _share_below(scale: float, middle: float, low: Floats, high: Floats) -> float:
    """Return the chance that a normal error outside the hits is at most ``middle``; 1 where all are hits."""
    if scale == 0.0:
        return 1.0
    small = _normal_cdf(middle / scale) - _normal_cdf(-middle / scale)
    inside = outside = 0.0
    for i in range(len(low)):
        small_hit = _normal_cdf(min(high[i], middle) / scale) - _normal_cdf(max(low[i], -middle) / scale)
        inside += small - max(small_hit, 0.0)
        outside += 1.0 - (_normal_cdf(high[i] / scale) - _normal_cdf(low[i] / scale))
    return inside / outside if outside > 0.0 else 1.0


@device
def _normal_cdf(x: float) -> float:
    return 0.5 * math.erfc(-x * _SQRT_HALF)
