"""Significant figures of doubles, exact: codes, cleaning, figures carried, and agreement counts.

The oracle of every function is Python's ``format`` (METHOD 1.1, 1.2); none makes a Python object per value.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._columns import column, doubles, groups, same_length
from ..machine.threads import spread
from .arrays import clean_each, code_rows, coded_blocks, count_carried
from .counting import PATTERNS, depths, pairwise_counts, pattern_counts
from .encoding import DIGIT_BITS, DIGIT_MASK, EXPONENT_OFFSET, code_device, codes_device

__all__ = [
    "agreement",
    "agreement_pairwise",
    "carried",
    "clean",
    "code_device",
    "codes",
    "codes_all",
    "codes_device",
    "depth",
    "text",
]

_CODE_OPERATIONS: Final = 5  # of the processor, a value, as `spread` takes it
_DIGIT_OPERATIONS: Final = 50


def codes(x: ArrayLike, figures: int) -> NDArray[np.int64]:
    """Encode sign, decimal exponent and digits of doubles rounded to 1, 2 or 3 significant figures.

    Parameters
    ----------
    x : float64[n]
    figures : {1, 2, 3}

    Returns
    -------
    int64[n]
        0 for zero, NaN and infinity. Otherwise two codes of the same number of figures are equal exactly
        where ``format(x, f".{figures - 1}e")`` is, and ordered as the rounded values are.

    Raises
    ------
    ValueError
        If figures is not 1, 2 or 3, or x is not one-dimensional.

    Notes
    -----
    Rounded from the exact binary value, ties to even (METHOD 1.1). A code is
    ``sign * ((exponent + 400) << 10 | digits)``, so ``digits // 10`` of a three-figure code is its prefix.
    """
    if figures not in (1, 2, 3):
        raise ValueError(f"figures must be 1, 2 or 3, not {figures}")
    values = doubles(x, "x")
    out = np.empty((1, values.size), dtype=np.int64)
    spread(lambda a, b: code_rows(values, figures, a, b, out), values.size, _CODE_OPERATIONS)
    found: NDArray[np.int64] = out[0]
    return found


def codes_all(x: ArrayLike) -> NDArray[np.int64]:
    """Encode doubles at one, two and three figures in one pass.

    Parameters
    ----------
    x : float64[n]

    Returns
    -------
    int64[3, n]
        Row k - 1 equals ``codes(x, k)``.
    """
    values = doubles(x, "x")
    out = np.empty((3, values.size), dtype=np.int64)
    spread(lambda a, b: code_rows(values, 1, a, b, out), values.size, _CODE_OPERATIONS)
    return out


def text(code: int) -> str:
    """Write a code of any number of figures as ``format`` does: "-2.18e+00"; "none" for 0."""
    code = int(code)
    if code == 0:
        return "none"
    digits = str(abs(code) & DIGIT_MASK)
    exponent = (abs(code) >> DIGIT_BITS) - EXPONENT_OFFSET
    point = "." if len(digits) > 1 else ""
    return f"{'-' if code < 0 else ''}{digits[0]}{point}{digits[1:]}e{exponent:+03d}"


def clean(x: ArrayLike) -> NDArray[np.float64]:
    """Round doubles of more than 12 significant digits to 12, which removes float artefacts.

    Parameters
    ----------
    x : float64[n]

    Returns
    -------
    float64[n]
        ``float(format(x, ".11e"))`` for every finite double: a value whose shortest decimal has at most 12
        digits comes back unchanged. Zero, NaN and infinity stay as they are.

    Examples
    --------
    >>> clean([-2.1799999999999997, -0.39999999999999997]).tolist()
    [-2.18, -0.4]
    """
    values = doubles(x, "x")
    out = np.empty(values.size)
    spread(lambda a, b: clean_each(values[a:b], out[a:b]), values.size, _DIGIT_OPERATIONS)
    return out


def carried(x: ArrayLike) -> NDArray[np.int8]:
    """Count the figures that cleaned doubles carry, trailing zeros left out ("stripped", METHOD 1.1).

    Parameters
    ----------
    x : float64[n]

    Returns
    -------
    int8[n]
        From the first to the last non-zero digit of the shortest decimal of ``clean(x)``: 0 to 12, and 0
        only for zero, NaN and infinity.

    Examples
    --------
    >>> carried([2.5, 5000.0, 10.2, 0.0]).tolist()
    [2, 1, 3, 0]
    """
    values = doubles(x, "x")
    out = np.empty(values.size, dtype=np.int8)
    spread(lambda a, b: count_carried(values[a:b], out[a:b]), values.size, _DIGIT_OPERATIONS)
    return out


def agreement(
    pred: ArrayLike,
    label: ArrayLike,
    scorable: ArrayLike,
    group: ArrayLike,
    n_groups: int,
    prefix: bool = False,
) -> NDArray[np.int64]:
    """Count agreement at one, two and three figures per group, nested and flat (METHOD 1.2).

    Parameters
    ----------
    pred, label : float64[n]
        Answers and published values. A zero, NaN or infinity matches nothing.
    scorable : bool[n]
        Pairs that count.
    group : int64[n]
        0 .. n_groups - 1.
    n_groups : int
    prefix : bool
        Compare the first k digits of the three-figure codes instead of the codes at k figures.

    Returns
    -------
    int64[n_groups, 7]
        n_usable, m1, m2, m3 (agree at k and at every shorter precision), h1, h2, h3 (agree at k).

    Raises
    ------
    ValueError
        If lengths differ or a group is out of range.
    """
    p, y = doubles(pred, "pred"), doubles(label, "label")
    usable = column(scorable, np.bool_, "scorable")
    cells = groups(group, n_groups)
    same_length(pred=p, label=y, scorable=usable, group=cells)
    partial: list[NDArray[np.int64]] = []

    def count(first: int, last: int) -> None:
        counts = np.zeros((n_groups, PATTERNS), dtype=np.int64)
        for block, codes_p, codes_y in coded_blocks(p, y, first, last):
            pattern_counts(codes_p, codes_y, usable[block], cells[block], bool(prefix), counts)
        partial.append(counts)

    spread(count, p.size, _CODE_OPERATIONS)
    patterns = np.sum(partial, axis=0)
    bits = np.arange(PATTERNS)
    holds = [bits >= 0] + [(bits & nested) == nested for nested in (1, 3, 7)]
    holds += [(bits & flat) != 0 for flat in (1, 2, 4)]
    return np.stack([patterns[:, hold].sum(axis=1) for hold in holds], axis=1)


def depth(pred: ArrayLike, label: ArrayLike) -> NDArray[np.int8]:
    """Count per pair the precisions that agree, from one figure on without a gap.

    Parameters
    ----------
    pred, label : float64[n]

    Returns
    -------
    int8[n]
        0 to 3.

    Raises
    ------
    ValueError
        If lengths differ.
    """
    p, y = doubles(pred, "pred"), doubles(label, "label")
    same_length(pred=p, label=y)
    depth = np.empty(p.size, dtype=np.int8)

    def count(first: int, last: int) -> None:
        for block, codes_p, codes_y in coded_blocks(p, y, first, last):
            depths(codes_p, codes_y, depth[block])

    spread(count, p.size, _CODE_OPERATIONS)
    return depth


def agreement_pairwise(
    pred: ArrayLike,
    label: ArrayLike,
    pred_figures: ArrayLike,
    label_figures: ArrayLike,
    group: ArrayLike,
    n_groups: int,
) -> NDArray[np.int64]:
    """Count agreement the way of the earlier study: protocol ``blinding`` (METHOD 3.2).

    Parameters
    ----------
    pred, label : float64[n]
        Answers and *cleaned* labels.
    pred_figures, label_figures : int8[n]
        Figures that they carry.
    group : int64[n]
        0 .. n_groups - 1.

    Returns
    -------
    int64[n_groups, 6]
        match3 and total3: agree at three figures, of the pairs whose label carries three. m1_2 and m2_2:
        agree at one, and at one and two figures, where both carry two. m2_3 and m3_3: agree at two, and at
        two and three figures, where both carry three.

    Raises
    ------
    ValueError
        If lengths differ or a group is out of range.
    """
    p, y = doubles(pred, "pred"), doubles(label, "label")
    of_pred = column(pred_figures, np.int8, "pred_figures")
    of_label = column(label_figures, np.int8, "label_figures")
    cells = groups(group, n_groups)
    same_length(pred=p, label=y, pred_figures=of_pred, label_figures=of_label, group=cells)
    partial: list[NDArray[np.int64]] = []

    def count(first: int, last: int) -> None:
        counts = np.zeros((n_groups, 6), dtype=np.int64)
        for block, codes_p, codes_y in coded_blocks(p, y, first, last):
            pairwise_counts(codes_p, codes_y, of_pred[block], of_label[block], cells[block], counts)
        partial.append(counts)

    spread(count, p.size, _CODE_OPERATIONS)
    counts: NDArray[np.int64] = np.sum(partial, axis=0)
    return counts
