"""All pairs of bit rows within a window of Tanimoto similarity, without a Python loop and without all pairs.

Rows are sorted by size (a whole number of the caller's, such as heavy atoms) and by their number of bits. Two
rows of a and b bits share at most min(a, b), so similarity T needs T a <= b <= a / T: of every size in reach only
that stretch is visited. There the shared bits are counted eight words at a time, and a pair is left as soon as
the bits that remain could not make up what is missing; at T = 0.8 most pairs are left after the first eight words.
These lie together, and each row's are compared with those of a tile of rows at once: past some 30,000 rows it is
memory that takes the time otherwise.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._bits import popcount
from .machine.compile import device, kernel

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]

_BLOCK: Final = 8
_TILE: Final = 32
_SLACK: Final = 1e-9
_FIRST_ROOM: Final = 1024


class SimilarPairs(NamedTuple):
    """Pairs of rows, ``first < second``, ordered by first, then second; int64[m], int64[m], float64[m]."""

    first: Integers
    second: Integers
    similarity: NDArray[np.float64]


class Sweep(NamedTuple):
    """Rows in the order in which they are compared.

    ``order`` int64[n] leads back to the rows given; ``bits`` uint64[n, w]; ``heads`` uint64[n, 8], their first block;
    ``left`` int64[n, blocks + 1], bits that remain from a block on; ``sizes`` int64[n].
    """

    order: Integers
    bits: Words
    heads: Words
    left: Integers
    sizes: Integers


def prepare(bits: Words, sizes: Integers | None = None) -> Sweep:
    """Sort rows for `stretch`.

    Parameters
    ----------
    bits
        uint64[n, w], one row of packed bits each.
    sizes
        int64[n] of values >= 0, or None where there are none.

    Raises
    ------
    ValueError
        Other shapes or kinds.
    """
    if bits.ndim != 2 or bits.dtype != np.uint64 or bits.shape[1] == 0:
        raise ValueError(f"bits: found {bits.dtype}{list(bits.shape)}; allowed: uint64[n, w] with w >= 1")
    rows = len(bits)
    sizes = np.zeros(rows, dtype=np.int64) if sizes is None else np.asarray(sizes, dtype=np.int64)
    if sizes.shape != (rows,) or (rows and sizes.min() < 0):
        raise ValueError(
            f"sizes: found shape {list(sizes.shape)}; allowed: one value >= 0 for each of {rows} rows"
        )
    left = _left(np.ascontiguousarray(bits))
    order = np.lexsort((left[:, 0], sizes))
    ordered = np.ascontiguousarray(bits[order])
    heads = np.zeros((rows, _BLOCK), dtype=np.uint64)
    heads[:, : min(_BLOCK, bits.shape[1])] = ordered[:, :_BLOCK]
    return Sweep(order, ordered, heads, left[order], sizes[order])


def stretch(
    sweep: Sweep, start: int, stop: int, *, low: float, high: float = 1.0, size_difference: int | None = None
) -> SimilarPairs:
    """Compare the sorted rows ``start`` to ``stop`` with all that stand behind them.

    Stretches that cover 0 to n, one after the other or on several machines, find what `similar_pairs` finds.
    """
    if not 0 < low <= high:
        raise ValueError(f"low and high: found {low} and {high}; allowed: 0 < low <= high")
    largest = int(sweep.sizes[-1]) if len(sweep.sizes) else 0
    reach = largest if size_difference is None else size_difference
    bounds = np.searchsorted(sweep.sizes, np.arange(largest + 2))
    # How many bits two rows must share, by the number of bits in both together; two empty rows never do.
    together = np.arange(2 * int(sweep.left[:, 0].max(initial=0)) + 1)
    needed = np.maximum(1, np.ceil(low * together / (1.0 + low) - _SLACK)).astype(np.int64)
    one, other, similarity = _stretch(
        sweep.bits, sweep.heads, sweep.left, np.ascontiguousarray(sweep.left[:, 0]),
        np.ascontiguousarray(sweep.left[:, 1]), bounds, needed, start, stop, float(low), float(high), reach,
    )  # fmt: skip
    a, b = sweep.order[one], sweep.order[other]
    first, second = np.minimum(a, b), np.maximum(a, b)
    by = np.lexsort((second, first))
    return SimilarPairs(first[by], second[by], similarity[by])


def similar_pairs(
    bits: Words,
    sizes: Integers | None = None,
    *,
    low: float,
    high: float = 1.0,
    size_difference: int | None = None,
) -> SimilarPairs:
    """Find all pairs of rows with low <= T <= high whose sizes differ by at most ``size_difference``.

    T is the number of shared bits over the number of bits in either row; two empty rows have none.

    Parameters
    ----------
    bits
        uint64[n, w].
    sizes
        int64[n], values >= 0; None: sizes do not count.
    low, high
        Both inclusive, compared with the correctly rounded quotient.

    Raises
    ------
    ValueError
        Other shapes, or not 0 < low <= high.

    Examples
    --------
    >>> similar_pairs(np.array([[0b1111], [0b0111], [0b1000]], dtype=np.uint64), low=0.5)
    SimilarPairs(first=array([0]), second=array([1]), similarity=array([0.75]))
    """
    return stretch(prepare(bits, sizes), 0, len(bits), low=low, high=high, size_difference=size_difference)


@kernel()
def _left(bits: Words) -> Integers:
    """Count the bits of each row from each block of words to its end."""
    rows, words = bits.shape
    blocks = (words + _BLOCK - 1) // _BLOCK
    left = np.zeros((rows, blocks + 1), dtype=np.int64)
    for i in range(rows):
        for block in range(blocks - 1, -1, -1):
            count = np.uint64(0)
            for word in range(block * _BLOCK, min(words, (block + 1) * _BLOCK)):
                count += popcount(bits[i, word])
            left[i, block] = left[i, block + 1] + np.int64(count)
    return left


@device
def _first_at_least(counts: Integers, start: int, stop: int, count: int) -> int:
    """Find the first row of a stretch, sorted by bits, that has at least ``count`` of them."""
    while start < stop:
        middle = (start + stop) // 2
        if counts[middle] < count:
            start = middle + 1
        else:
            stop = middle
    return start


@device
def _shared_in_heads(heads: Words, i: int, j: int) -> int:
    count = np.uint64(0)
    for word in range(_BLOCK):
        count += popcount(heads[i, word] & heads[j, word])
    return int(count)


@device
def _shared(bits: Words, left: Integers, i: int, j: int, shared: int, least: int) -> int:
    """Count on after the heads; -1 as soon as fewer than ``least`` are certain."""
    words = bits.shape[1]
    for block in range(1, left.shape[1] - 1):
        count = np.uint64(0)
        for word in range(block * _BLOCK, min(words, (block + 1) * _BLOCK)):
            count += popcount(bits[i, word] & bits[j, word])
        shared += int(count)
        if shared + min(left[i, block + 1], left[j, block + 1]) < least:
            return -1
    return shared


@device
def _grown(array: NDArray[np.int64]) -> NDArray[np.int64]:
    larger = np.empty(2 * len(array), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@kernel()
def _stretch(
    bits: Words,
    heads: Words,
    left: Integers,
    counts: Integers,
    after: Integers,
    bounds: Integers,
    needed: Integers,
    start: int,
    stop: int,
    low: float,
    high: float,
    reach: int,
) -> tuple[Integers, Integers, NDArray[np.float64]]:
    one = np.empty(_FIRST_ROOM, dtype=np.int64)
    other = np.empty(_FIRST_ROOM, dtype=np.int64)
    shares = np.empty(_FIRST_ROOM, dtype=np.int64)
    found = 0
    size = 0
    begin = start
    while begin < stop:
        while bounds[size + 1] <= begin:
            size += 1
        # A tile is of one size, so its numbers of bits are in order.
        end = min(begin + _TILE, stop, bounds[size + 1])
        fewest = math.ceil(low * counts[begin] - _SLACK)
        most = math.floor(counts[end - 1] / low + _SLACK)
        for other_size in range(size, min(size + reach, len(bounds) - 2) + 1):
            last = bounds[other_size + 1]
            for j in range(_first_at_least(counts, max(bounds[other_size], begin + 1), last, fewest), last):
                b = counts[j]
                if b > most:
                    break
                for i in range(begin, min(end, j)):
                    least = needed[counts[i] + b]
                    shared = _shared_in_heads(heads, i, j)
                    if shared + min(after[i], after[j]) < least:
                        continue
                    shared = _shared(bits, left, i, j, shared, least)
                    if shared < 0:
                        continue
                    if low <= shared / (counts[i] + b - shared) <= high:
                        if found == len(one):
                            one, other, shares = _grown(one), _grown(other), _grown(shares)
                        one[found], other[found], shares[found] = i, j, shared
                        found += 1
        begin = end
    similarities = np.empty(found, dtype=np.float64)
    for k in range(found):
        similarities[k] = shares[k] / (counts[one[k]] + counts[other[k]] - shares[k])
    return one[:found], other[:found], similarities
