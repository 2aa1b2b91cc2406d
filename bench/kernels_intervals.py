"""Clopper-Pearson intervals of a million counts, beside scipy and statsmodels."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from molaudit.kernels import intervals
from molaudit.kernels.machine import threads as kernel_threads

from .rows import compare, median_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ONE_N = 872


def scipy_bounds(k: Integers, n: Integers) -> tuple[Floats, Floats]:
    """Return both bounds by the inverse of the incomplete beta function."""
    low = np.where(k == 0, 0.0, special.betaincinv(np.maximum(k, 1), n - k + 1, 0.025))
    high = np.where(k == n, 1.0, special.betaincinv(k + 1, np.maximum(n - k, 1), 0.975))
    return low, high


def statsmodels_bounds(k: Integers, n: Integers) -> tuple[Floats, Floats]:
    """Return both bounds by statsmodels."""
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    low, high = proportion_confint(k, n, method="beta")
    return np.asarray(low), np.asarray(high)


def all_pairs(largest: int) -> tuple[Integers, Integers]:
    """Return every (k, n) with 0 <= k <= n, for n from 1 to the largest, in random order."""
    n = np.repeat(np.arange(1, largest + 1), np.arange(2, largest + 2))
    k = np.concatenate([np.arange(trials + 1) for trials in range(1, largest + 1)])
    order = np.random.default_rng(0).permutation(n.size)
    return k[order], n[order]


def spread_pairs(size: int) -> tuple[Integers, Integers]:
    """Return random pairs with n in 500..2500: nearly all distinct, hardly a mirror image among them."""
    rng = np.random.default_rng(0)
    n = rng.integers(500, 2501, size)
    return (rng.random(size) * (n + 1)).astype(np.int64), n


def rows(quick: bool) -> list[dict[str, Any]]:
    """Time three sets of about a million pairs (a twentieth when quick); bounds are compared before."""
    size = 50_000 if quick else 1_000_000
    one_n = np.full(size, ONE_N)
    sets = {
        "every pair (k, n) up to n = " + str(315 if quick else 1412): all_pairs(315 if quick else 1412),
        "random pairs, n in 500..2500": spread_pairs(size),
        f"pairs over one n = {ONE_N}": (np.random.default_rng(1).integers(0, ONE_N + 1, size), one_n),
    }
    return [row for name, (k, n) in sets.items() for row in _rows(f"Clopper-Pearson, {name}", k, n)]


def _rows(task: str, k: Integers, n: Integers) -> list[dict[str, Any]]:
    few = slice(0, max(1, k.size // 10))
    ours = intervals.clopper_pearson(k[few], n[few])
    has_statsmodels = find_spec("statsmodels") is not None
    for peer in (scipy_bounds, statsmodels_bounds) if has_statsmodels else (scipy_bounds,):
        low, high = peer(k[few], n[few])
        np.testing.assert_allclose(ours.low, np.nan_to_num(low), rtol=1e-10)
        np.testing.assert_allclose(ours.high, np.where(k[few] == n[few], 1.0, high), rtol=1e-10)
    note = "measured on a tenth"
    missing = "" if has_statsmodels else "statsmodels is not installed"
    contenders = [
        ("molaudit", kernel_threads.threads(), median_of(lambda: intervals.clopper_pearson(k, n)), missing),
        ("scipy.special.betaincinv", 1, 10 * median_of(lambda: scipy_bounds(k[few], n[few]), 3), note),
    ]
    if has_statsmodels:
        seconds = 10 * median_of(lambda: statsmodels_bounds(k[few], n[few]), 3)
        contenders.append(("statsmodels", 1, seconds, note))
    return compare(task, k.size, "pairs", contenders)
