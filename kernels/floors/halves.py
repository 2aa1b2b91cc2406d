"""Random halves of many prefixes, learned and scored, for a block of repeats side by side.

Every step is a loop over the repeats of a block (lanes) without branches, so it vectorises; only the evening
out of large halves is a serial step per lane. A lane's draws depend on its own repeat number alone. Rows are
taken before a loop and computed indices are unsigned, for numba wraps negative ones round, which turned loads
into gathers (half the speed). 256 lanes were 15 % faster than 64: fewer checks for overlap per repeat.

An exact half, uniform over all of them:

- up to 16 labels: one entry of the list of all 16-bit numbers in the order of their population count. Those of
  h bits that stay below 2**n come first among the numbers of h bits, so one list serves every n;
- up to 32: how many of the half lie among the first 16 is drawn from its (hypergeometric) distribution, then
  each part as above;
- more labels: a fair bit for each, then random positions are drawn, and a surplus (or missing) bit found there
  is flipped until the count is right. No step prefers a position, so all halves are equally likely.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._bits import popcount
from ..machine.compile import device, kernel
from ..streams import FLOORS, high_below, key, low_below, word
from .plan import WORD

LANES: Final = 256
SMALL: Final = 16
TIE_BITS: Final = 16
TIE_MASK: Final = (1 << TIE_BITS) - 1
_ONE: Final = np.uint64(1)
_ALL: Final = np.uint64(2**64 - 1)


class Tables(NamedTuple):
    """What picking subsets of at most 32 labels needs, the same for all benchmarks."""

    masks: NDArray[np.uint32]  # [2**16] all 16-bit numbers by population count, then by size
    weight_start: NDArray[np.int64]  # [17] where each population count starts
    binomial: NDArray[np.int64]  # [17, 17]
    split: NDArray[np.int64]  # [33, 17] 2**63 P(first 16 of n labels hold at most w of the half)


@cache
def tables() -> Tables:
    """Return the tables, computed in integers on the first call (milliseconds)."""
    weight = np.bitwise_count(np.arange(1 << SMALL, dtype=np.uint32))
    binomial = [[math.comb(n, k) for k in range(SMALL + 1)] for n in range(SMALL + 1)]
    split = np.zeros((2 * SMALL + 1, SMALL + 1), dtype=np.int64)
    for n in range(SMALL + 1, 2 * SMALL + 1):
        ways = [math.comb(SMALL, w) * _choose(n - SMALL, n // 2 - w) for w in range(SMALL + 1)]
        below = [min((sum(ways[: w + 1]) << 63) // sum(ways), 2**63 - 1) for w in range(SMALL + 1)]
        split[n] = below
    return Tables(
        masks=np.argsort(weight, kind="stable").astype(np.uint32),
        weight_start=np.searchsorted(np.sort(weight), np.arange(SMALL + 1)).astype(np.int64),
        binomial=np.array(binomial),
        split=split,
    )


def _choose(n: int, k: int) -> int:
    return math.comb(n, k) if k >= 0 else 0


@device
def _draw_small(
    halves: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    draw: int,
    masks: NDArray[np.uint32],
    start: int,
    total: int,
) -> None:
    row = halves[0]
    for lane in range(LANES):
        row[lane] = masks[np.uint64(start) + high_below(word(keys[lane], draw), np.uint64(total))]


@device
def _draw_double(
    halves: NDArray[np.uint64],
    keys: NDArray[np.uint64],
    drawn: NDArray[np.int64],
    weight: NDArray[np.int64],
    draw: int,
    n: int,
    half: int,
    masks: NDArray[np.uint32],
    weight_start: NDArray[np.int64],
    binomial: NDArray[np.int64],
    split: NDArray[np.int64],
) -> None:
    """Draw how many of the half lie among the first 16 labels, then both parts."""
    row = halves[0]
    least, most = max(0, half - (n - SMALL)), min(SMALL, half)
    for lane in range(LANES):
        drawn[lane] = np.int64(word(keys[lane], draw) >> _ONE)
        weight[lane] = least
    for w in range(least, most):
        limit = split[n, w]
        for lane in range(LANES):
            weight[lane] += 1 if drawn[lane] >= limit else 0
    ways_first, ways_second = binomial[SMALL], binomial[n - SMALL]
    for lane in range(LANES):
        parts = word(keys[lane], draw + 1)
        low, high = np.uint64(weight[lane]), np.uint64(half - weight[lane])
        first = np.uint64(weight_start[low]) + high_below(parts, np.uint64(ways_first[low]))
        second = np.uint64(weight_start[high]) + low_below(parts, np.uint64(ways_second[high]))
        row[lane] = np.uint64(masks[first]) | np.uint64(masks[second]) << np.uint64(SMALL)


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
        row = halves[w]
        for lane in range(LANES):
            drawn = word(keys[lane], draw + w) & limit
            row[lane] = drawn
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
            at = position >> np.uint64(6)
            shift = position & np.uint64(63)
            hit = (((halves[at, lane] >> shift) & _ONE) == wanted) & (left > 0)
            halves[at, lane] ^= (_ONE if hit else np.uint64(0)) << shift
            left -= 1 if hit else 0


@device
def _learn(
    halves: NDArray[np.uint64],
    learned: NDArray[np.int64],
    first: int,
    last: int,
    segment_word: NDArray[np.int64],
    segment_mask: NDArray[np.uint64],
) -> None:
    """Count the learned labels of one continuation."""
    words, mask = halves[segment_word[first]], segment_mask[first]
    for lane in range(LANES):
        learned[lane] = np.int64(popcount(words[lane] & mask))
    for s in range(first + 1, last):
        words, mask = halves[segment_word[s]], segment_mask[s]
        for lane in range(LANES):
            learned[lane] += np.int64(popcount(words[lane] & mask))


@device
def _score(
    halves: NDArray[np.uint64],
    learned: NDArray[np.int64],
    best: NDArray[np.int64],
    tied: NDArray[np.int64],
    hits: NDArray[np.float64],
    label_count: NDArray[np.int64],
    first_segment: NDArray[np.int64],
    segment_word: NDArray[np.int64],
    segment_mask: NDArray[np.uint64],
    first: int,
    last: int,
) -> None:
    """Add to hits the unlearned labels of the continuation learned most often, averaged over the tied.

    ``tied`` holds the labels of the tied continuations and, in its low bits, how many those are.
    """
    for lane in range(LANES):
        best[lane] = 0
        tied[lane] = 0
    for c in range(first, last):
        _learn(halves, learned, first_segment[c], first_segment[c + 1], segment_word, segment_mask)
        one = (label_count[c] << TIE_BITS) + 1
        for lane in range(LANES):
            kept = tied[lane] if learned[lane] <= best[lane] else 0
            tied[lane] = kept + (one if learned[lane] >= best[lane] else 0)
            best[lane] = max(learned[lane], best[lane])
    for lane in range(LANES):
        hits[lane] += (tied[lane] >> TIE_BITS) / (tied[lane] & TIE_MASK) - best[lane]


@kernel()
def hits_of_repeats(
    size: NDArray[np.int64],
    half: NDArray[np.int64],
    draw: NDArray[np.int64],
    first_continuation: NDArray[np.int64],
    label_count: NDArray[np.int64],
    first_segment: NDArray[np.int64],
    segment_word: NDArray[np.int64],
    segment_mask: NDArray[np.uint64],
    masks: NDArray[np.uint32],
    weight_start: NDArray[np.int64],
    binomial: NDArray[np.int64],
    split: NDArray[np.int64],
    seed: int,
    first_draw: int,
    first: int,
    first_block: int,
    last_block: int,
    out: NDArray[np.float64],
) -> None:
    """Write to float64[repeats] the hits over all prefixes, for the repeats of some blocks; repeat 0 is ``first``."""
    most = 0
    for g in range(size.size):
        most = max(most, size[g])
    halves = np.empty(((most + WORD - 1) // WORD, LANES), dtype=np.uint64)
    keys = np.empty(LANES, dtype=np.uint64)
    scratch = np.empty((4, LANES), dtype=np.int64)
    hits = np.empty(LANES, dtype=np.float64)
    for block in range(first_block, last_block):
        hits[:] = 0.0
        for lane in range(LANES):
            keys[lane] = key(seed, FLOORS, first + block * LANES + lane)
        for g in range(size.size):
            n, h, d = size[g], half[g], first_draw + draw[g]
            if n <= SMALL:
                _draw_small(halves, keys, d, masks, weight_start[h], binomial[n, h])
            elif n <= 2 * SMALL:
                _draw_double(
                    halves, keys, scratch[0], scratch[1], d, n, h, masks, weight_start, binomial, split
                )
            else:
                _draw_large(halves, keys, scratch[3], d, n, h)
            _score(
                halves, scratch[0], scratch[1], scratch[2], hits, label_count, first_segment, segment_word,
                segment_mask, first_continuation[g], first_continuation[g + 1],
            )  # fmt: skip
        for lane in range(min(LANES, len(out) - block * LANES)):
            out[block * LANES + lane] = hits[lane]
