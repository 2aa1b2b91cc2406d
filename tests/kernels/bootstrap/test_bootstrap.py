"""Bootstrap against scipy within Monte-Carlo error, against exact laws, and on samples that have no spread."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from thread_pieces import in_pieces

from molaudit.kernels import bootstrap, streams
from molaudit.kernels.bootstrap import Interval, Method, Statistic
from molaudit.kernels.bootstrap import (
    draws as _bootstrap_draws,
)
from molaudit.kernels.bootstrap import (
    measures as _bootstrap_measures,
)
from molaudit.kernels.bootstrap import (
    nesting as _bootstrap_nested,
)
from molaudit.kernels.bootstrap import (
    selecting as _bootstrap_select,
)
from molaudit.kernels.machine import threads

RESAMPLES = 20_000
_ONE = {
    Statistic.MEAN: np.mean,
    Statistic.SUM: np.sum,
    Statistic.MEDIAN: np.median,
    Statistic.QUANTILE: lambda x, axis: np.quantile(x, 0.3, axis=axis),
}
_PAIRED = {
    Statistic.MAE: lambda x, y, axis: np.abs(x - y).mean(axis),
    Statistic.MEDAE: lambda x, y, axis: np.median(np.abs(x - y), axis),
    Statistic.RMSE: lambda x, y, axis: np.sqrt(((x - y) ** 2).mean(axis)),
    Statistic.RATIO_OF_MEANS: lambda x, y, axis: x.mean(axis) / y.mean(axis),
    Statistic.DIFFERENCE_OF_MEANS: lambda x, y, axis: x.mean(axis) - y.mean(axis),
    Statistic.PEARSON: lambda x, y, axis: stats.pearsonr(x, y, axis=axis).statistic,
    Statistic.SPEARMAN: lambda x, y, axis: (
        stats.pearsonr(stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis), axis=axis).statistic
    ),
}


def _sample(seed: int, n: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return skewed pairs, some with equal values."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.lognormal(size=n), 1)
    return x, np.round(x + rng.normal(size=n), 1)


def _by_scipy(data, statistic, method, *, paired=False, resamples=RESAMPLES):
    return stats.bootstrap(
        data,
        statistic,
        paired=paired,
        vectorized=True,
        n_resamples=resamples,
        method=method.value if method is not Method.BCA else "BCa",
        rng=np.random.default_rng(1),
        batch=2000,
    )


def _agree(ours: Interval, theirs) -> None:
    """Both bounds within six standard errors of a difference, from the spread between 20 parts of theirs."""
    parts = theirs.bootstrap_distribution.reshape(20, -1)
    spread = np.quantile(parts, [0.025, 0.975], axis=1).std(axis=1, ddof=1).max() / math.sqrt(20)
    assert abs(ours.low - theirs.confidence_interval.low) <= 6 * math.sqrt(2) * spread
    assert abs(ours.high - theirs.confidence_interval.high) <= 6 * math.sqrt(2) * spread


# Leave-one-out values of this quantile are all equal, for which scipy's BCa has no answer.
_ONE_CASES = [(s, m) for s in _ONE for m in Method if (s, m) != (Statistic.QUANTILE, Method.BCA)]


@pytest.mark.parametrize(("statistic", "method"), _ONE_CASES, ids=lambda v: v.value)
def test_one_sample_intervals_agree_with_scipy(statistic, method):
    x, _ = _sample(2)
    ours = bootstrap.interval(statistic, x, resamples=RESAMPLES, seed=5, method=method, q=0.3)
    assert ours.estimate == pytest.approx(float(_ONE[statistic](x, axis=0)), rel=1e-12)
    _agree(ours, _by_scipy((x,), _ONE[statistic], method))


@pytest.mark.parametrize("method", [Method.PERCENTILE, Method.BCA])
@pytest.mark.parametrize("statistic", list(_PAIRED), ids=lambda s: s.value)
def test_paired_intervals_agree_with_scipy(statistic, method):
    x, y = _sample(3)
    resamples = 6000
    ours = bootstrap.interval(statistic, x, y, resamples=resamples, seed=5, method=method, paired=True)
    assert ours.estimate == pytest.approx(float(_PAIRED[statistic](x, y, 0)), rel=1e-12)
    theirs = _by_scipy((x, y), _PAIRED[statistic], method, paired=True, resamples=resamples)
    _agree(ours, theirs)


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("statistic", [Statistic.RATIO_OF_MEANS, Statistic.DIFFERENCE_OF_MEANS])
def test_two_sample_intervals_agree_with_scipy(statistic, method):
    x, y = _sample(4)
    y = np.abs(y[:25]) + 1
    ours = bootstrap.interval(statistic, x, y, resamples=RESAMPLES, seed=5, method=method)
    _agree(ours, _by_scipy((x, y), _PAIRED[statistic], method))


def test_two_samples_are_drawn_independently():
    """Of a sample against itself, shared draws would leave no difference at all."""
    x, _ = _sample(5)
    draws = bootstrap.distribution(Statistic.DIFFERENCE_OF_MEANS, x, x, resamples=RESAMPLES, seed=1)
    expected = 2 * x.var() / x.size
    assert abs(draws.var() / expected - 1) < 6 * math.sqrt(2 / RESAMPLES)


def test_a_resampled_proportion_follows_its_binomial_law():
    x = np.repeat([1.0, 0.0], [12, 28])
    draws = np.round(bootstrap.distribution(Statistic.PROPORTION, x, resamples=40_000, seed=2) * 40).astype(
        int
    )
    expected = stats.binom.pmf(np.arange(41), 40, 0.3) * 40_000
    seen = np.bincount(draws, minlength=41)
    common = expected > 5
    chi2 = ((seen - expected)[common] ** 2 / expected[common]).sum()
    assert chi2 < stats.chi2.ppf(1 - 1e-6, common.sum())
    exact = bootstrap.interval(Statistic.PROPORTION, x, resamples=1, seed=0)
    assert exact == (0.3, stats.binom.ppf(0.025, 40, 0.3) / 40, stats.binom.ppf(0.975, 40, 0.3) / 40, 0)
    assert exact.low == np.quantile(draws, 0.025) / 40


def test_a_median_of_an_odd_sample_has_the_exact_law_of_an_order_statistic():
    x, _ = _sample(8, 31)
    draws = bootstrap.distribution(Statistic.MEDIAN, x, resamples=60_000, seed=2)
    rng = np.random.default_rng(0)
    brute = np.median(x[rng.integers(0, 31, (60_000, 31))], axis=1)
    assert stats.ks_2samp(draws, brute).pvalue > 1e-6
    exact = bootstrap.interval(Statistic.MEDIAN, x, resamples=1, seed=0, level=0.9)
    ordered = np.sort(x)
    reached = np.array([stats.binom.sf(15, 31, j / 31) for j in range(1, 32)])
    assert exact.low == ordered[np.argmax(reached >= 0.05)]
    assert exact.high == ordered[np.argmax(reached >= 0.95)]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30).filter(any), st.floats(0, 1))
@settings(deadline=None, max_examples=80)
def test_a_weighted_quantile_equals_numpys_of_repeated_values(weights, q):
    ordered = np.sort(np.random.default_rng(len(weights)).normal(size=len(weights)))
    often = np.array(weights)
    ours = _bootstrap_draws.weighted_quantile(ordered, often, int(often.sum()), q)
    assert ours == pytest.approx(float(np.quantile(np.repeat(ordered, often), q)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_each_measure_of_a_resample_is_that_of_its_pairs(n):
    """The resample is written out from its weights and measured by numpy and scipy."""
    x, y = _sample(n, n)
    drawn = {s: bootstrap.distribution(s, x, y, resamples=50, seed=8, paired=True) for s in _PAIRED}
    weights = np.empty(n, dtype=np.int32)
    indices = np.empty(_bootstrap_draws.AT_ONCE, dtype=np.uint32)
    for r in range(50):
        _bootstrap_draws.draw_weights(weights, np.uint64(streams.key(8, streams.BOOTSTRAP, r)), indices)
        assert weights.sum() == n
        a, b = np.repeat(x, weights), np.repeat(y, weights)
        for statistic, values in drawn.items():
            is_flat = np.ptp(a) == 0 or np.ptp(b) == 0
            if is_flat and statistic in (Statistic.PEARSON, Statistic.SPEARMAN):
                assert math.isnan(values[r])
            else:
                assert values[r] == pytest.approx(float(_PAIRED[statistic](a, b, 0)), rel=1e-9, abs=1e-12)


def test_nested_counts_follow_their_multinomial():
    counts = bootstrap.nested_distribution(9, 5, 2, 14, resamples=60_000, seed=3)
    assert np.all((counts[2] <= counts[1]) & (counts[1] <= counts[0]) & (counts[0] <= 14))
    kinds = np.stack([14 - counts[0], counts[0] - counts[1], counts[1] - counts[2]], axis=1)
    cells, seen = np.unique(kinds, axis=0, return_counts=True)
    last = 14 - cells.sum(axis=1)
    chances = np.array([5, 4, 3, 2]) / 14
    expected = stats.multinomial.pmf(np.column_stack([cells, last]), 14, chances) * 60_000
    common = expected > 5
    chi2 = ((seen - expected)[common] ** 2 / expected[common]).sum()
    assert chi2 < stats.chi2.ppf(1 - 1e-6, common.sum())


@pytest.mark.parametrize("trials", [1, 3, 10, 50, 500, 20_000])
def test_what_the_tables_leave_out_is_below_what_a_draw_resolves(trials):
    for p in (1e-4, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.95, 0.9999):
        low, high = _bootstrap_nested._spread(trials, p)
        assert stats.binom.cdf(low - 1, trials, p) + stats.binom.sf(high, trials, p) < 2**-32


def _chances_of(tables, stage, place, digit):
    """Add up what the slots of one table say: the chance of each value from the lowest on."""
    width = int(tables.widths[stage, place])
    first = int(tables.firsts[stage, place]) + (digit << width)
    words = [int(word) for word in tables.slots[first : first + (1 << width)]]
    chances = np.zeros(1 << width)
    for own, word in enumerate(words):
        keeps = (word >> 32) / 2**32
        chances[own] += keeps
        chances[word & 0xFFFFFFFF] += 1 - keeps
    return int(tables.lows[stage, (place << tables.bits) + digit]), chances / (1 << width)


@pytest.mark.parametrize(
    ("counts", "stage", "place", "digit", "p"),
    [
        ((150, 60, 20, 500), 0, 0, 500, 0.3),
        ((150, 60, 20, 500), 1, 0, 137, 0.4),
        ((150, 60, 20, 500), 2, 0, 71, 1 / 3),
        ((900, 500, 30, 2000), 0, 1, 30, 0.45),
        ((900, 500, 30, 2000), 2, 0, 7, 0.06),
        ((5, 5, 0, 5), 1, 0, 5, 1.0),
    ],
)
def test_tables_hold_the_binomial_chances_to_32_bits(counts, stage, place, digit, p):
    tables = _bootstrap_nested.NestedTables.of(*counts)
    low, chances = _chances_of(tables, stage, place, digit)
    expected = stats.binom.pmf(low + np.arange(chances.size), digit << (tables.bits * place), p)
    np.testing.assert_allclose(chances, expected, atol=2**-32, rtol=0)


@pytest.mark.parametrize(("m1", "m2", "m3", "n"), [(150, 60, 20, 500), (900, 500, 30, 2000), (5, 5, 0, 5)])
def test_nested_intervals_agree_with_resampled_indices(m1, m2, m3, n):
    ours = bootstrap.nested(m1, m2, m3, n, resamples=50_000, seed=3)
    depth = np.repeat([3, 2, 1, 0], [m3, m2 - m3, m1 - m2, n - m1])
    rng = np.random.default_rng(1)
    drawn = np.array([np.bincount(depth[rng.integers(0, n, n)], minlength=4) for _ in range(4000)])
    hits = drawn[:, ::-1].cumsum(axis=1)[:, ::-1]
    rates = {"R12": hits[:, 2] / hits[:, 1], "R23": hits[:, 3] / hits[:, 2], "hit3": hits[:, 3] / n}
    for name, brute in rates.items():
        found = getattr(ours, name)
        spread = np.quantile(brute.reshape(20, -1), [0.025, 0.975], axis=1).std(axis=1, ddof=1).max()
        low, high = np.quantile(brute, [0.025, 0.975])
        assert abs(found.low - low) <= 6 * spread / math.sqrt(20) + 1 / n
        assert abs(found.high - high) <= 6 * spread / math.sqrt(20) + 1 / n
        assert found.n_undefined == 0


def test_nested_draws_of_large_cells_have_binomial_moments():
    n, rates = 40_000, (0.3, 0.12, 0.01)
    counts = bootstrap.nested_distribution(12_000, 4_800, 400, n, resamples=20_000, seed=9)
    for seen, p in zip(counts, rates, strict=True):
        sd = math.sqrt(n * p * (1 - p))
        assert abs(seen.mean() - n * p) < 5 * sd / math.sqrt(20_000)
        assert abs(seen.var() / sd**2 - 1) < 5 * math.sqrt(2 / 20_000)


def test_errors_give_all_five_measures_from_one_resampling():
    x, y = _sample(6, 60)
    found = bootstrap.errors(x, y, None, 3000, 4)
    for name, measured in found._asdict().items():
        alone = bootstrap.interval(Statistic(name), x, y, resamples=3000, seed=4)
        draws = bootstrap.distribution(Statistic(name), x, y, resamples=3000, seed=4)
        assert measured.estimate == pytest.approx(alone.estimate, rel=1e-12)
        np.testing.assert_allclose(measured[1:3], np.quantile(draws, [0.025, 0.975]), rtol=1e-12)


def test_one_answer_in_each_cluster_is_the_plain_bootstrap():
    x, y = _sample(7)
    labels = np.random.default_rng(0).permutation(40) * 10 - 77
    order = np.argsort(labels)
    for statistic in (Statistic.MAE, Statistic.MEDAE, Statistic.SPEARMAN):
        clustered = bootstrap.distribution(statistic, x, y, resamples=200, seed=1, cluster=labels)
        plain = bootstrap.distribution(statistic, x[order], y[order], resamples=200, seed=1)
        np.testing.assert_allclose(clustered, plain, rtol=1e-12)


@pytest.mark.parametrize("statistic", [Statistic.MEAN, Statistic.MEDIAN, Statistic.SUM])
def test_clusters_are_drawn_whole(statistic):
    """Every resample of two clusters is one of three multisets, whose statistics are worked out by hand."""
    x, labels = np.array([1.0, 2.0, 6.0, 10.0, 20.0]), np.array([4, 4, 4, 9, 9])
    sets = [[1, 2, 6] * 2, [1, 2, 6, 10, 20], [10, 20] * 2]
    possible = {float(_ONE[statistic](np.array(s), axis=0)) for s in sets}
    draws = bootstrap.distribution(statistic, x, resamples=400, seed=3, cluster=labels)
    assert {round(float(d), 12) for d in draws} == {round(p, 12) for p in possible}
    middle = float(_ONE[statistic](np.array(sets[1]), axis=0))
    assert abs(np.isclose(draws, middle).mean() - 0.5) < 0.13


def test_clusters_widen_the_interval_of_repeated_answers():
    x, y = _sample(12, 30)
    many_x, many_y, molecule = np.repeat(x, 5), np.repeat(y, 5), np.repeat(np.arange(30), 5)
    plain = bootstrap.errors(x, y, None, 4000, 1).mae
    clustered = bootstrap.errors(many_x, many_y, molecule, 4000, 1).mae
    pooled = bootstrap.errors(many_x, many_y, None, 4000, 1).mae
    assert clustered == pytest.approx(plain)
    assert (pooled.high - pooled.low) < 0.6 * (plain.high - plain.low)


@pytest.mark.parametrize("method", Method)
def test_equal_values_give_an_interval_of_one_point(method):
    x = np.full(7, 0.1)
    for statistic in (Statistic.MEAN, Statistic.MEDIAN, Statistic.QUANTILE):
        assert bootstrap.interval(statistic, x, resamples=500, seed=1, method=method) == (0.1, 0.1, 0.1, 0)
    found = bootstrap.errors(x, x, None, 500, 1)
    assert found.mae == found.medae == found.rmse == (0, 0, 0, 0)
    assert all(math.isnan(v) for v in found.pearson[:3])
    assert found.pearson.n_undefined == found.spearman.n_undefined == 500


def test_one_value_and_no_value_are_defined():
    one = bootstrap.interval(Statistic.MEAN, [3.0], resamples=100, seed=1, method=Method.BCA)
    assert one == (3, 3, 3, 0)
    for statistic in (Statistic.MEAN, Statistic.MEDIAN, Statistic.PROPORTION):
        none = bootstrap.interval(statistic, [], resamples=100, seed=1)
        assert all(math.isnan(v) for v in none[:3])
        assert none.n_undefined == 100
    assert math.isnan(bootstrap.errors([], [], None, 100, 1).mae.estimate)
    assert bootstrap.errors([1.0], [3.0], None, 100, 1).rmse == (2, 2, 2, 0)
    assert bootstrap.nested(0, 0, 0, 0, resamples=10, seed=1).hit3.n_undefined == 10


def test_a_ratio_is_ordered_on_the_extended_reals():
    ones, mostly_zero = np.ones(10), np.repeat([0.0, 1.0], [9, 1])
    ratio = bootstrap.interval(Statistic.RATIO_OF_MEANS, ones, mostly_zero, resamples=4000, seed=1)
    assert ratio.estimate == pytest.approx(10)
    assert ratio.high == math.inf
    assert ratio.n_undefined == 0
    infinite = bootstrap.interval(Statistic.RATIO_OF_MEANS, ones, np.zeros(4), resamples=100, seed=1)
    assert infinite == (math.inf, math.inf, math.inf, 0)


def test_bounds_are_undefined_when_too_many_resamples_are_zero_over_zero():
    few, many = np.repeat([0.0, 1.0], [6, 4]), np.repeat([0.0, 1.0], [9, 1])
    kept = bootstrap.interval(Statistic.RATIO_OF_MEANS, few, few, resamples=20_000, seed=1)
    assert kept.n_undefined < 0.001 * 20_000
    assert 0 < kept.low < 1 < kept.high
    lost = bootstrap.interval(Statistic.RATIO_OF_MEANS, many, many, resamples=20_000, seed=1)
    assert lost.n_undefined / 20_000 == pytest.approx(0.9**20, abs=0.02)
    assert math.isnan(lost.low)
    assert math.isnan(lost.high)


@pytest.mark.parametrize("method", Method)
def test_the_streamed_interval_equals_that_of_the_whole_distribution(monkeypatch, method):
    x, y = _sample(9)
    y = np.abs(y)
    monkeypatch.setattr(_bootstrap_select, "CHUNK", 500)
    streamed = bootstrap.interval(Statistic.RATIO_OF_MEANS, x, y, resamples=30_011, seed=1, method=method)
    monkeypatch.setattr(_bootstrap_select, "CHUNK", 10**9)
    whole = bootstrap.interval(Statistic.RATIO_OF_MEANS, x, y, resamples=30_011, seed=1, method=method)
    assert streamed == whole
    if method is Method.PERCENTILE:
        draws = bootstrap.distribution(Statistic.RATIO_OF_MEANS, x, y, resamples=30_011, seed=1)
        np.testing.assert_allclose(whole[1:3], np.quantile(draws, [0.025, 0.975]), rtol=1e-14)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=400), st.floats(0.01, 0.6), st.integers(1, 60))
@settings(deadline=None, max_examples=60)
def test_streamed_quantiles_equal_numpys(values, tail, chunk):
    numbers = np.array(values, dtype=np.float64)
    selection = _bootstrap_select.Selection(15.0, lambda _: (tail, 1 - tail))
    for first in range(0, numbers.size, chunk):
        selection.add(numbers[first : first + chunk])
    found = selection.result()
    assert found is not None
    np.testing.assert_allclose(found, np.quantile(numbers, [tail, 1 - tail]), rtol=1e-12)


def test_a_lost_quantile_is_found_by_computing_again():
    """Values that drift defeat the window, as no honest resamples would."""
    drift = np.arange(400_000, dtype=np.float64)
    found = _bootstrap_select.select(
        lambda first, count: drift[None, first : first + count],
        drift.size,
        np.array([0.0]),
        [lambda _: (0.5, 0.9)],
    )
    np.testing.assert_allclose(found[0][:2], np.quantile(drift, [0.5, 0.9]))


def test_a_window_holds_few_of_many_resamples():
    rng = np.random.default_rng(0)
    selection = _bootstrap_select.Selection(0.0, lambda _: (0.025, 0.975))
    for _ in range(20):
        selection.add(rng.normal(size=50_000))
    held = sum(window._values.size for window in selection._windows)
    assert held < 10_000


def test_chunks_and_threads_give_the_same_bits():
    x, y = _sample(10, 101)
    for statistic, second in [(Statistic.MEAN, None), (Statistic.SPEARMAN, y), (Statistic.QUANTILE, None)]:
        with in_pieces():
            whole = bootstrap.distribution(statistic, x, second, resamples=500, seed=-3)
        part = bootstrap.distribution(statistic, x, second, resamples=120, seed=-3, first=333)
        np.testing.assert_array_equal(part, whole[333:453])
        with threads.limited(1):
            single = bootstrap.distribution(statistic, x, second, resamples=500, seed=-3)
        np.testing.assert_array_equal(single, whole)
    with in_pieces():
        counts = bootstrap.nested_distribution(50, 20, 8, 101, resamples=1000, seed=4)
    part = bootstrap.nested_distribution(50, 20, 8, 101, resamples=300, seed=4, first=555)
    np.testing.assert_array_equal(part, counts[:, 555:855])


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match=r"x\[1\] is not finite"):
        bootstrap.interval(Statistic.MEAN, [1.0, math.nan], resamples=10, seed=1)
    with pytest.raises(ValueError, match="needs a second sample"):
        bootstrap.interval(Statistic.MAE, [1.0], resamples=10, seed=1)
    with pytest.raises(ValueError, match="one length"):
        bootstrap.errors([1.0], [1.0, 2.0], None, 10, 1)
    with pytest.raises(ValueError, match="takes one sample"):
        bootstrap.interval(Statistic.MEAN, [1.0], [1.0], resamples=10, seed=1)
    with pytest.raises(ValueError, match="zeros and ones"):
        bootstrap.interval(Statistic.PROPORTION, [0.5], resamples=10, seed=1)
    with pytest.raises(ValueError, match="resamples"):
        bootstrap.interval(Statistic.MEAN, [1.0], resamples=0, seed=1)
    with pytest.raises(ValueError, match="level"):
        bootstrap.interval(Statistic.MEAN, [1.0], resamples=1, seed=1, level=1)
    with pytest.raises(ValueError, match="q must"):
        bootstrap.interval(Statistic.QUANTILE, [1.0], resamples=1, seed=1, q=2)
    with pytest.raises(ValueError, match="cluster"):
        bootstrap.interval(Statistic.MEAN, [1.0, 2.0], resamples=1, seed=1, cluster=np.array([1]))
    with pytest.raises(ValueError, match="nested counts"):
        bootstrap.nested(1, 2, 0, 5, resamples=1, seed=1)


def test_read_only_columns_are_not_compiled_for_again():
    x, y = _sample(1)
    bootstrap.errors(x, y, None, 10, 1)
    compiled = len(_bootstrap_measures.rank.signatures)
    for array in (x, y):
        array.flags.writeable = False
    bootstrap.errors(x, y, None, 10, 1)
    assert len(_bootstrap_measures.rank.signatures) == compiled


def _peak_of(function):
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [Method.PERCENTILE, Method.BCA])
def test_memory_of_an_interval_does_not_grow_with_the_number_of_resamples(method):
    x = np.random.default_rng(1).lognormal(size=50)
    few, many = (
        _peak_of(
            lambda r=r: bootstrap.interval(Statistic.MEAN, x, resamples=r, seed=1, method=method)  # type: ignore[misc]
        )
        for r in (500_000, 2_000_000)
    )
    # The distribution alone would grow by 12 MB; the window of values that is kept grows as the root of the number.
    assert many < few + 500_000


def test_memory_of_a_nested_interval_does_not_grow_with_the_number_of_resamples():
    few, many = (
        _peak_of(lambda r=r: bootstrap.nested(150, 60, 20, 500, resamples=r, seed=1))  # type: ignore[misc]
        for r in (500_000, 2_000_000)
    )
    assert many < few + 500_000


@pytest.mark.parametrize("outlier", [1e9, -1e12])
def test_a_resample_without_the_one_far_value_keeps_its_digits(outlier):
    """Its sums of squares about the sample's mean cancel to nothing: they are summed anew about its own."""
    x, y = _sample(3, 30)
    x[7], y[7] = outlier, -outlier
    drawn = bootstrap.distribution(Statistic.PEARSON, x, y, resamples=60, seed=2)
    weights, indices = np.empty(30, np.int32), np.empty(_bootstrap_draws.AT_ONCE, np.uint32)
    without = 0
    for r in range(60):
        _bootstrap_draws.draw_weights(weights, np.uint64(streams.key(2, streams.BOOTSTRAP, r)), indices)
        at = np.repeat(np.arange(30), weights)
        without += 7 not in at
        np.testing.assert_allclose(drawn[r], stats.pearsonr(x[at], y[at])[0], rtol=1e-4, atol=1e-4)
    assert 5 < without < 50


def test_ranks_of_millions_of_pairs_do_not_overflow():
    n = 2_000_003
    x = np.arange(n, dtype=float)
    y = np.where(np.arange(n) % 2 == 0, x, x[::-1])
    measured = bootstrap.errors(x, y, None, resamples=1, seed=0)
    assert measured.spearman.estimate == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)


@pytest.mark.parametrize("method", list(bootstrap.Method))
@pytest.mark.parametrize("clustered", [False, True])
def test_bounds_of_a_constant_are_the_constant(method: bootstrap.Method, clustered: bool) -> None:
    """Sums of 0.1 differ by rounding with the number of them; what is constant has no interval."""
    x, y = np.full(37, 0.1), np.full(37, 0.3)
    cluster = np.arange(37) // 3 if clustered else None
    one_sample = {Statistic.MEAN: 0.1, Statistic.MEDIAN: 0.1, Statistic.QUANTILE: 0.1}
    pairs = {
        Statistic.MAE: abs(0.1 - 0.3),
        Statistic.RATIO_OF_MEANS: 0.1 / 0.3,
        Statistic.DIFFERENCE_OF_MEANS: 0.1 - 0.3,
    }
    how = {"resamples": 300, "seed": 1, "method": method, "cluster": cluster}
    for statistic, value in one_sample.items():
        assert bootstrap.interval(statistic, x, **how) == (value, value, value, 0)
    for statistic, value in pairs.items():
        assert bootstrap.interval(statistic, x, y, paired=True, **how) == (value, value, value, 0)
    rmse = bootstrap.interval(Statistic.RMSE, x, y, **how)
    assert rmse.low == rmse.high == rmse.estimate == pytest.approx(0.2)


def test_measures_of_constant_errors_have_no_interval() -> None:
    y = np.array([0.1, 0.7, 1.3, 2.2, 5.0])
    errors = bootstrap.errors(y + 0.5, y, np.array([0, 0, 1, 1, 2]), 200, 1)
    for measure in (errors.mae, errors.medae, errors.rmse):
        assert measure.low == measure.high == measure.estimate


def test_a_sum_of_equal_values_still_varies_with_the_size_of_its_clusters() -> None:
    found = bootstrap.interval(
        Statistic.SUM, np.ones(10), resamples=500, seed=1, cluster=np.array([0] * 9 + [1])
    )
    assert (found.estimate, found.low, found.high) == (10, 2, 18)


def test_nothing_is_reflected_about_an_infinite_ratio() -> None:
    top, bottom = np.ones(12), np.zeros(12)
    basic = bootstrap.interval(
        Statistic.RATIO_OF_MEANS,
        top,
        bottom,
        paired=True,
        resamples=400,
        seed=1,
        method=bootstrap.Method.BASIC,
    )
    assert basic.estimate == math.inf
    assert math.isnan(basic.low)
    assert math.isnan(basic.high)
    assert basic.n_undefined == 400
    plain = bootstrap.interval(Statistic.RATIO_OF_MEANS, top, bottom, paired=True, resamples=400, seed=1)
    assert plain == (math.inf, math.inf, math.inf, 0)
