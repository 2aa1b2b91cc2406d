"""Simulated answers keep what they are said to know, and the skill check equals a plain simulation."""

import math

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from molaudit.kernels import simulate, skill, streams
from molaudit.kernels.machine.compile import kernel

LABELS = np.array([-3.18, 0.949, 0.951, 1.04, 9.4, 9.96, 250.0, -0.0471, 1.7e-5, 8.5, 2.0, 6.13e12])


def _codes(values: NDArray[np.float64], k: int) -> list[str]:
    return [format(float(v), f".{k - 1}e") for v in values]


def _skewed_labels(seed: int, n: int) -> NDArray[np.float64]:
    labels = np.round(np.random.default_rng(seed).normal(-3, 2, n), 2)
    return labels[labels != 0]


def test_window_answers_round_to_the_first_figure_and_fill_its_interval():
    answers = simulate.window(LABELS, 1, 4000)
    assert answers.shape == (4000, LABELS.size)
    for row in answers[:50]:
        assert _codes(row, 1) == _codes(LABELS, 1)
    for column, (low, high) in {
        0: (-3.5, -2.5),
        2: (0.95, 1.5),
        4: (8.5, 9.5),
        6: (150, 250),
        1: (0.85, 0.95),
    }.items():
        assert stats.kstest(answers[:, column], stats.uniform(low, high - low).cdf).pvalue > 1e-6
    assert np.isnan(simulate.window([0.0, math.nan], 1, 2)).all()


def test_first_figure_answers_lie_within_five_per_cent_of_the_rounded_label():
    answers = simulate.first_figure(LABELS, 1, 2000)
    rounded = np.array([float(code) for code in _codes(LABELS, 1)])
    share = answers / rounded
    assert share.min() > 0.95
    assert share.max() < 1.05
    assert stats.kstest(share[:, 0], stats.uniform(0.95, 0.1).cdf).pvalue > 1e-6


def test_blind_answers_are_draws_from_the_labels():
    answers = simulate.blind(LABELS, 1, 5000)
    values, counts = np.unique(answers, return_counts=True)
    np.testing.assert_array_equal(values, np.sort(LABELS))
    assert stats.chisquare(counts).pvalue > 1e-6
    assert abs(np.corrcoef(answers[:, 0], answers[:, 1])[0, 1]) < 0.08


@pytest.mark.parametrize("r", [0.3, 0.9, 0.99, 1.0])
def test_skilled_answers_correlate_as_asked(r):
    labels = _skewed_labels(1, 400)
    answers = simulate.skilled(labels, r, 1, 200)
    seen = np.array([np.corrcoef(labels, row)[0, 1] for row in answers])
    assert abs(seen.mean() - r) < 6 * (1 - r * r) / math.sqrt(400 * 200) + 1e-3 * (1 - r) + 1e-12
    if r < 1:
        error = (answers - labels).ravel()
        assert stats.kstest(error / error.std(), "norm").pvalue > 1e-6


def test_a_reciter_gives_the_label_at_its_rate_and_else_its_base():
    labels = _skewed_labels(2, 300)
    base = simulate.skilled(labels, 0.9, 3, 100)
    answers = simulate.reciter(labels, base, 0.1, 3)
    recited = answers == labels
    assert abs(recited.mean() - 0.1) < 5 * math.sqrt(0.1 * 0.9 / recited.size) + 0.001
    np.testing.assert_array_equal(answers[~recited], base[~recited])
    # What is recited does not depend on the errors, although both come of one seed.
    assert abs(np.corrcoef(recited.ravel(), np.abs(base - labels).ravel())[0, 1]) < 5 / math.sqrt(
        recited.size
    )
    np.testing.assert_array_equal(simulate.reciter(labels, base, 0, 3), base)
    assert (simulate.reciter(labels, base, 1, 3) == labels).all()


@kernel()
def _two_ways(key: np.uint64, n: int) -> NDArray[np.float64]:
    out = np.empty((2, n))
    streams.fill_normals(key, out[0])
    for i in range(n):
        out[1, i] = streams.normal(streams.word(key, i))
    return out


def test_normals_in_bulk_are_the_normals_one_by_one():
    bulk, single = _two_ways(np.uint64(7), 20_001)
    np.testing.assert_array_equal(bulk, single)


def test_chunks_and_threads_give_the_same_bits():
    labels = _skewed_labels(6, 50)
    for make in (simulate.window, simulate.first_figure, simulate.blind):
        whole = make(labels, 3, 40)
        np.testing.assert_array_equal(make(labels, 3, 10, first=25), whole[25:35])
    whole, p = simulate.skilled(labels, 0.9, 3, 40), skill.skill_p(labels, labels * 1.03, 300, seed=3)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(simulate.skilled(labels, 0.9, 3, 40), whole)
        assert skill.skill_p(labels, labels * 1.03, 300, seed=3) == p
    finally:
        numba.set_num_threads(before)


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match="r must"):
        simulate.skilled(LABELS, 0, 1, 1)
    with pytest.raises(ValueError, match="rate"):
        simulate.reciter(LABELS, LABELS[None], 1.5, 1)
    with pytest.raises(ValueError, match="shape"):
        simulate.reciter(LABELS, LABELS, 0.5, 1)
    with pytest.raises(ValueError, match="lengths differ"):
        skill.skill_p([1.0], [1.0, 2.0], seed=1)
