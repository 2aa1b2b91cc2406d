"""Resampled nested counts by their multinomial: a cell's bootstrap without its pairs.

The counts of one resample are m1 ~ Bin(n, m1/n), m2 ~ Bin(m1, m2/m1) and m3 ~ Bin(m2, m3/m2), each given the last.
A binomial draw is a look-up in an alias table (Walker 1977, Vose 1991), one table for each number of trials that
the stage before can give. From 1,024 pairs on that would be too many tables: trials are then written in base 32 and
Bin(t, p) is drawn as the sum of a Bin(digit 32^i, p) for each digit that is not zero.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..machine.compile import device, kernel
from ..machine.threads import spread
from ..streams import BOOTSTRAP, key, word

_STAGES: Final = 3
_BLOCK: Final = 1024
# Standard deviations that a table covers: a tail of 8e-11, below the 2^-32 that a draw can resolve.
_REACH: Final = 6.5
_RESOLUTION: Final = 2.0**32
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_SIGN: Final = np.uint64(63)


class NestedTables(NamedTuple):
    """Alias tables for the three stages of a cell.

    Attributes
    ----------
    n, bits
        Number of pairs, and the binary digits of one place of a number of trials.
    widths
        Shape (stages, places): the tables of a place have 2^width slots.
    firsts
        Shape (stages, places): the first slot of Bin(digit << (i bits), p) at place i is
        ``firsts + (digit << width)``.
    lows
        Shape (stages, places << bits): the lowest value of each table.
    slots
        A word holds the chance, in units of 2^-32, that the slot gives its own value (upper half), and else the slot
        whose value it gives (lower half).
    """

    n: int
    bits: int
    widths: NDArray[np.int64]
    firsts: NDArray[np.int64]
    lows: NDArray[np.int64]
    slots: NDArray[np.uint64]

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
    if trials == 0 or p <= 0.0 or p >= 1.0:  # the lowest value is the only one
        slots[:, 0] = 0.0
        slots[0, 0] = size
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


@device
def _digits(place: int, bits: int, n: int, least: int, most: int) -> tuple[int, int]:
    """Return the lowest and highest digit that a number of trials in least..most can have at a place."""
    if n >> bits == 0:
        return least, most
    return 0, min((1 << bits) - 1, most >> (bits * place))


@kernel()
def _build(
    n: int, rates: NDArray[np.float64], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Build the tables for the numbers of trials that each stage can meet."""
    n_places = 1
    while n >> (bits * n_places) > 0:
        n_places += 1
    widths = np.ones((_STAGES, n_places), dtype=np.int64)
    firsts = np.zeros((_STAGES, n_places), dtype=np.int64)
    lows = np.zeros((_STAGES, n_places << bits), dtype=np.int64)
    ranges = np.empty((_STAGES, 2), dtype=np.int64)
    used = widest = 0
    least, most = n, n
    for stage in range(_STAGES):
        ranges[stage, 0], ranges[stage, 1] = least, most
        for place in range(n_places):
            lowest, highest = _digits(place, bits, n, least, most)
            for digit in range(lowest, highest + 1):
                low, high = _spread(digit << (bits * place), rates[stage])
                lows[stage, (place << bits) + digit] = low
                while 1 << widths[stage, place] < high - low + 1:
                    widths[stage, place] += 1
            firsts[stage, place] = used - (lowest << widths[stage, place])
            used += (highest - lowest + 1) << widths[stage, place]
            widest = max(widest, 1 << widths[stage, place])
        least, most = _spread(least, rates[stage])[0], _spread(most, rates[stage])[1]
    slots = np.empty(used, dtype=np.uint64)
    scratch = np.empty((2, widest), dtype=np.int64)
    chances = np.empty((widest, 2))
    for stage in range(_STAGES):
        for place in range(n_places):
            size = 1 << widths[stage, place]
            lowest, highest = _digits(place, bits, n, ranges[stage, 0], ranges[stage, 1])
            for digit in range(lowest, highest + 1):
                low = lows[stage, (place << bits) + digit]
                _chances(digit << (bits * place), rates[stage], low, chances[:size])
                _share_out(chances[:size], scratch[0], scratch[1])
                first = firsts[stage, place] + (digit << widths[stage, place])
                for i in range(size):
                    keeps = min(chances[i, 0] * _RESOLUTION + 0.5, _RESOLUTION - 1.0)
                    slots[first + i] = np.uint64(keeps) << _HALF | np.uint64(chances[i, 1])
    return widths, firsts, lows, slots


@device
def _add_place(
    table: tuple[int, int, int, int],
    lows: NDArray[np.int64],
    slots: NDArray[np.uint64],
    words: NDArray[np.uint64],
    trials: NDArray[np.int64],
    hits: NDArray[np.int64],
) -> None:
    """Add to the hits a draw of Bin(digit << shift, p) of each resample, by one word each.

    The upper bits of a word choose the slot, the 32 that follow whether the slot gives its own value: each chance
    is right to 2^-32. There is no branch, since that choice could only be guessed.
    """
    shift, mask, width, first = table
    left, right = np.uint64(width), np.uint64(64 - width)
    for r in range(len(words)):
        digit = (trials[r] >> shift) & mask
        own = words[r] >> right
        slot = slots[np.uint64(first + (digit << width)) + own]
        keeps = (((words[r] << left) >> _HALF) - (slot >> _HALF)) >> _SIGN
        other = slot & _LOW_HALF
        hits[r] += lows[digit] + np.int64(other + (own - other) * keeps)


def resample_nested(tables: NestedTables, seed: int, first: int, out: NDArray[np.int64]) -> None:
    """Write m1, m2 and m3 of each resample to ``out``, shape (3, count)."""
    blocks = -(-out.shape[1] // _BLOCK)
    spread(lambda a, b: _resample_blocks(tables, seed, first, a, b, out), blocks, 30 * _BLOCK)


@kernel()
def _resample_blocks(
    tables: NestedTables, seed: int, first: int, first_block: int, last_block: int, out: NDArray[np.int64]
) -> None:
    """Write m1, m2 and m3 of each resample to ``out``, shape (3, count).

    A block at a time, since the look-ups of one resample wait for each other and those of many do not, and words
    first, since they are made in vectors.
    """
    count = out.shape[1]
    mask = (1 << tables.bits) - 1
    for block in range(first_block, last_block):
        start, stop = block * _BLOCK, min(count, (block + 1) * _BLOCK)
        keys = np.empty(stop - start, dtype=np.uint64)
        for r in range(stop - start):
            keys[r] = key(seed, BOOTSTRAP, first + start + r)
        words = np.empty(stop - start, dtype=np.uint64)
        trials = np.empty(stop - start, dtype=np.int64)
        trials[:] = tables.n
        for stage in range(_STAGES):
            hits = out[stage, start:stop]
            hits[:] = 0
            for place in range(tables.widths.shape[1]):
                for r in range(stop - start):
                    words[r] = word(keys[r], 16 * stage + place)
                table = (place * tables.bits, mask, tables.widths[stage, place], tables.firsts[stage, place])
                lows = tables.lows[stage, place << tables.bits : (place + 1) << tables.bits]
                _add_place(table, lows, tables.slots, words, trials, hits)
            trials = hits
