"""The sweep over bit rows finds exactly the pairs that comparing all of them finds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from molaudit.kernels import tanimoto

Found = list[tuple[int, int, float]]


def all_pairs(
    bits: NDArray[np.uint64], sizes: NDArray[np.int64] | None, low: float, high: float, difference: int | None
) -> Found:
    """Compare every row with every other, bit by bit, in Python."""
    sets = [{i for i in range(64 * len(row)) if int(row[i // 64]) >> (i % 64) & 1} for row in bits]
    found = []
    for i in range(len(sets)):
        for j in range(i + 1, len(sets)):
            if not sets[i] or not sets[j]:
                continue
            if (
                sizes is not None
                and difference is not None
                and abs(int(sizes[i]) - int(sizes[j])) > difference
            ):
                continue
            similarity = len(sets[i] & sets[j]) / len(sets[i] | sets[j])
            if low <= similarity <= high:
                found.append((i, j, similarity))
    return found


def as_list(pairs: tanimoto.SimilarPairs) -> Found:
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), pairs.similarity.tolist(), strict=True))


def families(n: int, words: int, seed: int) -> NDArray[np.uint64]:
    """Rows that come in families of near relatives, some of them empty, some equal."""
    rng = np.random.default_rng(seed)
    parents = rng.random((max(1, n // 6), 64 * words)) < 0.1
    rows = parents[rng.integers(len(parents), size=n)] ^ (rng.random((n, 64 * words)) < 0.01)
    rows[rng.integers(n, size=n // 20)] = False
    return np.packbits(rows, axis=1, bitorder="little").view(np.uint64)


@pytest.mark.parametrize("words", [1, 3, 8, 9, 32])
@pytest.mark.parametrize(("low", "high"), [(0.8, 1.0), (0.4, 0.9), (0.05, 0.6), (1.0, 1.0)])
def test_sweep_finds_what_comparing_all_pairs_finds(words: int, low: float, high: float) -> None:
    bits = families(120, words, seed=words)
    ours = as_list(tanimoto.similar_pairs(bits, low=low, high=high))
    assert ours == all_pairs(bits, None, low, high, None)


@pytest.mark.parametrize("difference", [0, 1, 3, 100])
def test_sizes_that_differ_by_too_much_are_left_out(difference: int) -> None:
    bits = families(150, 4, seed=7)
    sizes = np.random.default_rng(1).integers(0, 9, 150)
    ours = as_list(tanimoto.similar_pairs(bits, sizes, low=0.3, size_difference=difference))
    assert ours == all_pairs(bits, sizes, 0.3, 1.0, difference)
    assert ours


def test_sizes_without_a_limit_do_not_count() -> None:
    bits = families(80, 4, seed=3)
    sizes = np.arange(80)
    assert as_list(tanimoto.similar_pairs(bits, sizes, low=0.3)) == all_pairs(bits, None, 0.3, 1.0, None)


def test_a_bound_that_is_met_exactly_is_inside() -> None:
    # 4 of 5 bits are shared: 0.8, the double that the quotient rounds to.
    bits = np.array([[0b11111], [0b01111], [0b00111]], dtype=np.uint64)
    assert as_list(tanimoto.similar_pairs(bits, low=0.8)) == [(0, 1, 0.8)]
    assert as_list(tanimoto.similar_pairs(bits, low=0.6, high=0.75)) == [(0, 2, 0.6), (1, 2, 0.75)]


def test_stretches_together_find_what_the_whole_finds() -> None:
    bits = families(200, 4, seed=5)
    sizes = np.random.default_rng(2).integers(0, 5, 200)
    sweep = tanimoto.prepare(bits, sizes)
    parts = [
        tanimoto.stretch(sweep, start, min(start + 37, 200), low=0.5, size_difference=2)
        for start in range(0, 200, 37)
    ]
    together = sorted(pair for part in parts for pair in as_list(part))
    assert together == as_list(tanimoto.similar_pairs(bits, sizes, low=0.5, size_difference=2))


def test_more_pairs_than_there_is_room_for_at_first() -> None:
    bits = np.full((80, 2), 0b1011, dtype=np.uint64)
    assert len(tanimoto.similar_pairs(bits, low=1.0).first) == 80 * 79 // 2


@pytest.mark.parametrize("n", [0, 1])
def test_no_row_and_one_row_make_no_pair(n: int) -> None:
    assert as_list(tanimoto.similar_pairs(np.ones((n, 2), dtype=np.uint64), low=0.5)) == []


@pytest.mark.parametrize(
    ("bits", "sizes", "low", "message"),
    [
        (np.ones(3, dtype=np.uint64), None, 0.5, "uint64\\[n, w\\]"),
        (np.ones((3, 2), dtype=np.int64), None, 0.5, "uint64\\[n, w\\]"),
        (np.ones((3, 2), dtype=np.uint64), np.array([1, 2]), 0.5, "each of 3 rows"),
        (np.ones((3, 2), dtype=np.uint64), np.array([1, -2, 1]), 0.5, ">= 0"),
        (np.ones((3, 2), dtype=np.uint64), None, 0.0, "0 < low <= high"),
        (np.ones((3, 2), dtype=np.uint64), None, 1.5, "0 < low <= high"),
    ],
)
def test_what_cannot_be_swept_is_refused(
    bits: NDArray[np.uint64], sizes: NDArray[np.int64] | None, low: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tanimoto.similar_pairs(bits, sizes, low=low)
