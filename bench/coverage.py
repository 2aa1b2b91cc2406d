"""How often bootstrap intervals of a mean hold the true one, on skewed samples: what to expect of n = 20 or 200."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from molaudit.kernels import bootstrap
from molaudit.kernels.bootstrap import Method, Statistic

LAWS: Final = {"lognormal": math.exp(0.5), "exponential": 1.0}
"""Sampled laws with their means (lognormal: of a standard normal logarithm)."""

SIZES: Final = (20, 50, 200)
METHODS: Final = (Method.PERCENTILE, Method.BCA)
RESAMPLES: Final = 999


def samples_of(law: str, n: int, number: int, seed: int) -> NDArray[np.float64]:
    """Return samples of a law, shape (number, n)."""
    rng = np.random.default_rng([seed, n, *law.encode()])
    drawn: NDArray[np.float64] = (
        rng.lognormal(size=(number, n)) if law == "lognormal" else rng.exponential(size=(number, n))
    )
    return drawn


def coverage(law: str, n: int, method: Method, *, samples: int, seed: int) -> float:
    """Return the share of samples whose nominal 95 % interval of the mean holds the law's mean."""
    truth = LAWS[law]
    held = 0
    for number, sample in enumerate(samples_of(law, n, samples, seed)):
        found = bootstrap.interval(Statistic.MEAN, sample, resamples=RESAMPLES, seed=number, method=method)
        held += found.low <= truth <= found.high
    return held / samples


def rows(quick: bool, seed: int = 1) -> list[dict[str, Any]]:
    """Measure all laws, sizes and methods, with the binomial standard error of each share."""
    samples = 200 if quick else 2000
    found = []
    for law in LAWS:
        for n in SIZES:
            for method in METHODS:
                share = coverage(law, n, method, samples=samples, seed=seed)
                error = math.sqrt(share * (1 - share) / samples)
                found.append(
                    {
                        "law": law,
                        "n": n,
                        "method": method.value,
                        "coverage": share,
                        "error": error,
                        "samples": samples,
                    }
                )
    return found
