"""The p of accuracy alone: uniform for honest predictors, small for reciters, whatever share they hit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

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
