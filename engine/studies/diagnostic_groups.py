"""Differences between the consistent and the inconsistent group: as published, and by cluster (METHOD 2.4).

Every test is two-sided and has an effect whose sign says which group does better: above 0 the consistent one. A group
of size 0 leaves a test untested: its p is None and enters the correction as 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from molaudit.kernels import tails


class GroupTest(NamedTuple):
    """Statistic, p and effect; all None where a group is empty."""

    statistic: float | None
    p: float | None
    effect: float | None

    @property
    def direction(self) -> str:
        """Which group does better."""
        if self.effect is None or self.effect == 0:
            return "none"
        return "consistent" if self.effect > 0 else "inconsistent"


UNTESTED = GroupTest(None, None, None)


def fisher(consistent: Sequence[float], inconsistent: Sequence[float]) -> GroupTest:
    """Fisher's exact test on scores that are 0 or 1; the effect is the risk difference.

    The statistic is the number of right answers in the consistent group.
    """
    if not consistent or not inconsistent:
        return UNTESTED
    right = [round(sum(group)) for group in (consistent, inconsistent)]
    table = np.array([[right[0], len(consistent) - right[0]], [right[1], len(inconsistent) - right[1]]])
    p = float(stats.fisher_exact(table, alternative="two-sided").pvalue)
    return GroupTest(float(right[0]), min(1.0, p), right[0] / len(consistent) - right[1] / len(inconsistent))


def mann_whitney(
    consistent: Sequence[float], inconsistent: Sequence[float], *, smaller_is_better: bool = False
) -> GroupTest:
    """Mann and Whitney's test; exact where a group has at most 8 values and nothing ties, as scipy's "auto" is.

    The effect is Cliff's delta, P(consistent better) - P(inconsistent better). Equal values throughout: p = 1.
    """
    if not consistent or not inconsistent:
        return UNTESTED
    ours, theirs = np.asarray(consistent, dtype=float), np.asarray(inconsistent, dtype=float)
    delta = cliffs_delta(ours, theirs) * (-1.0 if smaller_is_better else 1.0)
    if np.ptp(np.concatenate([ours, theirs])) == 0:
        return GroupTest(len(ours) * len(theirs) / 2, 1.0, 0.0)
    found = stats.mannwhitneyu(ours, theirs, alternative="two-sided", method="auto")
    return GroupTest(float(found.statistic), float(found.pvalue), delta)


def cliffs_delta(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """P(ours larger) - P(theirs larger)."""
    return float(np.sign(ours[:, None] - theirs[None, :]).mean())


def means_by_cluster(
    consistent: Sequence[float], inconsistent: Sequence[float], clusters: tuple[Sequence[int], Sequence[int]]
) -> GroupTest:
    """Difference of group means, its variance from the sums of whole clusters, t with G - 1 degrees of freedom."""
    if not consistent or not inconsistent:
        return UNTESTED
    ours, theirs = np.asarray(consistent, dtype=float), np.asarray(inconsistent, dtype=float)
    effect = float(ours.mean() - theirs.mean())
    parts = (ours - ours.mean()) / len(ours), -(theirs - theirs.mean()) / len(theirs)
    return _clustered(effect, effect, parts, clusters)


def placements_by_cluster(
    consistent: Sequence[float], inconsistent: Sequence[float], clusters: tuple[Sequence[int], Sequence[int]],
    *, smaller_is_better: bool = False,
) -> GroupTest:  # fmt: skip
    """Mann and Whitney's difference by cluster: the share of pairs in which the consistent one is better, less 1/2.

    Placements and their cluster sums as Obuchowski has them (Biometrics 53, 1997); the effect is Cliff's delta.
    """
    if not consistent or not inconsistent:
        return UNTESTED
    sign = -1.0 if smaller_is_better else 1.0
    ours, theirs = sign * np.asarray(consistent, dtype=float), sign * np.asarray(inconsistent, dtype=float)
    better = 0.5 + 0.5 * np.sign(ours[:, None] - theirs[None, :])
    share = float(better.mean())
    parts = (better.mean(axis=1) - share) / len(ours), (better.mean(axis=0) - share) / len(theirs)
    return _clustered(share - 0.5, 2 * share - 1, parts, clusters)


def _clustered(
    difference: float,
    effect: float,
    parts: tuple[NDArray[np.float64], NDArray[np.float64]],
    clusters: tuple[Sequence[int], Sequence[int]],
) -> GroupTest:
    sums: dict[int, float] = {}
    for group in (0, 1):
        for part, cluster in zip(parts[group].tolist(), clusters[group], strict=True):
            sums[cluster] = sums.get(cluster, 0.0) + part
    number = len(sums)
    if number < 2:
        return GroupTest(None, None, effect)
    variance = number / (number - 1) * math.fsum(value * value for value in sums.values())
    if variance < 1e-24:
        return GroupTest(None, 1.0 if abs(difference) < 1e-12 else _apart(clusters), effect)
    t = difference / math.sqrt(variance)
    return GroupTest(t, float(2 * stats.t.sf(abs(t), number - 1)), effect)


def _apart(clusters: tuple[Sequence[int], Sequence[int]]) -> float:
    """The p of groups that do not vary and differ: Fisher's test on the clusters that are in one group (ours).

    A variance of zero would give p = 0 however few clusters there are.
    """
    ours, theirs = set(clusters[0]), set(clusters[1])
    a, b = len(ours - theirs), len(theirs - ours)
    return float(stats.fisher_exact(np.array([[a, 0], [0, b]])).pvalue) if a and b else 1.0


def corrected(p: Sequence[float | None]) -> list[float]:
    """Benjamini and Hochberg's q over all tests of a table, C1 and C2 together, untested ones entering as 1."""
    entered = np.array([1.0 if value is None else value for value in p], dtype=float)
    return [float(q) for q in tails.benjamini_hochberg(entered)]


def directions(tests: Sequence[GroupTest], q: Sequence[float], alpha: float = 0.05) -> tuple[int, int, int]:
    """Tests significant, of these in favour of the consistent group, of these in favour of the inconsistent one."""
    called = [test for test, value in zip(tests, q, strict=True) if value < alpha]
    return (
        len(called),
        sum(test.direction == "consistent" for test in called),
        sum(test.direction == "inconsistent" for test in called),
    )
