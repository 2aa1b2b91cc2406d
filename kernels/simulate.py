"""Simulated answers: predictors of known skill, reciters, and how often skill alone explains a cell.

Answers come as arrays of shape (draws, n), one row for each simulated set; row r of a seed is the same whichever
call makes it (``first``). Each kind of answer has its own stream, so two kinds under one seed are independent.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import doubles
from .figures.encoding import DIGIT_BITS, DIGIT_MASK, EXPONENT_OFFSET, code_device
from .machine.compile import device, kernel
from .machine.threads import spread
from .streams import SIMULATION, fill_normals, high_below, inner_uniform, key, word

_STEP_OPERATIONS: Final = 15  # of the processor, a simulated answer

Floats = NDArray[np.float64]

_RECITES: Final = SIMULATION + 256 * 15


class _Kind(IntEnum):
    WINDOW = 1
    FIRST_FIGURE = 2
    BLIND = 3
    ERROR = 4


def window(label: ArrayLike, seed: int, draws: int, *, first: int = 0) -> Floats:
    """Return the reference predictor that knows the first figure: uniform over what rounds to it.

    The values that round to d x 10^e lie from (d - 1/2) 10^e to (d + 1/2) 10^e, but from 0.95 x 10^e where d is 1.
    A label without a first figure (0, NaN, infinity) gives NaN.
    """
    labels = doubles(label, "label")
    return _answers(_Kind.WINDOW, labels, 0.0, seed, first, draws)


def first_figure(label: ArrayLike, seed: int, draws: int, *, first: int = 0) -> Floats:
    """Return the label rounded to one figure, times 1 + U(-0.05, 0.05): the other reference predictor."""
    labels = doubles(label, "label")
    return _answers(_Kind.FIRST_FIGURE, labels, 0.0, seed, first, draws)


def blind(label: ArrayLike, seed: int, draws: int, *, first: int = 0) -> Floats:
    """Return answers that see no molecule: draws with replacement from all labels."""
    labels = doubles(label, "label")
    return _answers(_Kind.BLIND, labels, 0.0, seed, first, draws)


def skilled(label: ArrayLike, r: float, seed: int, draws: int, *, first: int = 0) -> Floats:
    """Return label + normal error of the scale at which labels and answers correlate by r in expectation.

    The error's variance is that of the labels times (1 / r^2 - 1), for r in (0, 1].
    """
    if not 0.0 < r <= 1.0:
        raise ValueError(f"r must lie in (0, 1], not {r}")
    labels = doubles(label, "label")
    scale = float(labels.std()) * math.sqrt(1.0 / (r * r) - 1.0) if labels.size else 0.0
    return _answers(_Kind.ERROR, labels, scale, seed, first, draws)


def reciter(label: ArrayLike, base: ArrayLike, rate: float, seed: int, *, first: int = 0) -> Floats:
    """Return the answers ``base``, shape (draws, n), each replaced by its label with chance ``rate``."""
    labels = doubles(label, "label")
    answers = np.array(base, dtype=np.float64, order="C")
    if answers.ndim != 2 or answers.shape[1] != labels.size:
        raise ValueError(f"base must be of shape (draws, {labels.size}), not {answers.shape}")
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"rate must lie between 0 and 1, not {rate}")
    spread(
        lambda a, b: _recite(labels, answers[a:b], rate, seed, first + a),
        len(answers),
        _STEP_OPERATIONS * labels.size,
    )
    return answers


@device
def _window_answer(label: float, u: float) -> float:
    code = code_device(label, 1)
    if code == 0:
        return math.nan
    digit = float(abs(code) & DIGIT_MASK)
    exponent = (abs(code) >> DIGIT_BITS) - EXPONENT_OFFSET
    low = 0.95 if digit == 1.0 else digit - 0.5
    answer = (low + u * (digit + 0.5 - low)) * math.pow(10.0, float(exponent))
    return answer if code > 0 else -answer


@device
def _first_figure_answer(label: float, u: float) -> float:
    code = code_device(label, 1)
    if code == 0:
        return math.nan
    exponent = (abs(code) >> DIGIT_BITS) - EXPONENT_OFFSET
    rounded = float(abs(code) & DIGIT_MASK) * math.pow(10.0, float(exponent))
    return math.copysign(rounded, label) * (0.95 + 0.1 * u)


def _answers(kind: int, label: Floats, scale: float, seed: int, first: int, draws: int) -> Floats:
    out = np.empty((draws, label.size))
    spread(
        lambda a, b: _draw(kind, label, scale, seed, first + a, out[a:b]),
        draws,
        _STEP_OPERATIONS * label.size,
    )
    return out


@kernel()
def _draw(kind: int, label: Floats, scale: float, seed: int, first: int, out: Floats) -> None:
    n = len(label)
    for r in range(len(out)):
        state = key(seed, SIMULATION + 256 * kind, first + r)
        if kind == 4:
            fill_normals(state, out[r])
            out[r] = label + scale * out[r]
            continue
        for i in range(n):
            bits = word(state, i)
            if kind == 1:
                out[r, i] = _window_answer(label[i], inner_uniform(bits))
            elif kind == 2:
                out[r, i] = _first_figure_answer(label[i], inner_uniform(bits))
            else:
                out[r, i] = label[high_below(bits, np.uint64(n))]


@kernel()
def _recite(label: Floats, answers: Floats, rate: float, seed: int, first: int) -> None:
    for r in range(len(answers)):
        state = key(seed, _RECITES, first + r)
        for i in range(len(label)):
            if inner_uniform(word(state, i)) < rate:
                answers[r, i] = label[i]
