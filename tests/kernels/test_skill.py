"""The p of accuracy alone, against METHOD 1.4 in plain Python, and on predictors and reciters that are known."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from molaudit.kernels import simulate, skill

Floats = NDArray[np.float64]

COARSE = np.round(np.random.default_rng(11).normal(-1540, 223, 500), 1)
"""Like atomisation energies: a good predictor hits a tenth of these to three figures by accuracy alone."""


def code(x: float, figures: int) -> str:
    return format(x, f".{figures - 1}e")


def units_off(answer: float, label: float) -> int:
    unit = Decimal(1).scaleb(int(code(label, 3).split("e")[1]) - 2)
    a, y = (int((Decimal(x) / unit).to_integral_value(ROUND_HALF_EVEN)) for x in (answer, label))
    return abs(a - y)


def nested(label: Floats, answers: Floats) -> tuple[int, int, int]:
    counts = [0, 0, 0]
    for y, a in zip(label.tolist(), answers.tolist(), strict=True):
        for k in (1, 2, 3):
            if code(y, k) != code(a, k):
                break
            counts[k - 1] += 1
    return counts[0], counts[1], counts[2]


def share_of_chance_hits(label: Floats, pred: Floats) -> float:
    missed = [(y, a) for y, a in zip(label.tolist(), pred.tolist(), strict=True) if code(y, 3) != code(a, 3)]
    off = [units_off(a, y) for y, a in missed]
    two = sum(code(y, 2) == code(a, 2) for y, a in missed)
    h = max(two / 9, (4 * sum(d <= 1 for d in off) - off.count(2)) / 6)
    return h / (len(missed) + h)


def plain_p(label: Floats, pred: Floats, draws: int, seed: int) -> tuple[float, float]:
    """METHOD 1.4 word by word."""
    rng = np.random.default_rng(seed)
    missed = [i for i in range(label.size) if code(label[i], 3) != code(pred[i], 3)]
    share = share_of_chance_hits(label, pred)
    nearest = [sorted(missed, key=lambda j: abs(abs(label[j]) - abs(y)))[:60] for y in label]
    m1, m2, m3 = nested(label, pred)
    reached = [0, 0]
    for _ in range(draws):
        answers = np.empty(label.size)
        for i, y in enumerate(label.tolist()):
            if rng.random() < share:
                while code(
                    a := y + rng.uniform(-11, 11) * 10.0 ** (int(code(y, 3).split("e")[1]) - 2), 3
                ) != code(y, 3):
                    pass
                answers[i] = a
            else:
                j = rng.choice(nearest[i])
                error = abs(pred[j] - label[j]) * math.exp(0.2 * rng.standard_normal())
                answers[i] = y + error * rng.choice([-1, 1])
        one, two, three = nested(label, answers)
        reached[0] += one > 0 and two * m1 >= m2 * one
        reached[1] += two > 0 and three * m2 >= m3 * two
    return (1 + reached[0]) / (1 + draws), (1 + reached[1]) / (1 + draws)


def small_cell(seed: int, spread: float) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    label = np.round(rng.normal(3, 1.5, 90), 2)
    label = label[label != 0]
    answers = label * (1 + spread * rng.standard_normal(label.size))
    return label, np.array([float(code(a, 3)) for a in answers])


@pytest.mark.parametrize(("seed", "spread"), [(1, 0.3), (2, 0.05), (3, 0.02)])
def test_both_p_are_those_of_a_plain_simulation(seed: int, spread: float) -> None:
    label, answers = small_cell(seed, spread)
    ours = skill.skill_p(label, answers, 4000, seed=1, levels=())
    assert ours.draws == 400, "without a level nothing is left to decide"
    ours = skill.skill_p(label, answers, 4000, seed=1, levels=(ours.p12, ours.p23))
    plain = plain_p(label, answers, 300, seed=5)
    for mine, theirs in zip(ours[:2], plain, strict=True):
        assert abs(mine - theirs) < 4 * math.sqrt(
            max(theirs * (1 - theirs), 0.01) * (1 / 300 + 1 / ours.draws)
        )


@pytest.mark.parametrize(("seed", "spread"), [(1, 0.3), (2, 0.05), (3, 0.02), (4, 0.005)])
def test_chance_hits_are_counted_as_defined(seed: int, spread: float) -> None:
    label, answers = small_cell(seed, spread)
    assert skill.chance_hits(label, answers) == pytest.approx(share_of_chance_hits(label, answers), rel=1e-12)


def test_errors_come_from_the_misses_of_nearest_size() -> None:
    sizes = np.sort(np.random.default_rng(3).exponential(3, 200))
    asked = np.sort(np.concatenate([sizes[::3], [0.0, 5.01, 90.0]]))
    starts = skill._windows(asked, sizes)
    for size, start in zip(asked, starts, strict=True):
        nearest = np.sort(np.abs(sizes - size))[:60]
        assert np.sort(np.abs(sizes[start : start + 60] - size)) == pytest.approx(nearest)


def test_equal_sizes_are_met_from_their_middle_and_few_misses_all() -> None:
    tied = np.concatenate([np.full(200, 2.0), np.full(100, 9.0)])
    assert skill._windows(np.array([2.0, 9.0]), tied).tolist() == [70, 220]
    assert skill._windows(np.array([1.0, 5.0]), np.arange(12.0)).tolist() == [0, 0]


HONEST = {
    "normal": lambda y, rng: y + rng.normal(0, 40, y.size),
    "laplace": lambda y, rng: y + rng.laplace(0, 30, y.size),
    "mixture": lambda y, rng: y + rng.normal(0, 1, y.size) * np.where(rng.random(y.size) < 0.3, 22, 111),
    "written digit": lambda y, rng: -(np.floor(-y / 1000) + rng.random(y.size)) * 1000,
}


@pytest.mark.parametrize("shape", HONEST)
def test_honest_predictors_fall_below_a_twentieth_no_more_often_than_that(shape: str) -> None:
    rng = np.random.default_rng(2)
    found = [skill.skill_p(COARSE, HONEST[shape](COARSE, rng), seed=i) for i in range(120)]
    for p in (np.array([each.p12 for each in found]), np.array([each.p23 for each in found])):
        # The errors themselves are estimated from the same answers, which adds a little to 5 %.
        assert (p < 0.05).sum() <= binom.isf(1e-4, 120, 0.07)


def test_reciters_are_not_explained_by_their_accuracy() -> None:
    base = simulate.skilled(COARSE, 0.9, 3, 20)
    for row in simulate.reciter(COARSE, base, 0.3, 3):
        p12, p23, _ = skill.skill_p(COARSE, row, seed=1)
        assert p12 < 0.05
        assert p23 < 0.05


def test_a_sharp_predictor_of_coarse_labels_explains_its_third_figures() -> None:
    """At r = 0.998 a unit of the third figure is as wide as the errors."""
    for i, row in enumerate(simulate.skilled(COARSE, 0.998, 4, 20)):
        assert skill.skill_p(COARSE, row, seed=i).p23 > 0.01


def test_below_ten_misses_nothing_is_said() -> None:
    answers = COARSE.copy()
    answers[:9] *= 1.3
    assert np.isnan(skill.skill_p(COARSE, answers, seed=1)[:2]).all()
    answers[9] *= 1.3
    assert skill.skill_p(COARSE, answers, seed=1).p23 < 0.05


def test_a_rung_without_trials_has_no_p() -> None:
    found = skill.skill_p(COARSE, COARSE / 100, seed=1)
    assert math.isnan(found.p12)
    assert math.isnan(found.p23)
    assert math.isnan(skill.skill_p([], [], seed=1).p12)


def test_the_simulation_stops_where_it_is_decided_and_only_there() -> None:
    honest, coin = simulate.skilled(COARSE, 0.97, 5, 2)
    assert skill.skill_p(COARSE, honest, seed=1).draws == 400
    whole = skill.skill_p(COARSE, coin, 20_000, seed=1, levels=())
    undecided = skill.skill_p(COARSE, coin, 20_000, seed=1, levels=(whole.p12,))
    assert undecided.draws == 20_000
    assert undecided.p12 == pytest.approx(whole.p12, abs=0.1)


def test_what_is_decided_stays_so_with_all_draws() -> None:
    rows = simulate.reciter(COARSE, simulate.skilled(COARSE, 0.97, 6, 40), 0.01, 6)
    early = [skill.skill_p(COARSE, row, seed=i) for i, row in enumerate(rows)]
    late = [skill.skill_p(COARSE, row, seed=i, levels=(0.05, 0.0501)) for i, row in enumerate(rows)]
    assert any(each.draws < 2000 for each in early)
    for one, other in zip(early, late, strict=True):
        assert (one.p12 < 0.05, one.p23 < 0.05) == (other.p12 < 0.05, other.p23 < 0.05)


def test_same_seed_same_p_on_any_number_of_threads() -> None:
    answers = simulate.skilled(COARSE, 0.95, 5, 1)[0]
    whole = skill.skill_p(COARSE, answers, seed=7)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert skill.skill_p(COARSE, answers, seed=7) == whole
    finally:
        numba.set_num_threads(before)
    assert skill.skill_p(COARSE, answers, seed=8) != whole


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="lengths differ"):
        skill.skill_p([1.0], [1.0, 2.0], seed=1)
