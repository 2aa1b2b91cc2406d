"""Draws by counter: even, independent of their neighbours, and the same on any number of threads.

Each statistical check has a fixed seed, and its bound is about five standard deviations of the right law, so
that an honest generator under another seed would fail about once in a million.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from molaudit.kernels import streams
from molaudit.kernels.machine.compile import kernel


@kernel()
def _words(seed: int, stream: int, first: int, n_resamples: int, n_draws: int) -> NDArray[np.uint64]:
    out = np.empty((n_resamples, n_draws), dtype=np.uint64)
    for r in range(n_resamples):
        key = streams.key(seed, stream, first + r)
        for d in range(n_draws):
            out[r, d] = streams.word(key, d)
    return out


@kernel()
def _indices(words: NDArray[np.uint64], n: int) -> NDArray[np.int64]:
    out = np.empty((2, len(words)), dtype=np.int64)
    for i in range(len(words)):
        out[0, i] = np.int64(streams.high_below(words[i], np.uint64(n)))
        out[1, i] = np.int64(streams.low_below(words[i], np.uint64(n)))
    return out


@kernel()
def _reals(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    out = np.empty((3, len(words)))
    for i in range(len(words)):
        out[0, i] = streams.uniform(words[i])
        out[1, i] = streams.inner_uniform(words[i])
        out[2, i] = streams.normal(words[i])
    return out


@kernel()
def _quantiles(p: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.empty(len(p))
    for i in range(len(p)):
        out[i] = streams.normal_quantile(p[i])
    return out


def _word(seed: int, stream: int, resample: int, draw: int) -> int:
    return int(streams.word(np.uint64(streams.key(seed, stream, resample)), draw))


def _bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    flat = words.ravel()
    return ((flat[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).astype(np.int64)


def _chi2_is_plausible(counts: NDArray[np.int64]) -> bool:
    expected = counts.sum() / counts.size
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = counts.size - 1
    return abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


def _splitmix64(state: int) -> int:
    """Plain Python integers, from the published reference: the oracle of the arithmetic."""
    mask = 2**64 - 1
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def test_words_equal_the_construction_written_in_python_integers():
    golden, offset, mask = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 2**64 - 1
    for seed, stream, resample, draw in [(0, 0, 0, 0), (7, 2, 5, 11), (-1, 3, 2**62, 2**40)]:
        state = _splitmix64(((seed & mask) + offset) & mask)
        state = _splitmix64(state ^ ((stream * golden + offset) & mask))
        state = _splitmix64(state ^ ((resample * golden + offset) & mask))
        expected = _splitmix64(state ^ ((draw * golden) & mask))
        assert _word(seed, stream, resample, draw) == expected


def test_bytes_of_words_are_even_along_draws_and_along_resamples():
    along_draws = _words(1, streams.BOOTSTRAP, 0, 1, 200_000)
    along_resamples = _words(1, streams.BOOTSTRAP, 0, 200_000, 1)
    for words in (along_draws, along_resamples):
        pieces = words.ravel().view(np.uint8).reshape(-1, 8)
        for place in range(8):
            assert _chi2_is_plausible(np.bincount(pieces[:, place], minlength=256))


def test_no_word_comes_twice_within_a_resample_nor_among_neighbours():
    assert len(np.unique(_words(3, 1, 0, 500, 500))) == 500 * 500


@pytest.mark.parametrize("axis", ["seed", "stream", "resample", "draw"])
def test_one_flipped_bit_of_any_coordinate_flips_half_of_the_word(axis):
    rng = np.random.default_rng(5)
    flips = np.zeros((64, 64), dtype=np.int64)
    trials = 300
    for _ in range(trials):
        start = [int(v) for v in rng.integers(0, 2**62, 4)]
        place = ["seed", "stream", "resample", "draw"].index(axis)
        base = _word(*start)
        for bit in range(62):
            other = list(start)
            other[place] ^= 1 << bit
            changed = base ^ _word(*other)
            flips[bit] += _bits(np.array([changed], dtype=np.uint64))[0]
    share = flips[:62] / trials
    assert np.all(np.abs(share - 0.5) < 5.5 * 0.5 / np.sqrt(trials))
    assert abs(share.mean() - 0.5) < 5 * 0.5 / np.sqrt(trials * 62 * 64)


@pytest.mark.parametrize(
    "neighbour",
    [(0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0)],
    ids=["draw", "resample", "stream", "seed"],
)
def test_bits_of_neighbours_are_uncorrelated(neighbour):
    seed, stream, resample, draw = neighbour
    here = _words(11, 2, 0, 200, 101)
    there = _words(11 + seed, 2 + stream, resample, 200, 101)
    words = _bits(here[:, :100]) * 2 - 1
    shifted = _bits(there[:, draw : draw + 100]) * 2 - 1
    correlation = words.T @ shifted / len(words)
    assert np.max(np.abs(correlation)) < 5.5 / np.sqrt(len(words))


def test_pairs_of_successive_draws_fill_the_square_evenly():
    words = _words(2, 2, 0, 2000, 101).astype(np.uint64)
    index = (words >> np.uint64(59)).astype(np.int64)
    cells = index[:, :-1] * 32 + index[:, 1:]
    assert _chi2_is_plausible(np.bincount(cells.ravel(), minlength=1024))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 500, 1000, 4999])
def test_indices_are_even_and_the_two_of_a_word_are_independent(n):
    words = _words(4, 2, 0, 1, 300_000).ravel()
    high, low = _indices(words, n)
    for index in (high, low):
        assert index.min() >= 0
        assert index.max() < n
        assert n == 1 or _chi2_is_plausible(np.bincount(index, minlength=n))
    if 1 < n < 50:
        assert _chi2_is_plausible(np.bincount(high * n + low, minlength=n * n))


@pytest.mark.parametrize("n", [3, 5, 641, 10_007, 2**31 - 1])
def test_bias_of_an_index_is_below_two_to_the_minus_32(n):
    """The halves that lead to index i are the integers from ceil(i 2^32 / n) on: counted, not sampled."""
    for i in {0, 1, n // 2, n - 2, n - 1}:
        first, after = -(-(i << 32) // n), -(-((i + 1) << 32) // n)
        edge = np.array([first << 32, (after - 1) << 32, first, after - 1], dtype=np.uint64)
        high, low = _indices(edge, n)
        assert high[0] == high[1] == low[2] == low[3] == i
        assert abs((after - first) / 2**32 - 1 / n) < 2**-32


def test_uniform_and_normal_draws_have_the_moments_of_their_laws():
    words = _words(6, streams.SIMULATION, 0, 1, 400_000).ravel()
    uniform, inner, normal = _reals(words)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    bound = 5 / np.sqrt(len(words))
    assert abs(uniform.mean() - 0.5) < bound * np.sqrt(1 / 12)
    np.testing.assert_allclose(uniform, inner, atol=2**-52)
    for power, moment, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        assert abs((normal**power).mean() - moment) < bound * np.sqrt(variance)
    assert _chi2_is_plausible(np.bincount((special.ndtr(normal) * 200).astype(np.int64), minlength=200))


def test_extreme_words_give_finite_draws():
    uniform, inner, normal = _reals(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert uniform[0] == 0
    assert uniform[1] == 1 - 2**-53
    assert 0 < inner[0] < inner[1] < 1
    np.testing.assert_allclose(normal, special.ndtri(inner), rtol=1e-12)


def test_normal_quantile_agrees_with_scipy_to_the_last_digits():
    p = np.concatenate([np.random.default_rng(0).random(20_000), 10.0 ** -np.arange(1.0, 300.0)])
    np.testing.assert_allclose(_quantiles(p), special.ndtri(p), rtol=3e-15)


def test_any_resample_alone_gives_the_same_bits():
    whole = _words(9, 2, 0, 1000, 10)
    np.testing.assert_array_equal(_words(9, 2, 400, 100, 10), whole[400:500])
