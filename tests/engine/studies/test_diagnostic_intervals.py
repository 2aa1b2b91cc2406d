"""Koopman's and Tango's intervals, sign flips and cluster tests: other code, brute force, nominal rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.proportion import confint_proportions_2indep  # type: ignore[import-untyped]

from molaudit.engine.studies.diagnostic_collapse import koopman, ratio_of_means, ratio_of_rates
from molaudit.engine.studies.diagnostic_groups import (
    fisher,
    mann_whitney,
    means_by_cluster,
    placements_by_cluster,
)
from molaudit.engine.studies.diagnostic_response import mean_response, sign_flip_p, tango

RATES = [
    (36, 40, 16, 80),
    (7, 21, 3, 21),
    (21, 21, 10, 21),
    (5, 30, 30, 30),
    (1, 1, 1, 2),
    (124, 136, 80, 136),
]


# Where all of a group are right statsmodels finds complex or lone roots; the brute force below has these cases.
@pytest.mark.parametrize(
    ("x1", "n1", "x2", "n2"), [rates for rates in RATES if rates[0] < rates[1] and rates[2] < rates[3]]
)
def test_koopman_is_the_score_interval_of_statsmodels(x1: int, n1: int, x2: int, n2: int) -> None:
    found = koopman(x1, n1, x2, n2)
    theirs = confint_proportions_2indep(x1, n1, x2, n2, method="score", compare="ratio", correction=False)
    assert found == pytest.approx(theirs, rel=1e-5)


def test_koopman_of_the_published_example() -> None:
    # Koopman 1984: 36 of 40 against 16 of 80, interval 2.94 to 7.15.
    assert koopman(36, 40, 16, 80) == (pytest.approx(2.94, abs=0.005), pytest.approx(7.15, abs=0.005))


@pytest.mark.parametrize(("x1", "n1", "x2", "n2"), [*RATES, (0, 21, 5, 21), (5, 21, 0, 21), (30, 30, 30, 30)])
def test_koopman_is_where_the_best_fit_is_rejected(x1: int, n1: int, x2: int, n2: int) -> None:
    """Pearson's statistic at the ends, with rates fitted by maximising the likelihood numerically."""
    found = koopman(x1, n1, x2, n2)
    assert found is not None

    def statistic(ratio: float) -> float:
        def loss(p2: float) -> float:
            p1 = ratio * p2
            return -sum(
                x * math.log(max(p, 1e-300)) + (n - x) * math.log(max(1 - p, 1e-300))
                for x, n, p in ((x1, n1, p1), (x2, n2, p2))
            )

        p2 = optimize.minimize_scalar(
            loss, bounds=(1e-12, min(1.0, 1 / ratio) - 1e-12), method="bounded", options={"xatol": 1e-13}
        ).x
        return sum((x - n * p) ** 2 / (n * p * (1 - p)) for x, n, p in ((x1, n1, ratio * p2), (x2, n2, p2)))

    limit = stats.chi2.ppf(0.95, 1)
    for end, inward in ((found[0], 1.05), (found[1], 1 / 1.05)):
        if 0 < end < math.inf:
            assert statistic(end) == pytest.approx(limit, rel=2e-3)
            assert statistic(end * inward) < limit
    assert (found[0] == 0) == (x1 == 0)
    assert (found[1] == math.inf) == (x2 == 0)


def test_koopman_of_no_hits_at_all_is_undefined_and_bad_counts_are_refused() -> None:
    assert koopman(0, 5, 0, 7) is None
    for bad in ((3, 2, 0, 1), (-1, 2, 0, 1), (0, 0, 0, 1)):
        with pytest.raises(ValueError, match="0 <= x <= n"):
            koopman(*bad)


def test_koopman_covers_at_small_rates_where_the_bootstrap_does_not() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        x1, x2 = rng.binomial(21, 0.10), rng.binomial(21, 0.05)
        found = koopman(int(x1), 21, int(x2), 21)
        covered += found is None or found[0] <= 2.0 <= found[1]
    # Nominal 0.95; three standard errors of 1,000 draws are 0.021.
    assert covered / 1000 > 0.93


def test_rates_take_koopman_where_clusters_are_single_and_whole_clusters_otherwise() -> None:
    consistent, inconsistent = [1.0] * 8 + [0.0] * 2, [1.0] * 4 + [0.0] * 6
    single = ratio_of_rates(consistent, inconsistent, (range(10), range(10, 20)), resamples=100, seed=1)
    assert (single.low, single.high) == koopman(8, 10, 4, 10)
    paired = [n // 2 for n in range(10)], [5 + n // 2 for n in range(10)]
    found = ratio_of_rates(consistent, inconsistent, paired, resamples=2000, seed=1)
    assert found == ratio_of_means(consistent, inconsistent, paired, resamples=2000, seed=1)
    assert found.value == single.value == 2


def test_clusters_across_groups_keep_both_their_samples() -> None:
    # Every cluster has a consistent error and an inconsistent one twice as large: the ratio never varies.
    errors = [1.0, 2.0, 3.0, 4.0]
    found = ratio_of_means(
        errors, [2 * e for e in errors], ([1, 2, 3, 4], [1, 2, 3, 4]), resamples=500, seed=1, error=True
    )
    assert found == (2, 2, 2)


def constrained(b: int, c: int, n: int, delta: float) -> float:
    """P(second only) of the best fit with P(first only) - P(second only) = delta, by maximising numerically."""

    def loss(q: float) -> float:
        return -sum(
            k * math.log(max(p, 1e-300)) for k, p in ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
        )

    bounds = max(0.0, -delta), (1 - delta) / 2
    return float(optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x)


@pytest.mark.parametrize(
    ("b", "c", "n"), [(9, 3, 40), (60, 2, 98), (1, 0, 5), (5, 5, 20), (0, 4, 30), (12, 0, 30), (20, 20, 40)]
)
def test_tango_is_where_the_best_fit_is_rejected(b: int, c: int, n: int) -> None:
    low, high = tango(b, c, n)
    assert low <= (b - c) / n <= high
    for end, inward in ((low, 0.01), (high, -0.01)):
        if abs(end) == 1:
            continue
        q = constrained(b, c, n, end)
        score = (b - c - n * end) / math.sqrt(n * (2 * q + end * (1 - end)))
        assert abs(score) == pytest.approx(stats.norm.ppf(0.975), rel=1e-3)
        inside = end + inward
        q = constrained(b, c, n, inside)
        assert abs((b - c - n * inside) / math.sqrt(n * (2 * q + inside * (1 - inside)))) < 1.96


def test_tango_without_any_change_is_symmetric_and_not_empty() -> None:
    low, high = tango(0, 0, 10)
    assert low == pytest.approx(-high)
    # z^2 / (n + z^2), the closed form for no discordant pair.
    z2 = stats.norm.ppf(0.975) ** 2
    assert high == pytest.approx(z2 / (10 + z2), rel=1e-6)
    assert tango(3, 1, 20) == pytest.approx([-bound for bound in reversed(tango(1, 3, 20))])
    with pytest.raises(ValueError, match="allowed"):
        tango(3, 3, 5)


def test_sign_flips_of_few_clusters_are_all_counted() -> None:
    # 1 + 2 + 4 = 7 is reached by all plus and all minus alone: 2 of 8.
    assert sign_flip_p(np.array([1.0, 2.0, 4.0]), 100, 1) == 2 / 8
    assert sign_flip_p(np.array([1.0, -1.0]), 100, 1) == 1.0
    assert sign_flip_p(np.zeros(3), 100, 1) == 1.0


def test_drawn_sign_flips_agree_with_the_permutation_test_of_scipy() -> None:
    sums = np.random.default_rng(3).normal(0.3, 1, 18)
    exact = stats.permutation_test(
        (sums,), lambda x, axis: np.abs(x.sum(axis=axis)), permutation_type="samples", n_resamples=np.inf,
        alternative="greater", vectorized=True,
    ).pvalue  # fmt: skip
    drawn = sign_flip_p(sums, 40_000, 1)
    assert drawn == pytest.approx(exact, abs=4 * (0.25 / 40_000) ** 0.5)
    assert sign_flip_p(np.full(30, 1.0), 999, 1) == 1 / 1000


def test_flips_by_cluster_keep_their_rate_where_flips_by_sample_do_not() -> None:
    rng = np.random.default_rng(5)
    by_cluster = by_sample = 0
    for seed in range(300):
        shared = rng.normal(0, 1, 14).repeat(2)
        by_cluster += (
            mean_response(shared.tolist(), [n // 2 for n in range(28)], resamples=400, seed=seed).p or 1
        ) < 0.05
        by_sample += (mean_response(shared.tolist(), list(range(28)), resamples=400, seed=seed).p or 1) < 0.05
    # Three standard errors of 5 % in 300 seeds are 3.8 %.
    assert by_cluster / 300 < 0.05 + 0.038
    assert by_sample / 300 > 0.10


def test_means_of_single_clusters_are_nearly_welch() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.4, 1, 60), rng.normal(0, 1, 60)
    found = means_by_cluster(a.tolist(), b.tolist(), (range(60), range(60, 120)))
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert found.effect == pytest.approx(a.mean() - b.mean())
    assert found.statistic == pytest.approx(welch.statistic, rel=0.02)
    assert found.p == pytest.approx(welch.pvalue, rel=0.15)


def test_placements_of_single_clusters_are_nearly_mann_whitney() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.5, 1, 50), rng.normal(0, 1, 50)
    found = placements_by_cluster(a.tolist(), b.tolist(), (range(50), range(50, 100)))
    theirs = mann_whitney(a.tolist(), b.tolist())
    assert found.effect == pytest.approx(theirs.effect)
    assert found.p == pytest.approx(theirs.p, rel=0.4)
    turned = placements_by_cluster(
        a.tolist(), b.tolist(), (range(50), range(50, 100)), smaller_is_better=True
    )
    assert (turned.effect, turned.p) == (pytest.approx(-(found.effect or 0)), pytest.approx(found.p))


@pytest.mark.parametrize("test", [means_by_cluster, placements_by_cluster])
def test_by_cluster_the_error_is_nominal_where_by_sample_it_is_not(test: object) -> None:
    rng = np.random.default_rng(7)
    ours = published = 0
    clusters = [n // 2 for n in range(28)], [14 + n // 2 for n in range(28)]
    for _ in range(600):
        a, b = (rng.normal(0, 1, 14).repeat(2) + rng.normal(0, 0.1, 28) for _ in range(2))
        ours += (test(a.tolist(), b.tolist(), clusters).p or 1) < 0.05  # type: ignore[operator]
        published += (mann_whitney(a.tolist(), b.tolist()).p or 1) < 0.05
    # Three standard errors of 5 % in 600 seeds are 2.7 %.
    assert ours / 600 < 0.05 + 0.027
    assert published / 600 > 0.11


def test_groups_that_do_not_vary_are_told_apart_by_clusters_and_never_with_p_zero() -> None:
    apart = means_by_cluster([1.0] * 6, [0.0] * 6, ([1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6]))
    assert (apart.statistic, apart.effect) == (None, 1)
    assert apart.p == fisher([1.0] * 3, [0.0] * 3).p == pytest.approx(0.1)
    assert means_by_cluster([1.0] * 4, [1.0] * 4, (range(4), range(4, 8))).p == 1
    assert means_by_cluster([1.0], [0.0], ([1], [1])).p is None
    assert means_by_cluster([], [0.0], ([], [1])).p is None
