"""Random halves of many prefixes, learned and scored, for a block of repeats side by side.

Every step is a loop over the repeats of a block (lanes) without branches, so it vectorises; only the evening
out of large halves is a serial step per lane. A lane's draws depend on its own repeat number alone.

An exact half, uniform over all of them:

- up to 16 labels: one entry of the list of all 16-bit numbers in the order of their population count. Those of
  h bits that stay below 2**n come first among the numbers of h bits, so one list serves every n;
- more labels: a fair bit for each, then random positions are drawn, and a surplus (or missing) bit found there
  is flipped until the count is right. No step prefers a position, so all halves are equally likely.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numba import prange
from numpy.typing import NDArray

from ._bits import popcount
from ._floors_plan import WORD
from .compile import device, kernel
from .streams import FLOORS, high_below, key, low_below, word

LANES: Final = 64
SMALL: Final = 16
_ONE: Final = np.uint64(1)
_ALL: Final = np.uint64(2**64 - 1)


@cache
def subsets() -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return all 16-bit numbers by population count, then by size, and where each count starts."""
    weight = np.bitwise_count(np.arange(1 << SMALL, dtype=np.uint32))
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(weight))])
    return np.argsort(weight, kind="stable").astype(np.uint32), start


@device
def choose(n: int, k: int) -> int:
    """Return the binomial coefficient of n <= 16."""
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


@device
def _draw_small(
    halves: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    draw: int,
    masks: NDArray[np.uint32],
    start: int,
    total: int,
) -> None:
    for lane in range(LANES):
        halves[lane] = masks[start + np.int64(high_below(word(keys[lane], draw), np.uint64(total)))]


@device
def _draw_large(
    halves: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    bits: NDArray[np.int64],
    draw: int,
    n: int,
    half: int,
) -> None:
    words = (n + WORD - 1) // WORD
    for lane in range(LANES):
        bits[lane] = -half
    for w in range(words):
        used = min(n - w * WORD, WORD)
        limit = _ALL >> np.uint64(WORD - used)
        for lane in range(LANES):
            drawn = word(keys[lane], draw + w) & limit
            halves[w * LANES + lane] = drawn
            bits[lane] += np.int64(popcount(drawn))
    for lane in range(LANES):
        if bits[lane] != 0:
            _even_out(halves, lane, word(keys[lane], draw + words), n, bits[lane])


@device
def _even_out(halves: NDArray[np.uint64], lane: int, chain: np.uint64, n: int, surplus: int) -> None:
    wanted = _ONE if surplus > 0 else np.uint64(0)
    left = abs(surplus)
    step = 0
    while left > 0:
        drawn = word(chain, step)
        step += 1
        for position in (high_below(drawn, np.uint64(n)), low_below(drawn, np.uint64(n))):
            at = np.int64(position >> np.uint64(6)) * LANES + lane
            shift = position & np.uint64(63)
            hit = (((halves[at] >> shift) & _ONE) == wanted) & (left > 0)
            halves[at] ^= (_ONE if hit else np.uint64(0)) << shift
            left -= 1 if hit else 0


@device
def _score(
    halves: NDArray[np.uint64],
    learned: NDArray[np.int64],
    best: NDArray[np.int64],
    tied: NDArray[np.int64],
    labels: NDArray[np.int64],
    hits: NDArray[np.float64],
    count: NDArray[np.int64],
    first_segment: NDArray[np.int64],
    segment_word: NDArray[np.int64],
    segment_mask: NDArray[np.uint64],
    first: int,
    last: int,
) -> None:
    """Add to hits the unlearned labels of the continuation learned most often, averaged over the tied."""
    for lane in range(LANES):
        best[lane] = 0
        tied[lane] = 0
        labels[lane] = 0
    for c in range(first, last):
        for lane in range(LANES):
            learned[lane] = 0
        for s in range(first_segment[c], first_segment[c + 1]):
            offset = segment_word[s] * LANES
            mask = segment_mask[s]
            for lane in range(LANES):
                learned[lane] += np.int64(popcount(halves[offset + lane] & mask))
        for lane in range(LANES):
            more = learned[lane] > best[lane]
            same = learned[lane] == best[lane]
            tied[lane] = 1 if more else tied[lane] + (1 if same else 0)
            labels[lane] = count[c] if more else labels[lane] + (count[c] if same else 0)
            best[lane] = max(learned[lane], best[lane])
    for lane in range(LANES):
        hits[lane] += labels[lane] / tied[lane] - best[lane]


@kernel(parallel=True)
def hits_of_repeats(
    size: NDArray[np.int64],
    half: NDArray[np.int64],
    draw: NDArray[np.int64],
    first_continuation: NDArray[np.int64],
    count: NDArray[np.int64],
    first_segment: NDArray[np.int64],
    segment_word: NDArray[np.int64],
    segment_mask: NDArray[np.uint64],
    masks: NDArray[np.uint32],
    weight_start: NDArray[np.int64],
    seed: int,
    first_draw: int,
    first: int,
    repeats: int,
) -> NDArray[np.float64]:
    """Return float64[repeats]: hits over all prefixes of the repeats first .. first + repeats - 1."""
    out = np.empty(repeats, dtype=np.float64)
    words = (size.max() + WORD - 1) // WORD
    for block in prange((repeats + LANES - 1) // LANES):
        halves = np.empty(words * LANES, dtype=np.uint64)
        keys = np.empty(LANES, dtype=np.uint64)
        scratch = np.empty((5, LANES), dtype=np.int64)
        hits = np.zeros(LANES, dtype=np.float64)
        for lane in range(LANES):
            keys[lane] = key(seed, FLOORS, first + block * LANES + lane)
        for g in range(size.size):
            n, h, d = size[g], half[g], first_draw + draw[g]
            if n <= SMALL:
                _draw_small(halves, keys, d, masks, weight_start[h], choose(n, h))
            else:
                _draw_large(halves, keys, scratch[4], d, n, h)
            _score(
                halves, scratch[0], scratch[1], scratch[2], scratch[3], hits, count, first_segment,
                segment_word, segment_mask, first_continuation[g], first_continuation[g + 1],
            )  # fmt: skip
        stop = min(LANES, repeats - block * LANES)
        out[block * LANES : block * LANES + stop] = hits[:stop]
    return out
