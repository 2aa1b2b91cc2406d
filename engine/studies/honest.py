"""Simulated models that predict and know no number, with errors of many shapes (METHOD 1.9).

Their answers have three figures, as the prompt asks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from molaudit.kernels import neighbours

from .predictors import Floats, Predictor, Task

RANK_SHARE = 0.05
GOOD_SHARE = 0.30
FOND_SHARE = 0.60
"""Of third figures that are 0 or 5 by habit."""

Rng = np.random.Generator
_UNDERFLOW = np.finfo(np.float64).tiny


def honest() -> list[Predictor]:
    """Return the models.

    ``laplace``: errors with heavy tails. ``mixture``: 30 % of the molecules known to a tenth of the labels' standard
    deviation, the others to half of it. ``written digit``: the first written digit right, no more. ``like-valued``:
    the label of another molecule within 5 % in rank. ``two figures``: both right, the third uniform or, ``fond``,
    mostly 0 or 5. ``relative``: errors in proportion to the label.
    """
    return [
        _predictor("laplace r = 0.90", lambda t, rng: _laplace(t, 0.90, rng)),
        _predictor("laplace r = 0.97", lambda t, rng: _laplace(t, 0.97, rng)),
        _predictor("normal r = 0.97, three figures", lambda t, rng: _normal(t, 0.97, rng)),
        _predictor("mixture", _mixture),
        _predictor("relative 3 %", lambda t, rng: _own(t) * (1 + 0.03 * rng.standard_normal(t.asked.shape))),
        _predictor("written digit", _written_digit),
        _predictor("like-valued", _like_valued),
        _predictor("two figures", lambda t, rng: _two_figures(t, rng, fond=0.0)),
        _predictor("two figures, fond of 0 and 5", lambda t, rng: _two_figures(t, rng, fond=FOND_SHARE)),
    ]


def three_figures(values: Floats) -> Floats:
    """Round to three figures; NaN stays."""
    size = np.abs(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        decimals = 2 - np.floor(np.log10(np.maximum(size, _UNDERFLOW)))
    return np.asarray(np.round(values * 10.0**decimals) / 10.0**decimals)


def _predictor(name: str, answer: Callable[[Task, Rng], Floats]) -> Predictor:
    # Each model draws from a stream of its own, named by its letters.
    def answered(t: Task) -> Floats:
        return three_figures(answer(t, np.random.default_rng([t.seed, *name.encode()])))

    return Predictor(name, "honest", answered)


def _own(t: Task) -> Floats:
    return t.labels[t.asked]


def error_sd(labels: Floats, r: float) -> float:
    """Return the standard deviation of errors at which labels and answers correlate by r."""
    return float(labels.std() * np.sqrt(1 / r**2 - 1))


def _laplace(t: Task, r: float, rng: Rng) -> Floats:
    return _own(t) + rng.laplace(0, error_sd(t.labels, r) / np.sqrt(2), t.asked.shape)


def _normal(t: Task, r: float, rng: Rng) -> Floats:
    return _own(t) + rng.normal(0, error_sd(t.labels, r), t.asked.shape)


def _mixture(t: Task, rng: Rng) -> Floats:
    sd = t.labels.std() * np.where(rng.random(t.asked.shape) < GOOD_SHARE, 0.1, 0.5)
    return np.asarray(_own(t) + sd * rng.standard_normal(t.asked.shape))


def _written_digit(t: Task, rng: Rng) -> Floats:
    labels = _own(t)
    unit = 10.0 ** np.floor(np.log10(np.abs(labels)) + 1e-12)
    digit = np.floor(np.abs(labels) / unit + 1e-9)
    return np.asarray(np.sign(labels) * (digit + rng.random(labels.shape)) * unit)


def _like_valued(t: Task, rng: Rng) -> Floats:
    order = np.argsort(t.labels, kind="stable")
    rank = np.empty(t.labels.size, dtype=np.int64)
    rank[order] = np.arange(t.labels.size)
    reach = max(1, int(RANK_SHARE * t.labels.size))
    step = rng.integers(1, reach + 1, t.asked.shape) * rng.choice([-1, 1], t.asked.shape)
    other = rank[t.asked] + step
    other = np.where((other < 0) | (other >= t.labels.size), rank[t.asked] - step, other)
    return np.asarray(t.labels[order[np.clip(other, 0, t.labels.size - 1)]])


def _two_figures(t: Task, rng: Rng, *, fond: float) -> Floats:
    labels = _own(t)
    unit = neighbours.units(labels.ravel()).reshape(labels.shape)
    tens = np.round(np.abs(labels) / unit / 10)
    third = np.where(
        rng.random(labels.shape) < fond, rng.choice([-5, 0], labels.shape), rng.integers(-5, 5, labels.shape)
    )
    return np.sign(labels) * (10 * tens + third) * unit
