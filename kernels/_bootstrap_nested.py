"""Resampled nested counts by their multinomial: a cell's bootstrap without its pairs.

The counts of one resample are m1 ~ Bin(n, m1/n), m2 ~ Bin(m1, m2/m1) and m3 ~ Bin(m2, m3/m2), each given the last.
A binomial draw is a look-up in an alias table (Walker 1977, Vose 1991), one table for each number of trials that
the stage before can give. From 1,024 pairs on that would be too many tables: trials are then written in base 32 and
Bin(t, p) is drawn as the sum of a Bin(digit 32^i, p) for each digit that is not zero.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from .compile import device, kernel
from .streams import BOOTSTRAP, key, uniform, word

_STAGES: Final = 3
_BLOCK: Final = 1024
# Standard deviations that a table covers: a tail of 1e-17, well below the 2^-53 that a draw can resolve.
_REACH: Final = 8.5


class NestedTables(NamedTuple):
    """Alias tables for the three stages of a cell.

    Table ``places[s] + (i << bits) + digit`` is that of Bin(digit << (i bits), p_s). A row of ``tables`` holds its
    first slot, its number of slots and its lowest value. A row of ``slots`` holds the chance that the slot keeps
    its own value, and else the slot whose value it gives.
    """

    n: int
    bits: int
    places: NDArray[np.int64]
    tables: NDArray[np.int64]
    slots: NDArray[np.float64]

    @classmethod
    def of(cls, m1: int, m2: int, m3: int, n: int) -> NestedTables:
        """Build the tables of a cell with n pairs and m1 >= m2 >= m3 nested hits."""
        if not 0 <= m3 <= m2 <= m1 <= n:
            raise ValueError(
                f"nested counts must satisfy 0 <= m3 <= m2 <= m1 <= n, not {m3}, {m2}, {m1}, {n}"
            )
        rates = [hits / trials if trials else 0.0 for hits, trials in ((m1, n), (m2, m1), (m3, m2))]
        bits = 10 if n < 1024 else 5
        return cls(n, bits, *_build(n, np.array(rates), bits))


@device
def _spread(trials: int, p: float) -> tuple[int, int]:
    """Return the lowest and highest value of Bin(trials, p) that a table must hold."""
    if p <= 0.0:
        return 0, 0
    if p >= 1.0:
        return trials, trials
    mean, sd = trials * p, math.sqrt(trials * p * (1.0 - p))
    # By Cornish and Fisher the tail on the skewed side reaches farther; the other one is not shortened.
    lean = (_REACH * _REACH - 1.0) * (1.0 - 2.0 * p) / 6.0
    low, high = mean - _REACH * sd + min(lean, 0.0), mean + _REACH * sd + max(lean, 0.0)
    return max(0, int(low) - 1), min(trials, int(high) + 2)


@device
def _chances(trials: int, p: float, low: int, slots: NDArray[np.float64]) -> None:
    """Write P(Bin(trials, p) = low, low + 1, ...) times the number of slots, by recurrence from the mode."""
    size = len(slots)
    if size == 1:
        slots[0, 0] = 1.0
        return
    mode = min(max(int((trials + 1) * p) - low, 0), size - 1)
    odds = p / (1.0 - p)
    slots[mode, 0] = 1.0
    for i in range(mode + 1, size):
        slots[i, 0] = slots[i - 1, 0] * odds * (trials - low - i + 1) / (low + i)
    for i in range(mode - 1, -1, -1):
        slots[i, 0] = slots[i + 1, 0] * (low + i + 1) / (odds * (trials - low - i))
    total = 0.0
    for i in range(size):
        total += slots[i, 0]
    for i in range(size):
        slots[i, 0] *= size / total


@device
def _share_out(slots: NDArray[np.float64], small: NDArray[np.int64], large: NDArray[np.int64]) -> None:
    """Turn scaled chances into an alias table: each poor slot is filled up by a rich one (Vose)."""
    n_small = n_large = 0
    for i in range(len(slots)):
        slots[i, 1] = i
        if slots[i, 0] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        poor, rich = small[n_small], large[n_large - 1]
        slots[poor, 1] = rich
        slots[rich, 0] -= 1.0 - slots[poor, 0]
        if slots[rich, 0] < 1.0:
            n_large -= 1
            small[n_small] = rich
            n_small += 1
    while n_small > 0:  # poor by rounding only
        n_small -= 1
        slots[small[n_small], 0] = 1.0


@kernel()
def _build(
    n: int, rates: NDArray[np.float64], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Build ``places``, ``tables`` and ``slots`` for the numbers of trials that each stage can meet."""
    n_places = 1
    while n >> (bits * n_places) > 0:
        n_places += 1
    per_stage = n_places << bits
    places = np.arange(_STAGES) * per_stage
    tables = np.zeros((_STAGES * per_stage, 3), dtype=np.int64)
    used = 0
    least, most = n, n
    for stage in range(_STAGES):
        for j in range(per_stage):
            place = j >> bits
            trials = (j & ((1 << bits) - 1)) << (bits * place)
            is_met = trials == 0 or (trials <= most and (n_places > 1 or trials >= least))
            if not is_met:
                continue
            lowest, highest = _spread(trials, rates[stage])
            row = tables[places[stage] + j]
            row[0], row[1], row[2] = used, highest - lowest + 1, lowest
            used += row[1]
        least, most = _spread(least, rates[stage])[0], _spread(most, rates[stage])[1]
    slots = np.zeros((used, 2))
    scratch = np.empty((2, n + 1), dtype=np.int64)
    for stage in range(_STAGES):
        for j in range(per_stage):
            start, size, low = tables[places[stage] + j]
            if size > 0:
                trials = (j & ((1 << bits) - 1)) << (bits * (j >> bits))
                _chances(trials, rates[stage], low, slots[start : start + size])
                _share_out(slots[start : start + size], scratch[0], scratch[1])
    return places, tables, slots


@device
def _pass_stage(
    tables: NestedTables,
    stage: int,
    keys: NDArray[np.uint64],
    points: NDArray[np.float64],
    trials: NDArray[np.int64],
    hits: NDArray[np.int64],
) -> None:
    """Draw hits ~ Bin(trials, p of the stage) for a block of resamples, from one word a place.

    A block at a time, since the look-ups of one resample wait for each other and those of many do not; words
    first, since they are made in vectors; and without a branch, since the choice of the slot could only be guessed.
    """
    rows, slots = tables.tables, tables.slots
    mask = (1 << tables.bits) - 1
    n_places = (tables.places[1] - tables.places[0]) >> tables.bits
    for place in range(n_places):
        table = tables.places[stage] + (place << tables.bits)
        shift = place * tables.bits
        for r in range(len(keys)):
            points[r] = uniform(word(keys[r], 16 * stage + place))
        for r in range(len(keys)):
            row = table + ((trials[r] >> shift) & mask)
            point = points[r] * rows[row, 1]
            slot = np.int64(point)
            at = rows[row, 0] + slot
            other = np.int64(slots[at, 1])
            keeps = np.int64(point - slot < slots[at, 0])
            before = hits[r] if place > 0 else 0
            hits[r] = before + rows[row, 2] + other + (slot - other) * keeps


@kernel(parallel=True)
def resample_nested(tables: NestedTables, seed: int, first: int, count: int) -> NDArray[np.int64]:
    """Return m1, m2 and m3 of each resample, shape (3, count)."""
    out = np.empty((_STAGES, count), dtype=np.int64)
    for block in numba.prange((count + _BLOCK - 1) // _BLOCK):
        start, stop = block * _BLOCK, min(count, (block + 1) * _BLOCK)
        keys = np.empty(stop - start, dtype=np.uint64)
        for r in range(stop - start):
            keys[r] = key(seed, BOOTSTRAP, first + start + r)
        points = np.empty(stop - start)
        trials = np.full(stop - start, tables.n)
        for stage in range(_STAGES):
            hits = out[stage, start:stop]
            _pass_stage(tables, stage, keys, points, trials, hits)
            trials = hits
    return out
