"""The molecule-blind floor: what digits alone, without a molecule, let one guess (METHOD 1.3)."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._columns import column, doubles
from ..figures import codes_all
from ..machine.threads import spread
from .halves import LANES, hits_of_repeats, tables
from .plan import plan, runs

__all__ = ["LEAST", "MIN_LABELS", "MIN_PREFIX", "Floors", "floors", "matched_shares", "mode_repeats"]

MIN_LABELS: Final = 20
LEAST: Final = 0.095
"""Best continuation of a structureless density: a smaller estimate only says that the labels are few."""

MIN_PREFIX: Final = 10
_RUNGS: Final = (12, 23)
_DRAWS_PER_RUNG: Final = 1 << 40


class Floors(NamedTuple):
    """Floors of one benchmark, all as fractions; NaN where there are too few labels to say."""

    n_label: int
    mode12: float
    mode12_se: float
    pair12: float
    floor12: float
    mode23: float
    mode23_se: float
    pair23: float
    floor23: float
    floor_hit1: float
    floor_hit2: float
    floor_hit3: float


def floors(labels: ArrayLike, repeats: int, seed: int) -> Floors:
    """Compute mode, pair and pooled floors of both rungs, and the chance of agreeing at all.

    Parameters
    ----------
    labels : float64[n]
        All labels of the benchmark that carry at least three figures.
    repeats : int
        Random halves per rung; at least 1.
    seed : int

    Returns
    -------
    Floors
        Below ``MIN_LABELS`` labels everything but ``n_label`` is NaN. A rung without two labels of one prefix
        has NaN floors. ``_se`` is the standard error of the mode over repeats (NaN for a single repeat).

    Raises
    ------
    ValueError
        If a label is zero, NaN or infinite, or repeats is below 1.

    Notes
    -----
    METHOD 1.3. mode: see ``mode_repeats``. pair: sum B(B-1) / sum A(A-1) over the counts A of k-figure codes
    and B of (k+1)-figure codes. floor: the larger, but at least ``LEAST`` and at most 1 (the pair floor may pass 1).
    floor_hit: sum A(A-1) / (n (n-1)).
    """
    values = _labels(labels)
    n = values.size
    if n < MIN_LABELS:
        return Floors(n, *[math.nan] * 11)
    pairs = [_ordered_pairs(codes) for codes in codes_all(values)]
    modes = []
    for rung, prefix, continuation in zip(_RUNGS, pairs[:2], pairs[1:], strict=True):
        if prefix == 0:
            modes.append((math.nan,) * 4)
            continue
        shares = mode_repeats(values, rung, repeats, seed)
        mode = float(shares.mean())
        error = float(shares.std(ddof=1)) / math.sqrt(repeats) if repeats > 1 else math.nan
        pair = continuation / prefix
        modes.append((mode, error, pair, min(1.0, max(mode, pair, LEAST))))
    return Floors(n, *modes[0], *modes[1], *[count / (n * (n - 1)) for count in pairs])


def mode_repeats(
    labels: ArrayLike, rung: int, repeats: int, seed: int, first: int = 0
) -> NDArray[np.float64]:
    """Compute the mode floor of one rung for each of many random halves.

    In each prefix of n >= 2 labels, the continuation met most often among floor(n/2) random labels is scored
    on the others; hits and trials are pooled over prefixes. Tied continuations count with their average.

    Parameters
    ----------
    labels : float64[n]
        All labels of the benchmark that carry at least three figures.
    rung : {12, 23}
        12: prefix at one figure, continuation at two; 23: at two and three.
    repeats : int
        At least 1.
    seed : int
    first : int
        Number of the first repeat. Repeat r depends on (labels, rung, seed, r) alone, so chunks and threads
        change no bit.

    Returns
    -------
    float64[repeats]
        Share of the trials that hit; NaN throughout where no prefix has two labels.

    Raises
    ------
    ValueError
        If a label is zero, NaN or infinite, repeats is below 1 or rung is neither 12 nor 23.
    """
    values = _labels(labels)
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, not {repeats}")
    steps = plan(values, _checked(rung))
    if steps.size.size == 0:
        return np.full(repeats, math.nan)
    hits = np.empty(repeats)
    draws = (seed, first_draw(rung), first)
    blocks = -(-repeats // LANES)
    # About how many steps the kernel takes for a block: a few for each label and each continuation.
    operations = LANES * (steps.trials + steps.label_count.size)
    spread(lambda a, b: hits_of_repeats(*steps, *tables(), *draws, a, b, hits), blocks, operations)
    return hits / steps.trials


def matched_shares(labels: ArrayLike, index: ArrayLike, rung: int, pooled: float) -> NDArray[np.float64]:
    """Compute, for single labels, the modal share of their prefix with the label itself left out.

    Parameters
    ----------
    labels : float64[n]
        All labels of the benchmark that carry at least three figures.
    index : int64[m]
        Labels asked for, as positions in ``labels``.
    rung : {12, 23}
    pooled : float
        Given to labels whose prefix has fewer than ``MIN_PREFIX`` labels.

    Returns
    -------
    float64[m]
        max over continuations c of (n_c - [c is the label's own]) / (n - 1).

    Raises
    ------
    ValueError
        If a label is zero, NaN or infinite, an index is out of range or rung is neither 12 nor 23.
    """
    values = _labels(labels)
    asked = column(index, np.int64, "index")
    if asked.size and not 0 <= asked.min() <= asked.max() < values.size:
        raise ValueError(f"index must lie in 0..{values.size - 1}, found {asked.min()}..{asked.max()}")
    if values.size == 0:
        return np.empty(0)
    by_prefix = runs(values, _checked(rung))
    count = np.diff(by_prefix.start)
    size = np.diff(by_prefix.prefix_start)
    most = np.zeros(size.size, dtype=np.int64)
    np.maximum.at(most, by_prefix.prefix, count)
    at_most = np.bincount(by_prefix.prefix, weights=count == most[by_prefix.prefix]).astype(np.int64)
    # Leaving a label out lowers the maximum only where its continuation is the one modal one.
    alone = (count == most[by_prefix.prefix]) & (at_most[by_prefix.prefix] == 1)
    modal = most[by_prefix.prefix] - alone
    n = size[by_prefix.prefix]
    share = np.where(n >= MIN_PREFIX, modal / np.maximum(n - 1, 1), pooled)
    of_label = np.empty(values.size)
    of_label[by_prefix.order] = np.repeat(share, count)
    return np.take(of_label, asked)


def first_draw(rung: int) -> int:
    """Return the number of a rung's first random word: the rungs of one repeat share none."""
    return _RUNGS.index(rung) * _DRAWS_PER_RUNG


def _ordered_pairs(codes: NDArray[np.int64]) -> int:
    counts = np.unique(codes, return_counts=True)[1]
    return int((counts * (counts - 1)).sum())


def _labels(labels: ArrayLike) -> NDArray[np.float64]:
    values = doubles(labels, "labels")
    if not (np.isfinite(values) & (values != 0.0)).all():
        raise ValueError("labels must be finite and not zero: those carry no figures")
    return values


def _checked(rung: int) -> int:
    if rung not in _RUNGS:
        raise ValueError(f"rung must be 12 or 23, not {rung}")
    return rung
