"""Tails against exact fractions, brute force and published tables; corrections against their definitions."""

import csv
import itertools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from shared_data import DATA, needs
from thread_pieces import in_pieces

from molaudit.kernels import tails
from molaudit.kernels.machine import threads

_RECALL = DATA / "published" / "recall"
_PUBLISHED_BH_LEVEL = 0.010499147628217775

published = needs(_RECALL)


def _rows(name: str) -> list[dict[str, str]]:
    with (_RECALL / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _exact(k: int, n: int, p: float) -> Fraction:
    """P(Bin(n, p) >= k) of the double p, in whole numbers over the n-th power of its denominator."""
    hit, whole = Fraction(p).as_integer_ratio()
    first = max(k, 0)
    if first > n:
        return Fraction(0)
    hits, miss = hit**first, whole - hit
    total = 0
    for j in range(first, n + 1):  # Horner's rule in the misses
        total = total * miss + comb(n, j) * hits
        hits *= hit
    return Fraction(total, whole**n)


def _relative_error(ours: float, exact: Fraction) -> float:
    return abs(float(Fraction(ours) / exact - 1)) if exact else abs(ours)


@given(st.integers(1, 250), st.data())
@settings(deadline=None, max_examples=120)
def test_binomial_tail_equals_the_exact_sum_of_fractions(n, data):
    k = data.draw(st.integers(0, n + 1))
    p = data.draw(st.one_of(st.floats(0, 1), st.floats(1e-6, 0.3)))
    exact = _exact(k, n, p)
    if exact and exact < Fraction(1, 10**300):
        return
    assert _relative_error(tails.binomial_upper(k, n, p).item(), exact) < 1e-12


@pytest.mark.parametrize(
    ("k", "n", "p"),
    [
        (148, 194, 1e-2),
        (500, 500, 0.1116),
        (200, 500, 1e-2),
        (96, 148, 0.12),
        (300, 400, 0.25),
        (600, 1000, 0.1),
    ],
)
def test_far_tails_keep_their_digits(k, n, p):
    exact = _exact(k, n, p)
    assert exact < Fraction(1, 10**30)
    if exact > Fraction(1, 10**300):
        assert _relative_error(tails.binomial_upper(k, n, p).item(), exact) < 1e-12


def test_a_tail_of_1e_minus_300_is_shown_as_such():
    exact = _exact(276, 1000, 0.01)
    assert Fraction(1, 10**305) < exact < Fraction(1, 10**290)
    assert _relative_error(tails.binomial_upper(276, 1000, 0.01).item(), exact) < 1e-12
    assert tails.binomial_upper(300, 300, 0.1).item() == pytest.approx(1e-300, rel=1e-12)


def test_many_trials_agree_with_the_incomplete_beta_function():
    rng = np.random.default_rng(4)
    n = rng.integers(1000, 10**6, 3000)
    p = rng.random(3000)
    k = np.clip(np.round(n * p + rng.normal(0, 3, 3000) * np.sqrt(n * p * (1 - p))), 1, n)
    np.testing.assert_allclose(tails.binomial_upper(k, n, p), special.betainc(k, n - k + 1, p), rtol=2e-10)


def test_edges_of_the_binomial_tail():
    cases = [(0, 0, 0.3, 1), (-2, 5, 0.3, 1), (1, 0, 0.3, 0), (6, 5, 0.3, 0), (1, 5, 0, 0), (5, 5, 1, 1)]
    for k, n, p, expected in cases:
        assert tails.binomial_upper(k, n, p).item() == expected
    for chance in (math.nan, -0.1, 1.1):
        assert math.isnan(tails.binomial_upper(3, 5, chance).item())
    assert tails.binomial_upper([], [], []).shape == (0,)
    assert tails.binomial_upper([[1], [2]], [3, 4, 5], 0.5).shape == (2, 3)


@given(st.lists(st.floats(0, 1), min_size=0, max_size=9), st.integers(-1, 10))
@settings(deadline=None, max_examples=80)
def test_poisson_binomial_equals_the_sum_over_all_outcomes(p, k):
    expected = 0.0
    for outcome in itertools.product((0, 1), repeat=len(p)):
        if sum(outcome) >= k:
            expected += math.prod(c if hit else 1 - c for c, hit in zip(p, outcome, strict=True))
    assert tails.poisson_binomial_upper(k, p) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_poisson_binomial_of_equal_chances_is_binomial_far_out():
    for k, n, p in [(3, 10, 0.2), (120, 300, 0.1), (276, 1000, 0.01)]:
        ours = tails.poisson_binomial_upper(k, np.full(n, p))
        assert _relative_error(ours, _exact(k, n, p)) < 1e-12
    assert math.isnan(tails.poisson_binomial_upper(1, [0.2, math.nan]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        tails.poisson_binomial_upper(1, [1.2])


@given(st.lists(st.floats(0, 1), max_size=40))
@settings(deadline=None, max_examples=60)
def test_q_values_equal_scipys(p):
    ours = tails.benjamini_hochberg(p)
    expected = stats.false_discovery_control(p) if p else np.empty(0)
    np.testing.assert_allclose(ours, expected, rtol=1e-14)


def test_q_values_refuse_nan():
    with pytest.raises(ValueError, match="untested"):
        tails.benjamini_hochberg([0.1, math.nan])


def test_operating_point_is_the_largest_rejected_p():
    assert tails.bh_level([0.01, 0.02, 0.9, 1], 0.05) == 0.02
    assert tails.bh_level([0.01, 0.013, 0.9, 1, 1], 0.05) == 0.013
    assert math.isnan(tails.bh_level([0.5, 1], 0.05))
    assert math.isnan(tails.bh_level([], 0.05))


def test_smallest_count_is_where_the_tail_falls_below_alpha():
    for n, p, alpha in itertools.product((0, 1, 15, 60), (0.0, 0.003, 0.12, 0.757, 1.0), (0.05, 1e-6)):
        k = tails.smallest_count(n, p, alpha).item()
        exact = [_exact(j, n, p) for j in range(n + 1)] + [Fraction(0)]
        expected = next(j for j, tail in enumerate(exact) if tail < Fraction(alpha) or j == n + 1)
        assert k == expected
    assert tails.smallest_count(10, math.nan, 0.05).item() == 11


def test_mcnemar_equals_the_two_sided_binomial_test():
    for b, c in itertools.product(range(12), repeat=2):
        expected = stats.binomtest(b, b + c).pvalue if b + c else 1
        assert tails.mcnemar(b, c).item() == pytest.approx(expected, rel=1e-12)


@published
def test_all_published_detection_limits_come_out():
    floors = {row["dataset"]: row for row in _rows("label_floor.csv")}
    column = {"R12": "mode_R12", "R23": "mode_R23", "hit1": "floor_hit1", "hit3": "floor_hit3"}
    rows = _rows("detection_limits.csv")
    assert len(rows) == 624
    for row in rows:
        alpha = 0.05 if row["level"] == "alpha" else _PUBLISHED_BH_LEVEL
        floor = float(floors[row["dataset"]][column[row["stat"]]]) / 100
        n = int(row["n"])
        expected = int(float(row["k_min"])) if row["k_min"] else n + 1
        assert tails.smallest_count(n, floor, alpha).item() == expected, row


@published
@pytest.mark.parametrize("arm", ["reg", "t1024", "t1024r"])
def test_every_published_p_and_q_comes_out(arm):
    floors = {row["dataset"]: row for row in _rows("label_floor.csv")}
    rows = [row for row in _rows("cells.csv") if row["arm"] == arm]
    m1, m2, m3 = (np.array([int(row[name]) for row in rows]) for name in ("m1", "m2", "m3"))
    floor12, floor23 = (
        np.array([float(floors[row["dataset"]][name]) / 100 for row in rows])
        for name in ("mode_R12", "mode_R23")
    )
    tested12, tested23 = m1 >= 15, (m1 >= 15) & (m2 >= 15)
    p12, p23 = tails.binomial_upper(m2, m1, floor12), tails.binomial_upper(m3, m2, floor23)
    q = tails.benjamini_hochberg(np.concatenate([np.where(tested12, p12, 1), np.where(tested23, p23, 1)]))
    named = [
        ("p_R12", p12, tested12),
        ("p_R23", p23, tested23),
        ("q_R12", q[: len(rows)], tested12),
        ("q_R23", q[len(rows) :], tested23),
    ]
    for name, values, tested in named:
        shown = np.array([row[name] != "" for row in rows])
        np.testing.assert_array_equal(shown, tested)
        expected = [float(row[name]) for row in rows if row[name]]
        np.testing.assert_allclose(values[tested], expected, rtol=1e-5, atol=1e-15)
    flagged = np.minimum(np.where(tested12, q[: len(rows)], 1), np.where(tested23, q[len(rows) :], 1)) < 0.05
    assert flagged.sum() == {"reg": 47, "t1024": 89, "t1024r": 12}[arm]


def test_p_values_are_no_smaller_than_uniform_under_the_null():
    """P(p <= a) <= a for every a, by an exact sum: what makes the test a test."""
    for n, p in [(15, 0.12), (40, 0.1), (200, 0.11)]:
        k = np.arange(n + 1)
        tail = tails.binomial_upper(k, n, p)
        mass = stats.binom.pmf(k, n, p)
        for alpha in (1e-4, 0.01, 0.05, 0.3):
            assert mass[tail <= alpha].sum() <= alpha * (1 + 1e-9)


def test_any_number_of_threads_gives_the_same_bits():
    k = np.arange(1, 4000)
    with in_pieces():
        whole = tails.binomial_upper(k, 5000, 0.3)
    with threads.limited(1):
        np.testing.assert_array_equal(tails.binomial_upper(k, 5000, 0.3), whole)


def test_read_only_columns_are_not_compiled_for_again():
    """Arrays of polars are read-only, which numba takes for another type."""
    n = np.arange(1, 50)
    p = np.full(49, 0.3)
    tails.binomial_upper(n, n, p)
    compiled = len(tails._upper_tails.signatures)
    for array in (n, p):
        array.flags.writeable = False
    tails.binomial_upper(n, n, p)
    assert len(tails._upper_tails.signatures) == compiled
