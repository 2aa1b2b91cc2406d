"""Clopper-Pearson bounds against scipy, against exact arithmetic, and against the theorem of their coverage."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats
from thread_pieces import in_pieces

from molaudit.kernels import intervals
from molaudit.kernels.machine import threads


def _by_scipy(k: NDArray[np.int64], n: NDArray[np.int64], tail: float) -> tuple[NDArray[np.float64], ...]:
    with np.errstate(all="ignore"):
        low = np.where(k == 0, 0.0, special.betaincinv(np.maximum(k, 1), n - k + 1, tail))
        high = np.where(k == n, 1.0, special.betainccinv(k + 1, np.maximum(n - k, 1), tail))
    return low, high


def _exact_tail(k: int, n: int, p: float) -> Fraction:
    """P(Bin(n, p) >= k) of the double p, as a fraction."""
    x = Fraction(p)
    return sum((comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(k, n + 1)), Fraction(0))


def test_textbook_intervals():
    low, high = intervals.clopper_pearson([0, 10, 5], [10, 10, 10])
    np.testing.assert_allclose(low, [0, 0.6915, 0.1871], atol=5e-5)
    np.testing.assert_allclose(high, [0.3085, 1, 0.8129], atol=5e-5)


def test_every_pair_up_to_sixty_trials_agrees_with_scipy():
    n = np.repeat(np.arange(61), np.arange(1, 62))
    k = np.concatenate([np.arange(m + 1) for m in range(61)])
    for level in (0.5, 0.9, 0.95, 0.999):
        low, high = _by_scipy(k, n, (1 - level) / 2)
        ours = intervals.clopper_pearson(k, n, level)
        np.testing.assert_allclose(ours.low, low, rtol=1e-12)
        np.testing.assert_allclose(ours.high, high, rtol=1e-12)


@pytest.mark.parametrize("largest", [1000, 100_000, 10**6])
@pytest.mark.parametrize("where", ["anywhere", "few hits", "few misses"])
def test_large_counts_agree_with_scipy(largest, where):
    rng = np.random.default_rng(largest)
    n = rng.integers(1, largest + 1, 2000)
    few = np.minimum(n, rng.integers(0, 40, 2000))
    k = {"anywhere": (rng.random(2000) * (n + 1)).astype(np.int64), "few hits": few, "few misses": n - few}[
        where
    ]
    low, high = _by_scipy(k, n, 0.025)
    ours = intervals.clopper_pearson(k, n)
    np.testing.assert_allclose(ours.low, low, rtol=1e-10)
    np.testing.assert_allclose(ours.high, high, rtol=1e-10)


def test_a_thousand_million_trials_agree_with_scipy():
    n = np.full(8, 10**9)
    k = np.array([0, 10**9, 1, 10**5, 10**7, 5 * 10**8, 10**9 - 10**6, 10**9 - 1])
    low, high = _by_scipy(k, n, 0.025)
    ours = intervals.clopper_pearson(k, n)
    np.testing.assert_allclose(ours.low, low, rtol=1e-10)
    exact_in_scipy = np.array([0, 1, 4, 5, 6, 7])
    np.testing.assert_allclose(ours.high[exact_in_scipy], high[exact_in_scipy], rtol=1e-10)


@pytest.mark.parametrize("k", [1, 3, 29])
def test_few_hits_of_a_thousand_million_solve_the_equation_in_exact_arithmetic(k):
    """Here scipy's betainccinv is off by up to 3e-8, so the bound is put into its equation with 60 digits."""
    n = 10**9
    bound = float(intervals.clopper_pearson(k, n).high)
    with localcontext() as context:
        context.prec = 60
        x = Decimal(bound)
        term = (1 - x) ** n
        total = term
        for j in range(k):
            term = term * (n - j) / (j + 1) * x / (1 - x)
            total += term
        assert abs(total / Decimal("0.025") - 1) < Decimal("1e-12")


def _relative_error(k, n, level):
    x = float(intervals.lower_bound(k, n, level))
    tail = Fraction(1 - level)
    slope = Fraction(comb(n, k) * k) * Fraction(x) ** (k - 1) * (1 - Fraction(x)) ** (n - k)
    return abs((_exact_tail(k, n, x) - tail) / slope / Fraction(x))


@pytest.mark.parametrize(("k", "n"), [(4, 9), (5, 12), (6, 38), (2, 3)])
def test_the_first_guess_is_not_taken_for_the_bound_where_it_is_good(k, n):
    assert _relative_error(k, n, 0.5) < Fraction(1, 10**12)


@given(st.integers(2, 300), st.data())
@settings(deadline=None, max_examples=40)
def test_the_lower_bound_solves_its_equation_exactly(n, data):
    k = data.draw(st.integers(1, n))
    level = data.draw(st.floats(0.5, 0.9999999))
    assert _relative_error(k, n, level) < Fraction(1, 10**12)


def test_extreme_levels_converge():
    for level in (0.5, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53):
        for k, n in [(2, 3), (2, 10**6), (500, 1000), (999, 1000), (10**6 - 2, 10**6)]:
            expected = special.betaincinv(k, n - k + 1, 1 - level)
            assert float(intervals.lower_bound(k, n, level)) == pytest.approx(expected, rel=1e-10)


def test_one_sided_bounds_are_the_quantiles_of_the_beta_law():
    k, n = np.array([0, 3, 50, 200]), np.array([200, 200, 200, 200])
    low, high = _by_scipy(k, n, 0.05)
    np.testing.assert_allclose(intervals.upper_bound(k, n), high, rtol=1e-12)
    np.testing.assert_allclose(intervals.lower_bound(k, n), low, rtol=1e-12)
    assert intervals.upper_bound(0, 500).item() == pytest.approx(1 - 0.05 ** (1 / 500), rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 30, 101])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_coverage_is_at_least_nominal_at_every_chance_by_an_exact_sum(n, level):
    k = np.arange(n + 1)
    low, high = intervals.clopper_pearson(k, n, level)
    ends = np.concatenate([low, high])
    grid = np.concatenate([np.linspace(0, 1, 501), np.clip(ends - 1e-9, 0, 1), np.clip(ends + 1e-9, 0, 1)])
    for p in grid:
        covered = stats.binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum()
        assert covered > level - 1e-6
    upper = intervals.upper_bound(k, n, level)
    for p in grid:
        assert stats.binom.pmf(k, n, p)[p <= upper].sum() > level - 1e-6


def test_mirror_images_are_mirrored_and_counts_that_repeat_are_equal():
    rng = np.random.default_rng(3)
    n = rng.integers(1, 40, 3000)
    k = (rng.random(3000) * (n + 1)).astype(np.int64)
    low, high = intervals.clopper_pearson(k, n)
    alone = [intervals.clopper_pearson(int(a), int(b)) for a, b in zip(k[:200], n[:200], strict=True)]
    np.testing.assert_array_equal(low[:200], [bounds.low.item() for bounds in alone])
    np.testing.assert_array_equal(high[:200], [bounds.high.item() for bounds in alone])
    mirrored = intervals.clopper_pearson(n - k, n)
    np.testing.assert_allclose(mirrored.low, 1 - high, atol=1e-15)
    same_n = intervals.clopper_pearson(np.arange(41), 40)
    np.testing.assert_array_equal(same_n.low[7], intervals.clopper_pearson(7, 40).low)


def test_shapes_broadcast_and_no_trials_give_the_whole_range():
    low, high = intervals.clopper_pearson([[0], [0]], [0, 5, 9])
    assert low.shape == high.shape == (2, 3)
    np.testing.assert_array_equal(low, 0)
    assert high[0, 0] == 1
    assert intervals.clopper_pearson([], []).low.shape == (0,)
    assert intervals.clopper_pearson(2.0, 4.0).low.shape == ()


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (0, 2**31), (0.5, 3)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ValueError, match=r"0 <= k <= n|whole numbers"):
        intervals.clopper_pearson(k, n)


@pytest.mark.parametrize("level", [0, 1, -0.1, float("nan")])
def test_impossible_levels_are_refused(level):
    with pytest.raises(ValueError, match="level"):
        intervals.clopper_pearson(1, 2, level)
    with pytest.raises(ValueError, match="level"):
        intervals.upper_bound(1, 2, level)


def test_any_number_of_threads_gives_the_same_bits():
    n = np.random.default_rng(8).integers(1, 5000, 4000)
    with in_pieces():
        whole = intervals.clopper_pearson(n // 3, n)
    with threads.limited(1):
        single = intervals.clopper_pearson(n // 3, n)
    np.testing.assert_array_equal(whole.low, single.low)
    np.testing.assert_array_equal(whole.high, single.high)


def test_read_only_columns_are_not_compiled_for_again():
    n = np.arange(1, 50)
    intervals.clopper_pearson(n, n)
    compiled = len(intervals._solve.signatures)
    n.flags.writeable = False
    intervals.clopper_pearson(n, n)
    assert len(intervals._solve.signatures) == compiled
