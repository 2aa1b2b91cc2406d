"""Permutation nulls against all permutations, and p values that are uniform when they should be."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from thread_pieces import in_pieces

from molaudit.kernels import permutation, simulate
from molaudit.kernels.machine import threads

PERMUTATIONS = 40_000


def _matches_law(null, expected: dict[int, float]) -> None:
    values = np.array(sorted(expected))
    counts = np.bincount(null, minlength=values.max() + 1)
    assert counts.sum() == counts[values].sum()
    chances = np.array([expected[v] for v in values])
    assert stats.chisquare(counts[values], chances * counts.sum()).pvalue > 1e-6


def _enumerate(answers: list[str], labels: list[str], groups: list[str]) -> dict[int, float]:
    """Return the exact law of the number of matches over all permutations of labels within groups."""
    law = {0: 1.0}
    for group in sorted(set(groups)):
        mine = [i for i, g in enumerate(groups) if g == group]
        orders = list(itertools.permutations([labels[i] for i in mine]))
        here: dict[int, float] = {}
        for order in orders:
            hits = sum(answers[i] == label for i, label in zip(mine, order, strict=True))
            here[hits] = here.get(hits, 0) + 1 / len(orders)
        law = {
            total: sum(law[a] * here.get(total - a, 0) for a in law)
            for total in range(max(law) + max(here) + 1)
            if any(total - a in here for a in law)
        }
    return law


PRED = np.array([1.23, 1.24, 1.31, 1.22, 3.14, 3.15, 3.28, 9.1, 2.2])
LABEL = np.array([1.23, 1.31, 1.24, 1.21, 3.14, 3.28, 3.11, 4.1, 2.2])


@pytest.mark.parametrize("rung", [12, 23])
def test_within_prefix_null_is_that_of_all_permutations_within_groups(rung):
    found = permutation.within_prefix(PRED, LABEL, rung, permutations=PERMUTATIONS, seed=1)
    codes = [[format(v, f".{k}e") for v in values] for k in (0, 1, 2) for values in (PRED, LABEL)]
    one, two = np.array(codes[0]) == np.array(codes[1]), np.array(codes[2]) == np.array(codes[3])
    three = np.array(codes[4]) == np.array(codes[5])
    tried = one if rung == 12 else one & two
    prefix, answer, label = (codes[1], codes[2], codes[3]) if rung == 12 else (codes[3], codes[4], codes[5])
    keep = np.flatnonzero(tried)
    assert found.trials == tried.sum()
    assert found.hits == (tried & (two if rung == 12 else three)).sum()
    law = _enumerate([answer[i] for i in keep], [label[i] for i in keep], [prefix[i] for i in keep])
    _matches_law(found.null, law)


@pytest.mark.parametrize(("bins", "groups"), [(1, "aaaaaa"), (2, "aaabbb"), (3, "aabbcc")])
def test_within_bins_null_is_that_of_all_permutations_within_bins(bins, groups):
    label = np.array([1.1, 1.2, 1.3, 2.1, 2.1, 2.3])
    pred = np.array([1.2, 1.1, 1.3, 2.1, 2.3, 2.1])
    found = permutation.within_bins(pred, label, 2, bins, permutations=PERMUTATIONS, seed=1)
    assert (found.trials, found.hits) == (6, 2)
    if bins == 3:
        groups = "aabbbc"  # the two labels of 2.1 stay together, in the bin of the lower rank
    _matches_law(found.null, _enumerate([str(v) for v in pred], [str(v) for v in label], list(groups)))


def test_sign_flips_are_those_of_all_signs():
    x, y = np.array([3.0, 5, 1, 7, 2, 9]), np.array([1.0, 6, 0, 3, 2, 4])
    null = permutation.paired_difference(x, y, permutations=PERMUTATIONS, seed=1)
    sums = [
        sum(s * d for s, d in zip(signs, x - y, strict=True))
        for signs in itertools.product((1, -1), repeat=6)
    ]
    values, counts = np.unique(np.array(sums), return_counts=True)
    seen = np.round(null * 6).astype(int)
    expected = dict(zip((values - values.min()).astype(int).tolist(), (counts / 64).tolist(), strict=True))
    _matches_law(seen - int(values.min()), expected)
    exact = np.mean(np.abs(sums) >= abs((x - y).sum()))
    p = permutation.p_value((x - y).mean(), null, two_sided=True)
    assert abs(p.p - exact) < 5 * p.error + 1e-4


def test_a_p_value_counts_the_data_as_one_draw_and_ties_as_reached():
    assert permutation.p_value(5, np.array([1, 2, 5, 9])) == (3 / 5, math.sqrt(0.6 * 0.4 / 5))
    assert permutation.p_value(10, np.array([1, 2, 5, 9])).p == 1 / 5
    assert permutation.p_value(0.3, np.array([0.1 + 0.2, -0.4])).p == 2 / 3
    assert permutation.p_value(-0.4, np.array([0.3, -0.4, 0.5]), two_sided=True).p == 3 / 4
    assert permutation.p_value(1, np.array([], dtype=np.int64)).p == 1


def test_p_is_no_smaller_than_uniform_for_answers_that_know_the_first_figure_only():
    label = np.round(np.random.default_rng(0).lognormal(0, 1, 150), 2) + 0.01
    answers = np.round(simulate.window(label, 5, 200), 2)
    p = np.array(
        [
            permutation.p_value(rung.hits, rung.null).p
            for i, row in enumerate(answers)
            for rung in [permutation.within_prefix(row, label, 12, permutations=199, seed=i)]
        ]
    )
    for alpha in (0.05, 0.2, 0.5):
        assert (p <= alpha).sum() <= stats.binom.ppf(1 - 1e-5, p.size, alpha)
    assert p.mean() < 0.7


def test_a_reciter_stands_out_of_both_nulls():
    label = np.round(np.random.default_rng(0).lognormal(0, 1, 300), 2) + 0.01
    answers = simulate.reciter(label, np.round(simulate.window(label, 5, 1), 2), 0.2, 3)[0]
    for rung in (12, 23):
        found = permutation.within_prefix(answers, label, rung, permutations=999, seed=1)
        assert permutation.p_value(found.hits, found.null).p < 0.05
    found = permutation.within_bins(answers, label, 3, 20, permutations=999, seed=1)
    assert permutation.p_value(found.hits, found.null).p == 1 / 1000


def test_labels_without_figures_match_nothing():
    found = permutation.within_bins([0.0, 0.0], [0.0, 0.0], 1, 1, permutations=10, seed=1)
    assert found.hits == 0
    assert found.null.tolist() == [0] * 10
    empty = permutation.within_prefix([], [], 12, permutations=3, seed=1)
    assert (empty.trials, empty.hits, empty.null.tolist()) == (0, 0, [0, 0, 0])


def test_chunks_and_threads_give_the_same_bits():
    with in_pieces():
        whole = permutation.within_prefix(PRED, LABEL, 12, permutations=500, seed=9).null
        flips = permutation.paired_difference(PRED, LABEL, permutations=500, seed=9)
    part = permutation.within_prefix(PRED, LABEL, 12, permutations=100, seed=9, first=250).null
    np.testing.assert_array_equal(part, whole[250:350])
    with threads.limited(1):
        again = permutation.within_prefix(PRED, LABEL, 12, permutations=500, seed=9).null
        np.testing.assert_array_equal(again, whole)
        np.testing.assert_array_equal(
            permutation.paired_difference(PRED, LABEL, permutations=50, seed=9, first=70), flips[70:120]
        )


def test_counted_draws_give_the_p_of_the_draws_themselves():
    draws = np.random.default_rng(3).binomial(30, 0.2, 999)
    values, counts = np.unique(draws, return_counts=True)
    for observed in (0, 6, 11, 40):
        assert permutation.p_value(observed, values, counts) == permutation.p_value(observed, draws)
    shifted = draws - 6.0
    values, counts = np.unique(shifted, return_counts=True)
    assert permutation.p_value(3.0, values, counts, two_sided=True) == permutation.p_value(
        3.0, shifted, two_sided=True
    )
    with pytest.raises(ValueError, match="shape"):
        permutation.p_value(1.0, values, counts[1:])


def test_pairs_of_a_cluster_change_their_sign_together():
    """Every sign pattern of four clusters, by enumeration: sixteen means, each equally likely."""
    x = np.array([1.0, 2.0, 0.5, 4.0, 3.0, 8.0, 0.25])
    cluster = np.array([7, 3, 7, 3, 11, 5, 5])
    sums = [x[cluster == c].sum() for c in np.unique(cluster)]
    patterns = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    expected = np.sort((patterns * sums).sum(axis=1) / x.size)
    null = permutation.paired_difference(x, np.zeros(7), permutations=16_000, seed=1, cluster=cluster)
    values, counts = np.unique(np.round(null, 12), return_counts=True)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert stats.chisquare(counts).pvalue > 1e-4
    alone = permutation.paired_difference(x, np.zeros(7), permutations=50, seed=1, cluster=np.arange(7))
    np.testing.assert_array_equal(
        alone, permutation.paired_difference(x, np.zeros(7), permutations=50, seed=1)
    )


def test_repeated_answers_do_not_count_as_further_molecules():
    """Forty repeats of one chance difference: by pair a wonder, by molecule a coin."""
    x, molecule = np.ones(40), np.zeros(40, dtype=np.int64)
    by_pair = permutation.paired_difference(x, 0 * x, permutations=999, seed=2)
    by_molecule = permutation.paired_difference(x, 0 * x, permutations=999, seed=2, cluster=molecule)
    assert permutation.p_value(1.0, by_pair).p == 1 / 1000
    assert permutation.p_value(1.0, by_molecule).p == pytest.approx(0.5, abs=0.1)


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match="rung"):
        permutation.within_prefix(PRED, LABEL, 13, permutations=1, seed=1)
    with pytest.raises(ValueError, match="figures"):
        permutation.within_bins(PRED, LABEL, 4, 2, permutations=1, seed=1)
    with pytest.raises(ValueError, match="bins"):
        permutation.within_bins(PRED, LABEL, 3, 0, permutations=1, seed=1)
    with pytest.raises(ValueError, match="lengths differ"):
        permutation.paired_difference([1.0], [1.0, 2.0], permutations=1, seed=1)
