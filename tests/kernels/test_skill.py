"""The p of accuracy alone: uniform for honest predictors, small for reciters, whatever share they hit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

from molaudit.kernels import simulate, skill

RNG = np.random.default_rng(11)
COARSE = np.round(RNG.normal(-1540, 223, 500), 1)
"""Like atomisation energies: a good predictor hits a tenth of these to three figures by accuracy alone."""


def test_scale_is_that_of_the_errors_although_the_smallest_are_left_out() -> None:
    for r in (0.9, 0.97, 0.99):
        answers = simulate.skilled(COARSE, r, 1, 60)
        scales = np.array([skill.error_scale(COARSE, row) for row in answers])
        truth = COARSE.std() * math.sqrt(1 / r**2 - 1)
        # One scale of 500 errors is known to about 6 %, the mean of 60 to under 1 %.
        assert scales.mean() == pytest.approx(truth, rel=0.03)


def test_scale_has_the_observed_median_outside_hits() -> None:
    answers = COARSE + np.where(np.arange(500) % 2 == 0, 40.0, -40.0)
    scale = skill.error_scale(COARSE, answers)
    errors = scale * np.random.default_rng(1).standard_normal((400, 500))
    hit = np.array(
        [
            [format(a, ".2e") == format(y, ".2e") for a, y in zip(COARSE + row, COARSE, strict=True)]
            for row in errors[:20]
        ]
    )
    outside = np.abs(errors[:20])[~hit]
    # 10,000 errors: the median's standard error is 0.6 %.
    assert np.median(outside) == pytest.approx(40.0, rel=0.03)
    assert scale < 1.4826 * 40.0


@pytest.mark.parametrize("r", [0.95, 0.99])
def test_honest_predictors_fall_below_a_twentieth_no_more_often_than_that(r: float) -> None:
    answers = simulate.skilled(COARSE, r, 2, 120)
    below = sum(skill.skill_p(COARSE, row, 200, seed=i) < 0.05 for i, row in enumerate(answers))
    assert below <= binom.isf(1e-4, 120, 0.06)  # the scale's own error adds a little to 5 %


def test_reciters_are_not_explained_by_their_accuracy() -> None:
    base = simulate.skilled(COARSE, 0.9, 3, 20)
    recited = simulate.reciter(COARSE, base, 0.3, 3)
    assert max(skill.skill_p(COARSE, row, 400, seed=1) for row in recited) < 0.05


def test_recited_values_do_not_make_the_rest_look_accurate() -> None:
    base = simulate.skilled(COARSE, 0.9, 3, 1)
    recited = simulate.reciter(COARSE, base, 0.6, 3)
    assert skill.error_scale(COARSE, recited[0]) == pytest.approx(skill.error_scale(COARSE, base[0]), rel=0.2)


def test_no_value_without_errors_or_without_first_figures() -> None:
    assert math.isnan(skill.error_scale([1.01, 2.02], [1.01, 2.02]))
    assert math.isnan(skill.skill_p([1.01, 2.02], [1.01, 2.02], seed=1))
    assert math.isnan(skill.skill_p([1.0, 2.0], [5.0, 7.0], seed=1))
    assert math.isnan(skill.skill_p([], [], seed=1))


def test_same_seed_same_p() -> None:
    answers = simulate.skilled(COARSE, 0.95, 5, 1)[0]
    assert skill.skill_p(COARSE, answers, 300, seed=7) == skill.skill_p(COARSE, answers, 300, seed=7)


@pytest.mark.parametrize("spread", [2.0, 60.0])
def test_p_is_that_of_a_plain_simulation(spread: float) -> None:
    answers = np.round(COARSE + np.random.default_rng(9).normal(0, spread, COARSE.size), 1)
    ours = skill.skill_p(COARSE, answers, 4000, seed=1)
    plain = plain_p(COARSE, answers, 300)
    assert abs(ours - plain) < 5 * math.sqrt(max(plain * (1 - plain), 0.01) / 300)


def plain_p(label: NDArray[np.float64], pred: NDArray[np.float64], draws: int) -> float:
    """METHOD 1.4 by format and numpy."""
    codes = [np.array([format(y, f".{k}e") for y in label]) for k in (0, 1)]

    def nested(answers: NDArray[np.float64]) -> tuple[int, int]:
        one, two = (np.array([format(a, f".{k}e") for a in answers]) == codes[k] for k in (0, 1))
        return int(one.sum()), int((one & two).sum())

    m1, m2 = nested(pred)
    scale = skill.error_scale(label, pred)
    rng = np.random.default_rng(0)
    sets = [nested(label + rng.normal(0, scale, label.size)) for _ in range(draws)]
    return (1 + sum(two * m1 >= m2 * one for one, two in sets if one)) / (draws + 1)


def test_the_scale_solves_the_equation_that_scipy_states() -> None:
    answers = simulate.skilled(COARSE, 0.97, 4, 1)[0]
    scale = skill.error_scale(COARSE, answers)
    hit = np.array([format(a, ".2e") == format(y, ".2e") for a, y in zip(answers, COARSE, strict=True)])
    middle = np.median(np.abs(answers - COARSE)[~hit])
    # All labels have four figures before the point: a hit is an error within the rounding of the label to tens.
    digit = np.where(np.abs(COARSE) < 1000, 1.0, 10.0)
    centre = np.round(np.abs(COARSE) / digit) * digit - np.abs(COARSE)
    low, high = centre - digit / 2, centre + digit / 2
    inside = norm.cdf(np.minimum(high, middle) / scale) - norm.cdf(np.maximum(low, -middle) / scale)
    small = 2 * norm.cdf(middle / scale) - 1 - np.maximum(inside, 0)
    outside = 1 - (norm.cdf(high / scale) - norm.cdf(low / scale))
    assert small.sum() / outside.sum() == pytest.approx(0.5, abs=1e-6)


def skewed_labels(seed: int, n: int) -> NDArray[np.float64]:
    labels = np.round(np.random.default_rng(seed).normal(-3, 2, n), 2)
    return labels[labels != 0]


def test_skill_explains_skill_and_no_reciter() -> None:
    label = skewed_labels(4, 400)
    honest = simulate.skilled(label, 0.95, 5, 1)
    recites = simulate.reciter(label, honest, 0.3, 5)
    assert skill.skill_p(label, honest[0], seed=1) > 0.01
    assert skill.skill_p(label, recites[0], seed=1) == pytest.approx(1 / 2001)


def test_p_is_near_uniform_for_predictors_with_normal_errors() -> None:
    label = skewed_labels(5, 150)
    p = [skill.skill_p(label, row, 200, seed=i) for i, row in enumerate(simulate.skilled(label, 0.9, 7, 150))]
    assert (np.array(p) <= 0.05).sum() <= binom.ppf(1 - 1e-4, 150, 0.08)
    assert 0.35 < np.mean(p) < 0.7
