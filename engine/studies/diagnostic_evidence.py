"""Evidence augmentation: the same questions with and without a table of evidence (METHOD 2.5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

HITS = 20
_OTHER = re.compile(r"[\W_]+")


def cleaned(labels: Iterable[str]) -> list[str]:
    """Lower case, letters and digits alone, empty ones dropped; repeats stay."""
    return [word for label in labels if (word := _OTHER.sub("", label.lower()))]


def evidence_f1(answered: Iterable[str] | None, target: Iterable[str]) -> float:
    """F1 with precision and recall by list length: what is said twice counts twice in the length, once as a hit.

    Examples
    --------
    >>> evidence_f1(["Green", "green-", "sweet"], ["green", "fruity"])
    0.4
    """
    wanted = cleaned(target)
    if answered is None:
        return 0.0
    ours = cleaned(answered)
    if not ours and not wanted:
        return 1.0
    return 2 * len(set(ours) & set(wanted)) / (len(ours) + len(wanted))


def hit_at(ranking: Sequence[str] | None, target: str, most: int = HITS) -> float:
    """1 where the target is among the first ``most`` of a ranking; unknown names keep their places."""
    return float(ranking is not None and target in list(ranking)[:most])


def reached(evidence: Iterable[Mapping[str, str | float | None]]) -> set[str]:
    """The questions with at least one row of evidence that says something: a text that is not empty, or a score."""
    return {
        str(row["question"])
        for row in evidence
        if str(row.get("text") or "").strip() or row.get("score") not in (None, "")
    }


class Gain(NamedTuple):
    """Mean scores without and with evidence, their paired difference and interval, and where the evidence reaches."""

    n: int
    coverage: float | None
    without: float | None
    with_evidence: float | None
    gain: float | None
    low: float | None
    high: float | None
    gain_covered: float | None
    gain_elsewhere: float | None


def gain(
    without: Sequence[float],
    with_evidence: Sequence[float],
    covered: Sequence[bool],
    clusters: Sequence[int],
    *,
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> Gain:
    """Paired gain over questions, with a bootstrap interval over clusters of questions that share a record.

    Raises
    ------
    ValueError
        Sequences of different length.
    """
    if len({len(without), len(with_evidence), len(covered), len(clusters)}) > 1:
        raise ValueError("scores, coverage and clusters must have one entry a question")
    if not without:
        return Gain(0, None, None, None, None, None, None, None, None)
    a, b, inside = np.asarray(without), np.asarray(with_evidence), np.asarray(covered, dtype=np.bool_)
    difference = b - a
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(place, difference), np.bincount(place).astype(float)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=resamples)
    low, high = np.quantile((counts @ sums) / (counts @ sizes), [0.5 * (1 - level), 0.5 * (1 + level)])
    return Gain(
        n=len(a),
        coverage=float(inside.mean()),
        without=float(a.mean()),
        with_evidence=float(b.mean()),
        gain=float(difference.mean()),
        low=float(low),
        high=float(high),
        gain_covered=float(difference[inside].mean()) if inside.any() else None,
        gain_elsewhere=float(difference[~inside].mean()) if not inside.all() else None,
    )
