"""The label that C3 shows in place of the source's own: wrong, of the same kind, and no nearer to the target's."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

import numpy as np
from numpy.typing import NDArray

GRID_LOW, GRID_HIGH, GRID_STEP = Decimal("5.0"), Decimal("95.0"), Decimal("0.1")
LEAST_SHIFT = Decimal(25)
MOST_SIMILAR = 0.3


def inverted(label: str) -> str:
    """The other of "0" and "1"."""
    return {"0": "1", "1": "0"}[label]


def false_yield(source: str, target: str, least: Decimal = LEAST_SHIFT) -> str | None:
    """A yield on the grid 5.0 to 95.0 by 0.1, at least 25 points from both true ones.

    The smallest shift from the source's is taken, then what lies farther from the ends of the grid, then the
    smaller (ours). None where the grid has no such value: one below 30, one above 70 and less than 50 between.

    Examples
    --------
    >>> false_yield("20", "22"), false_yield("50", "50"), false_yield("29", "71")
    ('47.0', '25.0', None)
    """
    s, t = Decimal(source), Decimal(target)
    lower, upper = min(s, t), max(s, t)
    # In each of the three stretches that are allowed the value next to the source is the only one that can win.
    below, above = _down(lower - least), _up(upper + least)
    between = _up(s + least) if s <= t else _down(s - least)
    allowed = [
        x
        for x in (below, between, above)
        if GRID_LOW <= x <= GRID_HIGH and abs(x - s) >= least and abs(x - t) >= least
    ]
    if not allowed:
        return None
    best = min(allowed, key=lambda x: (abs(x - s), -min(x - GRID_LOW, GRID_HIGH - x), x))
    return f"{best:.1f}"


def _down(value: Decimal) -> Decimal:
    clipped = min(value, GRID_HIGH)
    return clipped.quantize(GRID_STEP, ROUND_FLOOR)


def _up(value: Decimal) -> Decimal:
    clipped = max(value, GRID_LOW)
    return clipped.quantize(GRID_STEP, ROUND_CEILING)


def shown_yield(text: str) -> str:
    """A yield as it is shown: to 0.1, like the false one, so that decimals do not give away which is true (ours)."""
    return f"{Decimal(text).quantize(GRID_STEP, ROUND_HALF_EVEN) + Decimal(0):.1f}"


def false_sets(
    sources: Sequence[frozenset[str]], targets: Sequence[frozenset[str]], rng: np.random.Generator
) -> list[frozenset[str] | None]:
    """For every sample the source set of another one, disjoint from its own source's and its target's.

    Among the distinct sets of all samples, of those of equal size, else of the nearest size (then the smaller), so
    that the length is no cue, one is drawn uniformly (ours). None where no set is disjoint.
    """
    # Sorted, so that neither the order of the samples nor that of a set's members decides a draw.
    pool = sorted({tuple(sorted(one)) for one in sources if one})
    sets = [frozenset(one) for one in pool]
    found: list[frozenset[str] | None] = []
    for source, target in zip(sources, targets, strict=True):
        taken = source | target
        allowed = [one for one in sets if taken.isdisjoint(one)]
        if not allowed:
            found.append(None)
            continue
        size = min((abs(len(one) - len(source)), len(one)) for one in allowed)[1]
        nearest = [one for one in allowed if len(one) == size]
        found.append(nearest[int(rng.integers(len(nearest)))])
    return found


def false_reactants(
    to_source: NDArray[np.float64],
    to_target: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    most: float = MOST_SIMILAR,
) -> int | None:
    """Position of another reaction's set: allowed (of another class), at most ``most`` similar to both true sets.

    Of these the one most similar to the source's, on a tie the first.

    Parameters
    ----------
    to_source, to_target
        float64[n], similarity of every set to the true ones.
    allowed
        bool[n].
    """
    usable = np.flatnonzero(allowed & (to_source <= most) & (to_target <= most))
    if usable.size == 0:
        return None
    return int(usable[np.argmax(to_source[usable])])
