"""Quantiles of millions of resamples in bounded memory, equal to those of the whole sorted array.

Resamples come in chunks. For each wanted quantile a window keeps the values that may still become it; the rest is
only counted, below or above. After s of the resamples the final quantile q lies, in rank among those s, within a few
``sqrt(q (1 - q) s)`` of q s, so a window of eight of these holds it but for a chance near 1e-15, and the window
grows as sqrt(s): some thousand values after a million resamples. Equal values are held once, with their number,
so discrete statistics need less. Whether a window did hold its quantile is checked at the end; if not, everything
is computed again and kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Levels = Callable[[float], tuple[float, float]]
"""From the share of resamples below the estimate to the two quantiles wanted."""

CHUNK: Final = 65_536
_SLACK: Final = 8.0


class _Window:
    """The values that may still become one quantile, ascending, each with its number."""

    def __init__(self) -> None:
        self._values: Floats = np.empty(0)
        self._counts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._below = 0
        self._low, self._high = -math.inf, math.inf

    def add(self, values: Floats) -> None:
        self._below += int((values < self._low).sum())
        inside = values[(values >= self._low) & (values <= self._high)]
        fresh, numbers = np.unique(inside, return_counts=True)
        merged = np.concatenate([self._values, fresh])
        self._values, place = np.unique(merged, return_inverse=True)
        counts = np.zeros(self._values.size, dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self._counts, numbers]))
        self._counts = counts

    def keep(self, first: float, last: float) -> None:
        """Forget the values whose ranks all lie outside first..last, from now on too."""
        if not self._values.size:
            return
        after = self._below + np.cumsum(self._counts)
        start = min(int(np.searchsorted(after, first, side="right")), after.size - 1)
        stop = min(int(np.searchsorted(after, last, side="right")), after.size - 1)
        if start > 0:
            self._below, self._low = int(after[start - 1]), float(self._values[start])
        if stop < after.size - 1:
            self._high = float(self._values[stop])
        self._values, self._counts = self._values[start : stop + 1], self._counts[start : stop + 1]

    def at(self, position: float) -> float | None:
        """Return the value at a rank counted from 0, linear between two; None if it was forgotten."""
        rank = math.floor(position)
        after = self._below + np.cumsum(self._counts)
        if rank < self._below or math.ceil(position) >= after[-1]:
            return None
        lower, upper = self._values[np.searchsorted(after, [rank, math.ceil(position)], side="right")]
        # Equal ones first, for the difference of two infinities is none.
        return float(lower) if lower == upper else float(lower + (position - rank) * (upper - lower))


class Selection:
    """Running state for one statistic: feed `add` with chunks, then ask `result`."""

    def __init__(self, estimate: float, levels: Levels, *, keep_all: bool = False) -> None:
        self._estimate, self._levels, self._keep_all = estimate, levels, keep_all
        self._windows = (_Window(), _Window())
        self._valid = 0
        self._less = 0.0
        self.n_undefined = 0

    def add(self, values: Floats) -> None:
        defined = values[~np.isnan(values)]
        self.n_undefined += values.size - defined.size
        self._valid += defined.size
        self._less += float((defined < self._estimate).sum()) + 0.5 * float((defined == self._estimate).sum())
        for window in self._windows:
            window.add(defined)
        if self._valid and not self._keep_all:
            self._prune()

    def _prune(self) -> None:
        s = self._valid
        noise = _SLACK * math.sqrt(0.25 / s)
        shares = (self._share() - noise, self._share(), self._share() + noise)
        reached = [self._levels(min(max(share, 0.5 / s), 1 - 0.5 / s)) for share in shares]
        for side, window in enumerate(self._windows):
            lowest, highest = min(pair[side] for pair in reached), max(pair[side] for pair in reached)
            window.keep(
                lowest * s - _SLACK * math.sqrt(lowest * (1 - lowest) * s) - 5 * _SLACK,
                highest * s + _SLACK * math.sqrt(highest * (1 - highest) * s) + 5 * _SLACK,
            )

    def _share(self) -> float:
        """Share of resamples below the estimate, ties half; never 0 or 1, whose normal quantile is infinite."""
        half = 0.5 / self._valid
        return min(max(self._less / self._valid, half), 1 - half)

    def result(self) -> tuple[float, float] | None:
        """Return both quantiles: NaN if no resample was defined, None if a window lost its quantile."""
        if not self._valid:
            return math.nan, math.nan
        levels = self._levels(self._share())
        found = [w.at(level * (self._valid - 1)) for w, level in zip(self._windows, levels, strict=True)]
        return None if found[0] is None or found[1] is None else (found[0], found[1])


def select(
    draw: Callable[[int, int], Floats], resamples: int, estimates: Floats, levels: list[Levels]
) -> list[tuple[float, float, int]]:
    """Return two quantiles of each of m statistics, and how many resamples left it undefined.

    Parameters
    ----------
    draw
        From (first, count) to the statistics of those resamples, shape (m, count).
    estimates, levels
        The statistic of the sample itself, and the quantiles wanted, for each of the m.
    """
    for keep_all in (False, True):
        states = [Selection(float(e), at, keep_all=keep_all) for e, at in zip(estimates, levels, strict=True)]
        for first in range(0, resamples, CHUNK):
            for state, values in zip(states, draw(first, min(CHUNK, resamples - first)), strict=True):
                state.add(values)
        found = [state.result() for state in states]
        if all(pair is not None for pair in found):
            break
    return [
        (*(pair or (math.nan, math.nan)), state.n_undefined)
        for pair, state in zip(found, states, strict=True)
    ]
