"""Null distributions by permutation: what agreement is left when answers no longer know their molecule.

Functions return the whole distribution of ``permutations`` draws from number ``first`` on (any chunk alone, same
bits); `p_value` turns one, or several joined, into a p value with its Monte-Carlo error, and counts make a
histogram by ``numpy.bincount``.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import column, doubles, same_length
from .figures import codes_all
from .machine.compile import kernel
from .machine.threads import spread
from .streams import PERMUTATION, high_below, key, word

# Each null has its own stream: those of a rung or of a precision add its number.
_WITHIN_PREFIX: Final = PERMUTATION + 256
_WITHIN_BINS: Final = PERMUTATION + 512
_SIGNS: Final = PERMUTATION + 768

_STEP_OPERATIONS: Final = 3  # of the processor, a value that is moved or added


class Permuted(NamedTuple):
    """A p value from permutations, and its Monte-Carlo standard error."""

    p: float
    error: float


class Rung(NamedTuple):
    """Agreement at one rung: trials, hits, and the hits under each permutation."""

    trials: int
    hits: int
    null: NDArray[np.int64]


def p_value(
    observed: float,
    null: NDArray[np.int64] | NDArray[np.float64],
    counts: NDArray[np.int64] | None = None,
    *,
    two_sided: bool = False,
) -> Permuted:
    """Return (1 + number of draws at least as large as observed) / (1 + number of draws).

    Parameters
    ----------
    observed
        The statistic of the data.
    null
        Its draws under the null hypothesis.
    counts
        How many draws had each value of ``null``; default one.
    two_sided
        Compare absolute values.

    Notes
    -----
    The data count as one of the permutations, so p is valid at any number of draws (Phipson and Smyth 2010). Draws
    within 1e-12 of the observed value, relative to the largest, count as equal: sums differ by rounding.
    """
    draws = np.abs(null) if two_sided else null
    value = abs(observed) if two_sided else observed
    largest = max(abs(value), float(np.abs(draws).max())) if draws.size else 0.0
    number = np.ones(draws.size, dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    if number.shape != draws.shape:
        raise ValueError(f"counts must have the shape of null, {draws.shape}, not {number.shape}")
    total = int(number.sum())
    p = (1 + int(number[draws >= value - 1e-12 * largest].sum())) / (1 + total)
    return Permuted(p, math.sqrt(p * (1 - p) / (1 + total)))


def within_prefix(
    pred: ArrayLike, label: ArrayLike, rung: int, *, permutations: int, seed: int, first: int = 0
) -> Rung:
    """Return the null of R12 or R23: continuations that know the prefix and nothing of the molecule.

    Parameters
    ----------
    pred, label
        The scorable pairs of a cell, shape (n,).
    rung
        12 or 23.

    Returns
    -------
    Rung
        For 12: trials m1 and hits m2; for 23: trials m2 and hits m3, nested as in METHOD 1.2.

    Notes
    -----
    The trials are the molecules whose answer and label agree at one figure (rung 12), or at one and two (rung 23).
    They fall into groups of equal one-figure (two-figure) code. Within each group the labels are permuted evenly
    among the molecules, and agreement at two (three) figures is counted anew; the number of trials stays as it is.
    Digits of labels and of answers keep their own distribution in every group, so an answer that always continues
    a prefix the same way gains nothing.
    """
    if rung not in (12, 23):
        raise ValueError(f"rung must be 12 or 23, not {rung}")
    answers, labels = doubles(pred, "pred"), doubles(label, "label")
    same_length(pred=answers, label=labels)
    answer_codes, label_codes = codes_all(answers), codes_all(labels)
    agree = (answer_codes == label_codes) & (label_codes != 0)
    tried = agree[0] if rung == 12 else agree[0] & agree[1]
    level = 1 if rung == 12 else 2
    null = _matches(
        answer_codes[level][tried],
        label_codes[level][tried],
        label_codes[level - 1][tried],
        (seed, _WITHIN_PREFIX + 8 * level, first, permutations),
    )
    return Rung(int(tried.sum()), int((tried & agree[level]).sum()), null)


def within_bins(
    pred: ArrayLike,
    label: ArrayLike,
    figures: int,
    bins: int,
    *,
    permutations: int,
    seed: int,
    first: int = 0,
) -> Rung:
    """Return the null of agreement at k figures of labels permuted among like labels.

    Parameters
    ----------
    pred, label
        The scorable pairs of a cell, shape (n,).
    figures
        1, 2 or 3.
    bins
        Into how many bins of (almost) equal size the labels are cut by rank, equal labels always together;
        1 permutes all labels.

    Returns
    -------
    Rung
        Trials n, hits (h_k of METHOD 1.2) and the hits under each permutation.

    Notes
    -----
    Within a bin the answers stay as near to their new labels as the bin is narrow. So accuracy is matched only where
    the bins are narrower than the errors; where they are wider (a good predictor, few bins) the null is that of a
    worse predictor, and p is too small: choose ``bins`` above the labels' range over the typical error.
    """
    if figures not in (1, 2, 3):
        raise ValueError(f"figures must be 1, 2 or 3, not {figures}")
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    answers, labels = doubles(pred, "pred"), doubles(label, "label")
    same_length(pred=answers, label=labels)
    answer_codes, label_codes = codes_all(answers)[figures - 1], codes_all(labels)[figures - 1]
    below = np.searchsorted(np.sort(labels), labels)
    group = below * bins // max(labels.size, 1)
    null = _matches(answer_codes, label_codes, group, (seed, _WITHIN_BINS + 8 * figures, first, permutations))
    hits = int(((answer_codes == label_codes) & (label_codes != 0)).sum())
    return Rung(labels.size, hits, null)


def paired_difference(
    x: ArrayLike,
    y: ArrayLike,
    *,
    permutations: int,
    seed: int,
    first: int = 0,
    cluster: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the null of mean(x - y) for two conditions on the same molecules, shape (permutations,).

    Parameters
    ----------
    x, y
        Values of both conditions, shape (n,), pair by pair.
    permutations, seed, first
        Draws first, first + 1, ... of the seed.
    cluster
        Whole numbers, shape (n,): pairs of one cluster (answers to one molecule, samples that share one) change
        their sign together. Default: each pair is its own.

    Notes
    -----
    Each difference keeps or changes its sign with equal chance, which is to exchange its two conditions. The mean is
    over pairs, whatever the size of the clusters.
    """
    before, after = doubles(x, "x"), doubles(y, "y")
    same_length(x=before, y=after)
    change = before - after
    if cluster is not None:
        given = column(cluster, np.int64, "cluster")
        same_length(x=before, cluster=given)
        _, of = np.unique(given, return_inverse=True)
        change = np.bincount(of, weights=change).astype(np.float64)
    out = np.empty(permutations)
    spread(
        lambda a, b: _sign_flips(change, before.size, seed, first + a, out[a:b]),
        permutations,
        _STEP_OPERATIONS * change.size,
    )
    return out


def _matches(
    answers: NDArray[np.int64],
    labels: NDArray[np.int64],
    group: NDArray[np.int64],
    draw: tuple[int, int, int, int],
) -> NDArray[np.int64]:
    seed, stream, first, count = draw
    order = np.argsort(group, kind="stable")
    change = np.flatnonzero(np.diff(group[order])) + 1
    starts = np.concatenate([[0], change, [order.size]]).astype(np.int64)
    sorted_answers, sorted_labels = answers[order], labels[order]
    out = np.empty(count, dtype=np.int64)
    spread(
        lambda a, b: _permuted_matches(
            sorted_answers, sorted_labels, starts, seed, stream, first + a, out[a:b]
        ),
        count,
        _STEP_OPERATIONS * labels.size,
    )
    return out


@kernel()
def _permuted_matches(
    answers: NDArray[np.int64],
    labels: NDArray[np.int64],
    starts: NDArray[np.int64],
    seed: int,
    stream: int,
    first: int,
    out: NDArray[np.int64],
) -> None:
    """Count equal codes after shuffling the labels of each group (Fisher and Yates); code 0 equals nothing."""
    shuffled = np.empty_like(labels)
    for r in range(len(out)):
        state = key(seed, stream, first + r)
        shuffled[:] = labels
        hits = 0
        for g in range(len(starts) - 1):
            start = starts[g]
            for i in range(starts[g + 1] - 1, start - 1, -1):
                j = start + np.int64(high_below(word(state, i), np.uint64(i - start + 1)))
                chosen = shuffled[j]
                shuffled[j] = shuffled[i]
                hits += (chosen == answers[i]) & (chosen != 0)
        out[r] = hits


@kernel()
def _sign_flips(
    difference: NDArray[np.float64], pairs: int, seed: int, first: int, out: NDArray[np.float64]
) -> None:
    """Write the sum of the differences under random signs, one bit of a word each, over the number of pairs."""
    n = len(difference)
    for r in range(len(out)):
        state = key(seed, _SIGNS, first + r)
        total = 0.0
        for i in range(n):
            bit = (word(state, i >> 6) >> np.uint64(i & 63)) & np.uint64(1)
            total += difference[i] if bit == 0 else -difference[i]
        out[r] = total / pairs
