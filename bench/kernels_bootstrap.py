"""Bootstrap of a mean, of nested counts and of a cell's errors, beside peers and the same loop in C."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from molaudit.kernels import bootstrap
from molaudit.kernels.bootstrap import Statistic
from molaudit.kernels.bootstrap.draws import resample_means
from molaudit.kernels.bootstrap.nesting import NestedTables, resample_nested
from molaudit.kernels.bootstrap.selecting import CHUNK
from molaudit.kernels.machine import threads as kernel_threads
from molaudit.kernels.streams import BOOTSTRAP

from .rows import c_library, compare, median_of

Floats = NDArray[np.float64]
Contender = tuple[str, int, float, str]

SEED = 1
PACK = 2.0**17  # counts of up to 131,071 pairs, three in one double
NESTED_CELL = (150, 60, 20, 500)


def c_means(library: ctypes.CDLL, x: Floats, resamples: int, threads: int) -> Floats:
    """Return the means of resamples by the loop in ``c/bootstrap_mean.c``."""
    out = np.empty(resamples)
    library.bootstrap_mean(
        ctypes.c_void_p(x.ctypes.data),
        ctypes.c_int64(x.size),
        ctypes.c_int64(SEED),
        ctypes.c_int64(BOOTSTRAP),
        ctypes.c_int64(resamples),
        ctypes.c_int(threads),
        ctypes.c_void_p(out.ctypes.data),
    )
    return out


def scipy_interval(x: Floats, resamples: int) -> tuple[float, float]:
    """Return the percentile interval by scipy as it is called by default: all resamples in one batch."""
    return _scipy(x, resamples, None)


def scipy_interval_in_batches(x: Floats, resamples: int) -> tuple[float, float]:
    """Return the percentile interval by scipy, in batches that fit the cache."""
    return _scipy(x, resamples, max(1, 100_000 // x.size))


def _scipy(x: Floats, resamples: int, batch: int | None) -> tuple[float, float]:
    from scipy import stats

    found = stats.bootstrap(
        (x,),
        np.mean,
        n_resamples=resamples,
        method="percentile",
        batch=batch,
        rng=np.random.default_rng(SEED),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def arch_interval(x: Floats, resamples: int) -> tuple[float, float]:
    """Return the percentile interval by arch."""
    from arch.bootstrap import IIDBootstrap

    found = IIDBootstrap(x, seed=SEED).conf_int(np.mean, reps=resamples, method="percentile")
    return float(found[0, 0]), float(found[1, 0])


def resample_interval(x: Floats, resamples: int) -> tuple[float, float]:
    """Return the percentile interval by resample."""
    from resample.bootstrap import confidence_interval

    low, high = confidence_interval(
        np.mean, x, size=resamples, ci_method="percentile", method="ordinary", random_state=SEED
    )
    return float(low), float(high)


def numpy_interval(x: Floats, resamples: int) -> tuple[float, float]:
    """Return the percentile interval by numpy's fancy indexing, in batches that fit the cache."""
    rng = np.random.default_rng(SEED)
    batch = max(1, 100_000 // x.size)
    means = np.concatenate(
        [
            x[rng.integers(0, x.size, (min(batch, resamples - first), x.size))].mean(axis=1)
            for first in range(0, resamples, batch)
        ]
    )
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


PACKAGES = {"arch": "arch", "resample": "resample"}
"""Packages that a peer needs beyond numpy and scipy."""

PEERS = {
    "scipy.stats.bootstrap": scipy_interval,
    "scipy.stats.bootstrap, tuned batch": scipy_interval_in_batches,
    "arch": arch_interval,
    "resample": resample_interval,
    "numpy fancy indexing": numpy_interval,
}


def _present_peers() -> dict[str, Callable[[Floats, int], tuple[float, float]]]:
    return {
        name: peer
        for name, peer in PEERS.items()
        if name not in PACKAGES or find_spec(PACKAGES[name]) is not None
    }


def rows(quick: bool) -> list[dict[str, Any]]:
    """Time all tasks; results are compared before. Quick: a twentieth of the resamples, n = 500 only."""
    found = []
    for n in (500,) if quick else (50, 500, 5000):
        resamples = 50_000 if quick else 500_000_000 // max(n, 500)
        found += _mean_rows(n, resamples)
    return found + _nested_rows(50_000 if quick else 1_000_000) + _error_rows(4 if quick else 20)


def _mean_rows(n: int, resamples: int) -> list[dict[str, Any]]:
    x = np.random.default_rng(n).lognormal(size=n)
    threads = kernel_threads.threads()
    library, note = c_library("bootstrap_mean")
    few = max(1000, resamples // 20)
    _check_means(x, library, few)

    def ours() -> object:
        return bootstrap.interval(Statistic.MEAN, x, resamples=resamples, seed=SEED)

    notes = [
        *([] if library else [note]),
        *(f"{name} is not installed" for name in PEERS.keys() - _present_peers()),
    ]
    contenders: list[Contender] = [("molaudit", threads, median_of(ours), "; ".join(notes))]
    if library is not None:
        seconds = median_of(lambda: c_means(library, x, resamples, threads))
        contenders.append(("C loop, same draws", threads, seconds, f"{note}; no interval"))
    for name, interval in _present_peers().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds = _time_of_peer(interval, x, few) * resamples / few
        contenders.append((name, 1, seconds, f"measured on {few:,} resamples"))
    return compare(f"bootstrap of a mean, {resamples:,} resamples", n, "draws", contenders, float(resamples))


def _time_of_peer(interval: Any, x: Floats, few: int) -> float:
    return median_of(lambda: interval(x, few), 3)


def _check_means(x: Floats, library: ctypes.CDLL | None, resamples: int) -> None:
    """Assert the bits of the C loop, and the peers' intervals within Monte-Carlo error."""
    means = bootstrap.distribution(Statistic.MEAN, x, resamples=resamples, seed=SEED)
    if library is not None:
        np.testing.assert_array_equal(c_means(library, x, resamples, 2), means)
    ours = bootstrap.interval(Statistic.MEAN, x, resamples=resamples, seed=SEED)
    # A 2.5 % point of a normal law has a standard error of 2.7 standard deviations over sqrt(resamples).
    slack = 6 * np.sqrt(2) * 2.7 * means.std() / np.sqrt(resamples)
    for name, interval in _present_peers().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = interval(x, resamples)
        assert abs(low - ours.low) < slack, name
        assert abs(high - ours.high) < slack, name


def packed_cell(m1: int, m2: int, m3: int, n: int) -> Floats:
    """Return a cell's pairs as doubles whose sum holds all three nested counts."""
    kinds = np.array([0.0, 1.0, 1.0 + PACK, 1.0 + PACK + PACK**2])
    return np.repeat(kinds, [n - m1, m1 - m2, m2 - m3, m3])


def index_counts(cell: Floats, resamples: int) -> NDArray[np.int64]:
    """Return the nested counts of resamples of a packed cell, drawn by index with our own kernel."""
    total = np.round(resample_means(cell, SEED, BOOTSTRAP, 0, resamples) * cell.size).astype(np.int64)
    pack = int(PACK)
    return np.stack([total % pack, total // pack % pack, total // pack**2])


def _nested_rows(resamples: int) -> list[dict[str, Any]]:
    m1, m2, m3, n = NESTED_CELL
    cell = packed_cell(*NESTED_CELL)
    threads = kernel_threads.threads()
    by_index = index_counts(cell, 40_000)
    drawn = bootstrap.nested_distribution(m1, m2, m3, n, resamples=40_000, seed=SEED)
    np.testing.assert_allclose(drawn.mean(axis=1), by_index.mean(axis=1), rtol=0.01)
    np.testing.assert_allclose(np.cov(drawn), np.cov(by_index), rtol=0.06)
    few = resamples // 10
    tables = NestedTables.of(m1, m2, m3, n)

    counts = np.empty((3, CHUNK), dtype=np.int64)

    def by_multinomial() -> None:
        for first in range(0, resamples, CHUNK):
            resample_nested(tables, SEED, first, counts)

    def by_indices() -> None:
        for first in range(0, few, CHUNK):
            resample_means(cell, SEED, BOOTSTRAP, first, min(CHUNK, few - first))

    building = median_of(lambda: NestedTables.of(m1, m2, m3, n))
    seconds = median_of(by_multinomial) + building
    by_index_seconds = median_of(by_indices) * resamples / few
    contenders = [
        ("molaudit, multinomial", threads, seconds, f"with {1e3 * building:.2f} ms for the tables"),
        ("molaudit, by index", threads, by_index_seconds, f"measured on {few:,} resamples"),
    ]
    return compare(
        f"nested counts of 500 pairs, {resamples:,} resamples", n, "resamples", contenders, resamples / n
    )


def _error_rows(cells: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    label = np.round(rng.normal(-3, 2, 500), 2)
    pred = np.round(label + rng.normal(0, 0.5, 500), 2)
    threads = kernel_threads.threads()
    resamples = 2000

    def ours() -> object:
        return [bootstrap.errors(pred, label, None, resamples, seed) for seed in range(cells)]

    found = bootstrap.errors(pred, label, None, resamples, SEED)
    plain, low, high = numpy_errors(pred, label, resamples)
    for i, measured in enumerate(found):
        assert abs(measured.estimate - plain[i]) < 1e-9
        assert abs(measured.low - low[i]) < 0.2 * (high[i] - low[i])
        assert abs(measured.high - high[i]) < 0.2 * (high[i] - low[i])
    seconds = median_of(ours) * 264 / cells
    by_numpy = median_of(lambda: numpy_errors(pred, label, resamples), 1) * 264
    contenders = [
        ("molaudit", threads, seconds, f"measured on {cells} cells"),
        ("numpy, one resample at a time", 1, by_numpy, "measured on 1 cell"),
    ]
    return compare("five measures of 264 cells of 500 pairs, 2,000 resamples", 264, "cells", contenders)


def numpy_errors(pred: Floats, label: Floats, resamples: int) -> tuple[Floats, Floats, Floats]:
    """Return the five measures with percentile bounds, a resample at a time."""
    from scipy.stats import rankdata

    def measure(x: Floats, y: Floats) -> list[float]:
        error = np.abs(x - y)
        pearson = np.corrcoef(x, y)[0, 1]
        spearman = np.corrcoef(rankdata(x), rankdata(y))[0, 1]
        return [error.mean(), float(np.median(error)), float(np.sqrt((error**2).mean())), pearson, spearman]

    rng = np.random.default_rng(SEED)
    drawn = (rng.integers(0, pred.size, pred.size) for _ in range(resamples))
    values = np.array([measure(pred[index], label[index]) for index in drawn])
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    return np.array(measure(pred, label)), low, high
