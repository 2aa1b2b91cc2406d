"""Whether accuracy alone explains that a cell's figures agree (METHOD 1.4, ``p12_skill`` and ``p23_skill``).

The cell is simulated with errors of its own: whatever their shape, and however they grow with the label.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import doubles, same_length
from ._positions import positions, unit_exponents
from .figures import codes_all
from .figures.encoding import DIGIT_BITS, DIGIT_MASK, EXPONENT_OFFSET
from .machine.compile import kernel
from .machine.threads import spread
from .streams import SIMULATION, key, normal_quantile, word
from .tails import binomial_upper

__all__ = ["DRAWS", "Skill", "chance_hits", "skill_p"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS: Final = 2_000
MIN_MISSES: Final = 10
NEAREST: Final = 60
SPREAD: Final = 0.2
"""Standard deviation of the logarithm of the factor on each error, so that no error is met exactly again."""

_STEP_OPERATIONS: Final = 15  # of the processor, a simulated answer
_LOOKS: Final = (400, 1_000)
_SURE: Final = 1e-6
"""Chance that a set of draws like those seen comes from a p on the other side of the level."""

# One word of 64 bits is all that an answer needs: 20 bits say which error, 11 its factor, 1 its sign and 32 whether
# it is a chance hit, which then lies where the upper 32 bits say.
_FACTOR_BITS: Final = 11
_FACTOR_SHIFT: Final = np.uint64(33)
_FACTOR_MASK: Final = np.uint64((1 << _FACTOR_BITS) - 1)
_PICK_SHIFT: Final = np.uint64(44)
_PICK_BITS: Final = np.uint64(20)
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_ONE: Final = np.uint64(1)


class Skill(NamedTuple):
    """The chance that accuracy alone reaches R12 and R23, and the number of sets that it was reckoned from."""

    p12: float
    p23: float
    draws: int


def skill_p(
    label: ArrayLike,
    pred: ArrayLike,
    draws: int = DRAWS,
    *,
    seed: int,
    levels: tuple[float, ...] = (0.05,),
) -> Skill:
    """Return the chance that a predictor of the cell's own accuracy reaches its R12 and its R23.

    Parameters
    ----------
    label, pred
        The scorable pairs of a cell, shape (n,), finite, labels not zero, in the same order.
    draws
        Simulated answer sets at most. After 400 and 1,000 it is asked whether both p are decided at all levels: on
        which side they lie is then known but for a chance of 1e-6.
    seed
        Set r depends on (label, pred, seed, r) alone, on any number of threads.
    levels
        Where p will be compared.

    Returns
    -------
    Skill
        (1 + sets that reach the rate) / (sets + 1); a set without a trial does not reach it. NaN below 10 misses,
        and where the cell itself has no trial.

    Notes
    -----
    An answer is label + error. The error is that of one of the 60 misses at three figures whose |label| is nearest,
    with a random sign, times exp(0.2 z), z normal (its 2,048 quantiles). With the chance `chance_hits` gives, the
    answer is instead uniform among the values that have the label's three figures: hits are no errors to draw from,
    since a recited value says nothing of the accuracy, but a predictor makes some of its own.
    """
    labels, answers = doubles(label, "label"), doubles(pred, "pred")
    same_length(label=labels, pred=answers)
    codes = np.stack([codes_all(labels), codes_all(answers)])
    agree = (codes[0] == codes[1]) & (codes[0] != 0)
    nested = np.logical_and.accumulate(agree, axis=0).sum(axis=1)
    missed = ~agree[2]
    if missed.sum() < MIN_MISSES:
        return Skill(math.nan, math.nan, 0)
    order = np.argsort(np.abs(labels), kind="stable")
    sizes, errors = np.abs(labels)[order], np.abs(answers - labels)[order]
    starts = _windows(sizes, sizes[missed[order]])
    edges = _edges(labels[order], codes[0][:, order])
    share = chance_hits(labels, answers)
    trials, done = np.array([nested[0], nested[1]]), 0
    reached = np.zeros(2, dtype=np.int64)
    for stop in (*(look for look in _LOOKS if look < draws), draws):
        reached += _reaching(
            (edges, starts, errors[missed[order]], _factors()),
            share,
            nested.astype(np.int64),
            seed,
            done,
            stop,
        )
        done = stop
        if all(_decided(int(c), done, level) for c in reached for level in levels):
            break
    p12, p23 = np.where(trials > 0, (1 + reached) / (1 + done), math.nan)
    return Skill(float(p12), float(p23), done)


def chance_hits(label: ArrayLike, pred: ArrayLike) -> float:
    """Return the share of three-figure hits that the cell's accuracy makes by chance: h / (misses + h).

    h is the larger of a ninth of the misses that agree at two figures (their third figure would be right once in ten)
    and (4 n1 - n2) / 6, n1 and n2 being the misses at most one and exactly two units of the third figure off: the
    density of errors at zero by a parabola through their neighbours.
    """
    labels, answers = doubles(label, "label"), doubles(pred, "pred")
    same_length(label=labels, pred=answers)
    label_codes, answer_codes = codes_all(labels), codes_all(answers)
    missed = (label_codes[2] != answer_codes[2]) | (label_codes[2] == 0)
    exponent = unit_exponents(label_codes[2])
    off = np.abs(positions(answers, exponent) - positions(labels, exponent))[missed]
    ninth = float((label_codes[1] == answer_codes[1])[missed].sum()) / 9.0
    h = max(ninth, float(4 * (off <= 1).sum() - (off == 2).sum()) / 6.0)
    return h / (float(missed.sum()) + h) if h > 0 else 0.0


def _decided(reached: int, draws: int, level: float) -> bool:
    """Whether a p at the level would give so many, or so few, with a chance below `_SURE`."""
    above = float(binomial_upper(reached, draws, level))
    below = float(binomial_upper(draws - reached, draws, 1.0 - level))
    return min(above, below) < _SURE


def _windows(sizes: Floats, of_misses: Floats) -> Ints:
    """Return for each size where the 60 nearest of the misses begin; both ascend. Ties stay centred."""
    width, last = min(NEAREST, of_misses.size), of_misses.size - min(NEAREST, of_misses.size)
    middle = (np.searchsorted(of_misses, sizes, "left") + np.searchsorted(of_misses, sizes, "right")) // 2
    starts = np.clip(middle - width // 2, 0, last)
    padded = np.concatenate([of_misses, [math.inf]])
    while True:
        # One step towards the side whose next miss is nearer than the farthest one inside.
        down = (starts > 0) & (sizes - of_misses[starts - 1] < padded[starts + width - 1] - sizes)
        up = ~down & (starts < last) & (padded[starts + width] - sizes < sizes - of_misses[starts])
        if not (down | up).any():
            return np.asarray(starts, dtype=np.int64)
        starts = starts - down + up


def _edges(labels: Floats, codes: Ints) -> Floats:
    """Return the errors between which one, one and two, and all figures agree, and the last figure alone.

    Rows: low and high of each, shape (8, n). A tie on an edge is met with chance zero.
    """
    edges = np.empty((8, labels.size))
    size = np.abs(labels)
    low, high = np.full(labels.size, -math.inf), np.full(labels.size, math.inf)
    for k in (1, 2, 3):
        digits = (np.abs(codes[k - 1]) & DIGIT_MASK).astype(np.float64)
        exponent = (np.abs(codes[k - 1]) >> DIGIT_BITS) - EXPONENT_OFFSET - (k - 1)
        unit = 10.0 ** exponent.astype(np.float64)
        # Below a power of ten the figures are ten times finer.
        below = (digits - np.where(digits == 10 ** (k - 1), 0.05, 0.5)) * unit - size
        above = (digits + 0.5) * unit - size
        low, high = np.maximum(low, below), np.minimum(high, above)
        edges[2 * k - 2], edges[2 * k - 1] = low, high
    edges[6], edges[7] = below, above
    return edges


@cache
def _factors() -> Floats:
    """Return exp(0.2 z) at the quantiles of z that share the normal law evenly."""
    number = 1 << _FACTOR_BITS
    shares = (np.arange(number) + 0.5) / number
    return np.exp(SPREAD * np.array([normal_quantile(share) for share in shares]))


def _reaching(
    cell: tuple[Floats, Ints, Floats, Floats], share: float, nested: Ints, seed: int, first: int, stop: int
) -> Ints:
    """Count simulated sets first..stop whose R12, and whose R23, is at least the cell's, in whole numbers."""
    found = np.zeros((stop - first, 2), dtype=np.bool_)
    spread(
        lambda a, b: _reach(*cell, share, nested, seed, first + a, found[a:b]),
        stop - first,
        _STEP_OPERATIONS * cell[1].size,
    )
    return np.array([found[:, 0].sum(), found[:, 1].sum()], dtype=np.int64)


@kernel()
def _reach(
    edges: Floats,
    starts: Ints,
    errors: Floats,
    factors: Floats,
    share: float,
    nested: Ints,
    seed: int,
    first: int,
    out: NDArray[np.bool_],
) -> None:
    """Write which simulated sets, from ``first`` on, reach the cell's R12 and R23."""
    n = len(starts)
    width = np.uint64(min(NEAREST, len(errors)))
    threshold = np.uint64(share * 2.0**32)
    m1, m2, m3 = nested
    for r in range(len(out)):
        state = key(seed, SIMULATION, first + r)
        one = two = three = 0
        for i in range(n):
            bits = word(state, i)
            pick = starts[i] + np.int64(((bits >> _PICK_SHIFT) * width) >> _PICK_BITS)
            size = errors[pick] * factors[np.int64((bits >> _FACTOR_SHIFT) & _FACTOR_MASK)]
            error = size if (bits >> _HALF) & _ONE == 0 else -size
            inside = edges[6, i] + np.float64(bits >> _HALF) * 2.0**-32 * (edges[7, i] - edges[6, i])
            error = inside if (bits & _LOW_HALF) < threshold else error
            one += 1 if (error >= edges[0, i]) & (error <= edges[1, i]) else 0
            two += 1 if (error >= edges[2, i]) & (error <= edges[3, i]) else 0
            three += 1 if (error >= edges[4, i]) & (error <= edges[5, i]) else 0
        out[r, 0] = (one > 0) & (two * m1 >= m2 * one)
        out[r, 1] = (two > 0) & (three * m2 >= m3 * two)
