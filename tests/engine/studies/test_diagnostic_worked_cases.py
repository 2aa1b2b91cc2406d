"""Every worked case of the diagnostic's measures, as exact fractions; floats as scipy gives them, six digits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from molaudit.engine.studies.diagnostic_collapse import collapse_ratio, quantiles, ratio_of_means
from molaudit.engine.studies.diagnostic_evidence import evidence_f1, gain, hit_at, reached
from molaudit.engine.studies.diagnostic_groups import UNTESTED, corrected, directions, fisher, mann_whitney
from molaudit.engine.studies.diagnostic_response import (
    mean_response,
    set_response,
    switching,
    switching_p,
    yield_response,
)
from molaudit.engine.studies.diagnostic_scores import (
    constant_answer,
    f1,
    jaccard,
    mean_error,
    mean_score,
    right,
)

INFINITE = math.inf


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# 1. F1
@pytest.mark.parametrize(
    ("predicted", "target", "expected"),
    [
        ("green sweet", "green sweet fruity", Fraction(4, 5)),
        ("green", "woody", 0),
        ("", "woody", 0),
        ("a b c", "c d", Fraction(2, 5)),
        ("", "", 1),
        (None, "woody", 0),
    ],
)
def test_f1_of_a_set(predicted: str | None, target: str, expected: Fraction | int) -> None:
    assert f1(None if predicted is None else words(predicted), words(target)) == float(expected)


def test_mean_f1_of_the_first_four_is_three_tenths() -> None:
    assert mean_score([4 / 5, 0, 0, 2 / 5]).score == pytest.approx(3 / 10, abs=1e-15)
    assert mean_score([]) == (None, 0, 0)


def test_answer_that_could_not_be_read_is_wrong_in_rates_and_has_no_error() -> None:
    assert [right(None, "1"), right("1", "1"), right("0", "1")] == [0, 1, 0]
    assert mean_error([4, None, 6], [0, 0, 0]) == (5, 2, 1)
    assert mean_error([None], [3]) == (None, 0, 1)
    assert jaccard(frozenset(), frozenset()) == 1


# 2. Collapse ratio
@pytest.mark.parametrize(
    ("consistent", "inconsistent", "error", "expected"),
    [
        ([1, 1, 0, 1], [1, 0, 0, 1], False, 3 / 2),
        ([1, 1], [0, 0, 0], False, INFINITE),
        ([0, 0], [0], False, None),
        ([0, 0], [1, 0], False, 0),
        ([4, 6], [20, 10, 30], True, 4),
        ([0, 0], [5], True, INFINITE),
        ([0], [0], True, None),
        ([3], [0], True, 0),
        ([], [1], False, None),
    ],
)
def test_collapse_ratio(
    consistent: list[float], inconsistent: list[float], error: bool, expected: float | None
) -> None:
    means = [mean_score(group).score for group in (consistent, inconsistent)]
    assert collapse_ratio(*means, error=error) == expected
    clusters = range(len(consistent)), range(100, 100 + len(inconsistent))
    found = ratio_of_means(consistent, inconsistent, clusters, resamples=50, seed=1, error=error)
    assert found.value == expected


def all_resamples(
    consistent: list[float], inconsistent: list[float]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The ratio of every pair of resamples, each as likely as any other."""
    found = []
    for a in itertools.product(consistent, repeat=len(consistent)):
        for b in itertools.product(inconsistent, repeat=len(inconsistent)):
            ratio = collapse_ratio(sum(a) / len(a), sum(b) / len(b))
            found.append(math.nan if ratio is None else ratio)
    return np.array(found)


def test_exact_bootstrap_with_a_sixteenth_undefined_has_no_interval() -> None:
    ratios = all_resamples([1, 0], [1, 0])
    shares = {value: float((ratios == value).mean()) for value in (0, 1 / 2, 1, 2, INFINITE)}
    assert shares == {0: 3 / 16, 1 / 2: 1 / 8, 1: 5 / 16, 2: 1 / 8, INFINITE: 3 / 16}
    assert np.isnan(ratios).mean() == 1 / 16
    assert quantiles(ratios, 0.95) == (None, None)
    found = ratio_of_means([1, 0], [1, 0], ([1, 2], [3, 4]), resamples=4000, seed=1)
    assert found == (1, None, None)


def test_exact_bootstrap_with_infinite_ratios_has_an_infinite_end() -> None:
    ratios = all_resamples([1, 1], [1, 0, 0, 0])
    shares = [float((ratios == value).mean()) for value in (1, 4 / 3, 2, 4, INFINITE)]
    assert shares == [count / 256 for count in (1, 12, 54, 108, 81)]
    assert quantiles(ratios, 0.95) == (4 / 3, INFINITE)
    found = ratio_of_means([1, 1], [1, 0, 0, 0], ([1, 2], [3, 4, 5, 6]), resamples=20_000, seed=1)
    assert found == (4, pytest.approx(4 / 3), INFINITE)


# 3. Directional switching
def rows(text: str) -> tuple[list[str | None], list[str | None], list[str]]:
    split = [row.strip("()").split(",") for row in text.split()]
    read = [[None if part == "-" else part for part in row] for row in split]
    return [r[0] for r in read], [r[1] for r in read], [str(r[2]) for r in read]


def test_switching_counts_toward_away_and_unchanged() -> None:
    found = switching(*rows("(1,0,0) (0,1,1) (1,1,0) (0,0,0) (1,1,1) (0,1,0)"))
    assert (found.n, found.left_out) == (6, 0)
    assert (found.toward, found.away, found.unchanged, found.follows) == (2 / 6, 1 / 6, 3 / 6, 4 / 6)
    assert (found.low, found.high) == (pytest.approx(0.043272, abs=5e-7), pytest.approx(0.777222, abs=5e-7))
    assert switching_p(found) == 1.0


def test_switching_of_one_pair() -> None:
    found = switching(*rows("(1,-,0) (-,-,1) (0,1,1)"))
    assert (found.n, found.left_out, found.toward) == (1, 2, 1)
    assert (found.low, found.high) == (pytest.approx(0.025), 1)


def test_switching_without_a_pair_is_undefined() -> None:
    found = switching(*rows("(-,0,0) (1,-,1)"))
    assert (found.n, found.left_out, found.toward, found.low, found.high) == (0, 2, None, None, None)
    assert switching_p(found) == 1.0


def test_no_switching_at_all() -> None:
    found = switching(*rows("(0,0,0) (0,0,0) (0,0,0) (0,0,0)"))
    assert (found.toward, found.low) == (0, 0)
    assert found.high == pytest.approx(0.602365, abs=5e-7)


# 4. Set response
A, F = words("sweet fruity"), words("woody smoky")


@pytest.mark.parametrize(
    ("p2", "p3", "true", "false", "expected"),
    [
        (A, F, A, F, 1),
        (words("sweet green"), words("sweet woody"), A, F, Fraction(1, 6)),
        (F, A, A, F, -1),
        (words(""), F, A, F, Fraction(1, 2)),
        (words("green"), words("green"), A, F, 0),
        (words("a b"), words("b c"), words("a b"), words("b c"), 1),
        (words("a"), words("c"), words("a b"), words("b c"), Fraction(3, 4)),
        (words("a"), words("c"), A, A, None),
        (None, F, A, F, None),
        (A, None, A, F, None),
    ],
)
def test_set_response(
    p2: frozenset[str] | None, p3: frozenset[str] | None, true: frozenset[str], false: frozenset[str],
    expected: Fraction | int | None,
) -> None:  # fmt: skip
    found = set_response(p2, p3, true, false)
    assert found == (None if expected is None else pytest.approx(float(expected), abs=1e-15))


def test_mean_response_leaves_out_what_is_undefined() -> None:
    found = mean_response([1, 1 / 6, 0, None], [1, 2, 3, 4], resamples=100, seed=1)
    assert (found.n, found.left_out) == (3, 1)
    assert found.mean == pytest.approx(7 / 18)
    assert mean_response([None], [1], resamples=10, seed=1) == (0, 1, None, None, None, None)


def test_bootstrap_of_a_mean_response_is_over_clusters() -> None:
    # Means 0, 1/2 and 1 with probabilities 1/4, 1/2 and 1/4: both tails of 2.5 % are the extremes.
    found = mean_response([1, 1, 0, 0], [1, 1, 2, 2], resamples=4000, seed=1)
    assert (found.mean, found.low, found.high) == (0.5, 0, 1)
    single = mean_response([1, 1, 0, 0], [1, 2, 3, 4], resamples=100_000, seed=1, level=0.9)
    assert (single.low, single.high) == (0, 1)
    # By sample the extremes have 1/16 each, so an interval of 85 % ends at 1/4 and 3/4; by cluster still at 0 and 1.
    assert mean_response([1, 1, 0, 0], [1, 2, 3, 4], resamples=100_000, seed=1, level=0.85)[3:5] == (
        0.25,
        0.75,
    )
    assert mean_response([1, 1, 0, 0], [1, 1, 2, 2], resamples=100_000, seed=1, level=0.85)[3:5] == (0, 1)


# 5. Yield response
def numbers(text: str) -> tuple[list[float | None], list[float | None], list[float], list[float]]:
    split = [row.strip("()").split(",") for row in text.split()]
    read = [[None if part == "-" else float(part) for part in row] for row in split]
    return (
        [r[0] for r in read],
        [r[1] for r in read],
        [float(r[2] or 0) for r in read],
        [float(r[3] or 0) for r in read],
    )


def test_yield_response() -> None:
    found = yield_response(
        *numbers("(40,60,30,70) (40,35,80,20) (40,40,30,70) (50,45,10,60) (50.0,50.1,20,50)")
    )
    assert (found.n, found.toward, found.away, found.unchanged) == (5, 3 / 5, 1 / 5, 1 / 5)
    assert (found.low, found.high) == (pytest.approx(0.146633, abs=5e-7), pytest.approx(0.947255, abs=5e-7))


def test_yield_response_without_pairs_and_without_change() -> None:
    assert yield_response(*numbers("(40,-,30,70)")).toward is None
    found = yield_response(*numbers(" ".join(["(40,40,30,70)"] * 6)))
    assert (found.toward, found.low) == (0, 0)
    assert found.high == pytest.approx(0.459258, abs=5e-7)


@pytest.mark.parametrize(
    ("k", "low", "high"), [(90, 0.845475, 0.964097), (60, 0.508486, 0.709029), (96, 0.928218, 0.997519)]
)
def test_yield_response_of_98_pairs(k: int, low: float, high: float) -> None:
    found = yield_response(
        *numbers(" ".join(["(40,60,30,70)"] * k + ["(40,40,30,70)"] * 2 + ["(40,30,30,70)"] * (96 - k)))
    )
    assert (found.n, found.toward) == (98, k / 98)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-7), pytest.approx(high, abs=5e-7))


# 6. Group tests
@pytest.mark.parametrize(
    ("consistent", "inconsistent", "p", "effect"),
    [
        ([1] * 3, [0] * 3, 0.1, 1),
        ([1] * 5 + [0], [1] + [0] * 5, 0.0800866, 2 / 3),
        ([1] * 4, [1] * 4, 1, 0),
    ],
)
def test_fisher(consistent: list[float], inconsistent: list[float], p: float, effect: float) -> None:
    found = fisher(consistent, inconsistent)
    assert found.p == pytest.approx(p, abs=5e-8)
    assert found.effect == pytest.approx(effect)


def test_empty_group_is_untested_and_enters_the_correction_as_one() -> None:
    assert fisher([], [1.0]) == mann_whitney([1.0], []) == UNTESTED
    assert corrected([0.01, None]) == [0.02, 1.0]


def test_mann_whitney_on_scores_with_ties() -> None:
    found = mann_whitney([1, 1, 1 / 2], [0, 0, 1 / 2])
    assert found.statistic == 8.5
    assert found.p == pytest.approx(0.110149, abs=5e-7)
    assert found.effect == pytest.approx(8 / 9)


def test_mann_whitney_on_errors_is_exact_and_smaller_is_better() -> None:
    found = mann_whitney([1, 2], [3, 4, 5], smaller_is_better=True)
    assert (found.p, found.effect, found.direction) == (pytest.approx(0.2), 1, "consistent")


def test_mann_whitney_of_equal_values_is_one() -> None:
    assert mann_whitney([2, 2, 2], [2, 2, 2])[1:] == (1, 0)


def test_correction_over_all_tests_and_three_numbers_of_a_table() -> None:
    q = corrected([0.001, 0.02, 0.03, 0.04, 1, 1])
    assert q == pytest.approx([0.006, 0.06, 0.06, 0.06, 1, 1])
    tests = [fisher([1] * 9, [0] * 9), fisher([0] * 9, [1] * 9), fisher([1], [1])]
    assert directions(tests, corrected([test.p for test in tests])) == (2, 1, 1)


# 7. Evidence
@pytest.mark.parametrize(
    ("answered", "target", "expected"),
    [
        (["Green", "green-", "sweet"], ["green", "fruity"], 2 / 5),
        (["Citrus Fruit", "—"], ["citrus-fruit"], 1),
        ([], ["green"], 0),
        (["—"], ["-"], 1),
        (None, ["green"], 0),
    ],
)
def test_f1_by_list_length(answered: list[str] | None, target: list[str], expected: float) -> None:
    assert evidence_f1(answered, target) == expected


def test_gain_overall_where_covered_and_elsewhere() -> None:
    found = gain(
        [0, 0, 1 / 2, 1 / 2], [1, 0, 1 / 2, 0], [True, True, True, False], [1, 2, 3, 4], resamples=200, seed=1
    )
    assert (found.without, found.with_evidence, found.gain, found.coverage) == (1 / 4, 3 / 8, 1 / 8, 3 / 4)
    assert (found.gain_covered, found.gain_elsewhere) == (pytest.approx(1 / 3), -1 / 2)


def test_evidence_without_text_and_score_reaches_nothing() -> None:
    table: list[dict[str, str | float | None]] = [
        {"question": "1", "text": "", "score": None},
        {"question": "2", "text": "  ", "score": 0.0},
        {"question": "3", "text": "sweet"},
        {"question": "3", "text": "fruity"},
    ]
    assert reached(table) == {"2", "3"}


def test_hit_at_twenty() -> None:
    names = [f"m{n}" for n in range(1, 40)]
    assert hit_at(names, "m20") == 1
    assert hit_at(names, "m21") == 0
    assert hit_at(["x", "m1", "x"], "x") == 1
    assert hit_at(["unknown"] * 19 + ["m1"], "m1") == 1
    assert hit_at(["unknown"] * 20 + ["m1"], "m1") == 0
    assert hit_at([], "m1") == hit_at(None, "m1") == 0


# 8. Floors of a constant answer
def test_ratio_that_a_constant_answer_reaches() -> None:
    consistent = constant_answer(["0"] * 2828 + ["1"] * 92)["0"]
    inconsistent = constant_answer(["0"] * 61 + ["1"] * 60)["0"]
    assert collapse_ratio(consistent, inconsistent) == pytest.approx(85547 / 44530)
    consistent = constant_answer(["1"] * 231 + ["0"] * 157)["1"]
    inconsistent = constant_answer(["1"] * 29 + ["0"] * 39)["1"]
    assert collapse_ratio(consistent, inconsistent) == pytest.approx(3927 / 2813)
