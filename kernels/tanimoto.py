"""All pairs of bit rows within a window of Tanimoto similarity, without a Python loop and without all pairs.

Rows are sorted by size (a whole number of the caller's, such as heavy atoms) and by their number of bits. Two
rows of a and b bits share at most min(a, b), so similarity T needs T a <= b <= a / T: of every size in reach only
that stretch is visited. There the shared bits are counted eight words at a time, and a pair is left as soon as
the bits that remain could not make up what is missing; at T = 0.8 most pairs are left after the first eight words.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._bits import popcount
from .compile import device, kernel

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]

_BLOCK: Final = 8
_SLACK: Final = 1e-9
_FIRST_ROOM: Final = 1024


class SimilarPairs(NamedTuple):
    """Pairs of rows, ``first < second``, ordered by first, then second; int64[m], int64[m], float64[m]."""

    first: Integers
    second: Integers
    similarity: NDArray[np.float64]


class Sweep(NamedTuple):
    """Rows in the order in which they are compared.

    ``order`` int64[n] leads back to the rows given; ``bits`` uint64[n, w]; ``left`` int64[n, blocks], bits that
    remain from a block on; ``sizes`` int64[n].
    """

    order: Integers
    bits: Words
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
    return Sweep(order, np.ascontiguousarray(bits[order]), left[order], sizes[order])


def stretch(
    sweep: Sweep, start: int, stop: int, *, low: float, high: float = 1.0, size_difference: int | None = None
) -> SimilarPairs:
    """Compare the sorted rows ``start`` to ``stop`` with all that stand behind them.

    Stretches that cover 0 to n, one after the other or on several machines, find what `similar_pairs` finds.
    """
    if not 0 < low <= high:
        raise ValueError(f"low and high: found {low} and {high}; allowed: 0 < low <= high")
    reach = int(sweep.sizes[-1]) if size_difference is None and len(sweep.sizes) else size_difference or 0
    bounds = np.searchsorted(sweep.sizes, np.arange((int(sweep.sizes[-1]) if len(sweep.sizes) else 0) + 2))
    one, other, similarity = _stretch(
        sweep.bits, sweep.left, sweep.sizes, bounds, start, stop, float(low), float(high), reach
    )
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
def _first_at_least(left: Integers, start: int, stop: int, count: int) -> int:
    """Find the first row of a stretch, sorted by bits, that has at least ``count`` of them."""
    while start < stop:
        middle = (start + stop) // 2
        if left[middle, 0] < count:
            start = middle + 1
        else:
            stop = middle
    return start


@device
def _shared(bits: Words, left: Integers, i: int, j: int, least: int) -> int:
    """Count shared bits; -1 as soon as fewer than ``least`` are certain."""
    words = bits.shape[1]
    shared = 0
    for block in range(left.shape[1] - 1):
        count = np.uint64(0)
        begin = block * _BLOCK
        if begin + _BLOCK <= words:
            for k in range(_BLOCK):
                count += popcount(bits[i, begin + k] & bits[j, begin + k])
        else:
            for word in range(begin, words):
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
    left: Integers,
    sizes: Integers,
    bounds: Integers,
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
    for i in range(start, stop):
        a = left[i, 0]
        if a == 0:
            continue
        fewest = math.ceil(low * a - _SLACK)
        most = math.floor(a / low + _SLACK)
        for size in range(sizes[i], min(sizes[i] + reach, len(bounds) - 2) + 1):
            begin = max(bounds[size], i + 1)
            for j in range(_first_at_least(left, begin, bounds[size + 1], fewest), bounds[size + 1]):
                b = left[j, 0]
                if b > most:
                    break
                least = math.ceil(low * (a + b) / (1.0 + low) - _SLACK)
                shared = _shared(bits, left, i, j, least)
                if shared < 0:
                    continue
                similarity = shared / (a + b - shared)
                if low <= similarity <= high:
                    if found == len(one):
                        one, other, shares = _grown(one), _grown(other), _grown(shares)
                    one[found], other[found], shares[found] = i, j, shared
                    found += 1
    similarities = np.empty(found, dtype=np.float64)
    for k in range(found):
        i, j = one[k], other[k]
        similarities[k] = shares[k] / (left[i, 0] + left[j, 0] - shares[k])
    return one[:found], other[:found], similarities
