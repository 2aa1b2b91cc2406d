"""Scores of the identity-blinded diagnostic: one number an answer, one number a group (METHOD 2.1, 2.4).

An answer that could not be read is None. It scores 0 in accuracy, F1 and exact match; it has no error and is left out
of the mean absolute error (ours) and counted. A mean over nothing is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import NamedTuple

Descriptors = Set[str]


class GroupScore(NamedTuple):
    """Mean score of a group, the number of answers in it and how many of the group could not be read."""

    score: float | None
    n: int
    unparsable: int


def f1(predicted: Descriptors | None, target: Descriptors) -> float:
    """2 |P and Y| / (|P| + |Y|): 1 where both are empty, 0 where one is or the answer could not be read.

    Examples
    --------
    >>> f1({"green", "sweet"}, {"green", "sweet", "fruity"})
    0.8
    """
    if predicted is None:
        return 0.0
    if not predicted and not target:
        return 1.0
    return 2 * len(predicted & target) / (len(predicted) + len(target))


def jaccard(one: Descriptors, other: Descriptors) -> float:
    """|A and B| / |A or B|; 1 for two empty sets (ours, as F1 has it)."""
    return len(one & other) / len(one | other) if one or other else 1.0


def right(predicted: str | None, target: str) -> float:
    """1 where an answer is the target's label, 0 where it is not or could not be read."""
    return float(predicted is not None and predicted == target)


def mean_score(scores: Sequence[float], unparsable: int = 0) -> GroupScore:
    """Mean of a group's scores, answers that could not be read among them as 0."""
    return GroupScore(math.fsum(scores) / len(scores) if scores else None, len(scores), unparsable)


def mean_error(predicted: Sequence[float | None], targets: Sequence[float]) -> GroupScore:
    """Mean absolute error over the answers that could be read.

    Raises
    ------
    ValueError
        Sequences of different length.
    """
    errors = [abs(p - t) for p, t in zip(predicted, targets, strict=True) if p is not None]
    score = math.fsum(errors) / len(errors) if errors else None
    return GroupScore(score, len(errors), len(targets) - len(errors))


def constant_answer(labels: Sequence[str]) -> dict[str, float]:
    """The accuracy that each constant answer reaches on a group: the floor beside every ratio."""
    return {label: labels.count(label) / len(labels) for label in sorted(set(labels))}
