"""What a task is built by and what comes of it: an order, candidates, pairs, and a funnel that counts every step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..molecules.edits import Edit

if TYPE_CHECKING:
    import polars as pl

CONSISTENT, INCONSISTENT = "consistent", "inconsistent"
"""Groups, by the true labels of source and target; a false label never changes them."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a user asks of a task.

    ``draw`` is "published" (all inconsistent samples and as many consistent ones, or what the task says), "all", or
    a number; ``balance`` "label" draws consistent samples of each label in equal number; ``pairs_max`` caps the
    candidates before the draw; ``thresholds`` are those of the task, the user's in place of the defaults;
    ``options`` are settings that only some tasks take.
    """

    name: str
    seed: int
    draw: Literal["published", "all"] | int = "published"
    balance: Literal["none", "label"] = "none"
    pairs_max: int | None = None
    thresholds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def rng(self, purpose: str) -> np.random.Generator:
        """Draws of their own for each purpose: the seed is a digest of the run's seed, the task and the purpose.

        Ours: the study's seeds are not published, and draws that share a generator would change each other.
        """
        text = f"{self.seed}\0{self.name}\0{purpose}".encode()
        return np.random.default_rng(int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source, an edit that was done and gave the target, and both labels as text.

    ``source_record`` and ``target_record`` count the rows of the tables from 1, over all files, as they were read
    (blank lines are none). ``source_place`` and ``target_place`` are the task's own positions, for false labels.
    """

    source: str
    target: str
    source_record: int
    target_record: int
    edit: Edit
    source_label: str
    target_label: str
    group: str
    similarity: float | None = None
    source_place: int = -1
    target_place: int = -1


@dataclass(slots=True)
class Funnel:
    """How many are left after each step, in order."""

    steps: dict[str, int] = field(default_factory=dict)

    def count(self, step: str, number: int) -> None:
        """Note a step; a step occurs once."""
        if step in self.steps:
            raise ValueError(f"the step {step!r} is counted twice")
        self.steps[step] = int(number)

    def groups(self, candidates: list[Candidate]) -> None:
        """Note how many candidates each group has."""
        for group in (INCONSISTENT, CONSISTENT):
            self.count(group, sum(c.group == group for c in candidates))


@dataclass(frozen=True, slots=True)
class TaskPairs:
    """The pairs of a task, one row a sample (columns in `columns`), its funnel (task, step, count) and notes."""

    pairs: pl.DataFrame
    funnel: pl.DataFrame
    notes: tuple[str, ...] = ()
