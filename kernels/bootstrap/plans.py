"""What a statistic needs to be bootstrapped: its estimate, its resamples, and its leave-one-out values.

Three families cover all statistics. *Sums*: a function of the mean, or of the ratio of two sums, of one sample
or of two. *Order*: a quantile, from values sorted once and weights. *Pairs*: the measures that need pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..streams import BOOTSTRAP
from .draws import resample_means, resample_quantiles, resample_ratios
from .pairs import MEASURES, prepare, resample_pairs

Floats = NDArray[np.float64]
Combine = Callable[..., Floats]

# The second of two independent samples draws from its own stream.
_SECOND = BOOTSTRAP + 256


class Plan(Protocol):
    """How one statistic of one data set is resampled."""

    @property
    def estimate(self) -> float:
        """The statistic of the sample itself."""

    def draw(self, seed: int, first: int, count: int) -> Floats:
        """Return the statistic of resamples first, first + 1, ..."""

    def leave_one_out(self) -> tuple[Floats, ...]:
        """Return, for each independent sample, the statistic without each of its items in turn."""


class Clusters(NamedTuple):
    """The cluster of each value, numbered from 0, and how many there are."""

    of: NDArray[np.int64]
    number: int


def clusters(labels: NDArray[np.int64] | None, n: int) -> Clusters:
    """Number the clusters; without labels every value is its own."""
    if labels is None:
        return Clusters(np.arange(n, dtype=np.int64), n)
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ValueError(f"cluster must hold one label for each of the {n} values, not shape {given.shape}")
    distinct, of = np.unique(given, return_inverse=True)
    return Clusters(of.astype(np.int64), distinct.size)


@dataclass(frozen=True)
class Side:
    """One sample of a sums plan: the mean of ``top``, or the ratio of the sums of ``top`` and ``bottom``."""

    top: Floats
    bottom: Floats | None = None

    @classmethod
    def mean(cls, values: Floats, labels: NDArray[np.int64] | None) -> Side:
        """Return a mean over values, whose clusters (if labelled) are resampled whole."""
        if labels is None:
            return cls(values)
        return cls.ratio(values, np.ones_like(values), labels)

    @classmethod
    def ratio(cls, top: Floats, bottom: Floats, labels: NDArray[np.int64] | None) -> Side:
        group = clusters(labels, top.size)
        # However its items are put together, equal values over equal values other than 0 are one number.
        if top.size and top.min() == top.max() and bottom.min() == bottom.max() != 0.0:
            return cls(np.full(group.number, top[0] / bottom[0]))
        if labels is None:
            return cls(top, bottom)
        return cls(
            np.bincount(group.of, weights=top, minlength=group.number).astype(np.float64),
            np.bincount(group.of, weights=bottom, minlength=group.number).astype(np.float64),
        )

    @property
    def _is_constant(self) -> bool:
        # The mean of equal values differs from them by rounding, so it is not left to a sum.
        return self.bottom is None and self.top.size > 0 and bool(self.top.min() == self.top.max())

    @property
    def estimate(self) -> Floats:
        if self._is_constant:
            return self.top[:1].reshape(())
        return self._ratio(self.top.sum(), self.top.size if self.bottom is None else self.bottom.sum())

    def draw(self, seed: int, stream: int, first: int, count: int) -> Floats:
        if self.bottom is not None:
            return resample_ratios(self.top, self.bottom, seed, stream, first, count)
        if self._is_constant:
            return np.full(count, self.top[0])
        return resample_means(self.top, seed, stream, first, count)

    def leave_one_out(self) -> Floats:
        if self._is_constant:
            return self.top
        bottom = np.ones_like(self.top) if self.bottom is None else self.bottom
        return self._ratio(self.top.sum() - self.top, bottom.sum() - bottom)

    @staticmethod
    def _ratio(top: Floats | np.float64, bottom: Floats | np.float64 | int) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.divide(top, bottom), dtype=np.float64)


@dataclass(frozen=True)
class Sums:
    """A function of the mean or ratio of one sample, or of two independent ones."""

    sides: tuple[Side, ...]
    combine: Combine

    @property
    def estimate(self) -> float:
        return float(self._combined(*(side.estimate for side in self.sides)))

    def draw(self, seed: int, first: int, count: int) -> Floats:
        streams = (BOOTSTRAP, _SECOND)
        drawn = [
            side.draw(seed, stream, first, count) for side, stream in zip(self.sides, streams, strict=False)
        ]
        return self._combined(*drawn)

    def leave_one_out(self) -> tuple[Floats, ...]:
        means = [side.estimate for side in self.sides]
        return tuple(
            self._combined(*means[:i], side.leave_one_out(), *means[i + 1 :])
            for i, side in enumerate(self.sides)
        )

    def _combined(self, *parts: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(self.combine(*parts), dtype=np.float64)


@dataclass(frozen=True)
class Order:
    """A quantile; ``group`` numbers the clusters of the values, which ascend."""

    ordered: Floats
    group: Clusters
    q: float

    @classmethod
    def of(cls, values: Floats, labels: NDArray[np.int64] | None, q: float) -> Order:
        group = clusters(labels, values.size)
        order = np.argsort(values, kind="stable")
        return cls(values[order], Clusters(group.of[order], group.number), q)

    @property
    def estimate(self) -> float:
        return float(self._run(0, -1, 1, True)[0])

    def draw(self, seed: int, first: int, count: int) -> Floats:
        return self._run(seed, first, count, False)

    def leave_one_out(self) -> tuple[Floats, ...]:
        return (self._run(0, 0, self.group.number, True),)

    def _run(self, seed: int, first: int, count: int, leave_one_out: bool) -> Floats:
        of, number = self.group
        return resample_quantiles(
            self.ordered, of, number, self.q, seed, BOOTSTRAP, first, count, leave_one_out
        )


class Pairs:
    """All measures of pairs at once (`draw_all`), or the one named."""

    def __init__(
        self, x: Floats, y: Floats, labels: NDArray[np.int64] | None, measure: str = MEASURES[0]
    ) -> None:
        group = clusters(labels, x.size)
        self._data = prepare(x, y, group.of, group.number)
        self._row = MEASURES.index(measure)
        self.estimates: Floats = resample_pairs(self._data, 0, BOOTSTRAP, -1, 1, True)[:, 0]

    @property
    def estimate(self) -> float:
        return float(self.estimates[self._row])

    def draw_all(self, seed: int, first: int, count: int) -> Floats:
        return resample_pairs(self._data, seed, BOOTSTRAP, first, count, False)

    def draw(self, seed: int, first: int, count: int) -> Floats:
        drawn: Floats = self.draw_all(seed, first, count)[self._row]
        return drawn

    def leave_one_out(self) -> tuple[Floats, ...]:
        """Return the measure without each cluster in turn; time is O(clusters x pairs)."""
        return (resample_pairs(self._data, 0, BOOTSTRAP, 0, self._data.n_clusters, True)[self._row],)


def acceleration(left_out: tuple[Floats, ...]) -> float:
    """Return the acceleration of BCa from leave-one-out values (Efron and Tibshirani 1993, 14.15).

    Several samples are put together as in scipy. Zero, so that BCa only corrects the bias, where it has no value:
    a constant statistic, one item, or an undefined or infinite leave-one-out value.
    """
    top = bottom = 0.0
    for values in left_out:
        n = values.size
        if n < 2 or not np.isfinite(values).all():
            return 0.0
        pull = (n - 1) * (values.mean() - values) / n
        top += float((pull**3).sum())
        bottom += float((pull**2).sum())
    return top / (6 * math.sqrt(bottom) ** 3) if bottom > 0 else 0.0
