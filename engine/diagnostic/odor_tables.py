"""Tables of odorants: one set of descriptors for every structure, over all tables given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl
from numpy.typing import NDArray

from molaudit.storage.tables.reading import Columns

from ..molecules.standard import Structures, distinct_structures
from .building import Candidate, Funnel
from .structure_pairs import say_invalid

COLUMNS = Columns(required=("smiles", "descriptors"))


@dataclass(frozen=True, slots=True)
class Odorants:
    """Structures of one component, and what they smell of.

    ``smiles``; ``heavy`` int64[n]; ``bits`` uint64[n, 32]; ``labels``, never empty; ``records`` int64[n], the first
    row of each over all tables, from 1.
    """

    smiles: list[str]
    heavy: NDArray[np.int64]
    bits: NDArray[np.uint64]
    labels: list[frozenset[str]]
    records: NDArray[np.int64]

    def where(self, kept: Sequence[int]) -> Odorants:
        """Some of them."""
        places = np.asarray(kept, dtype=np.int64)
        return Odorants(
            [self.smiles[i] for i in kept],
            self.heavy[places],
            self.bits[places],
            [self.labels[i] for i in kept],
            self.records[places],
        )


def odorants(frames: Sequence[pl.DataFrame], funnel: Funnel, notes: list[str]) -> Odorants:
    """Read structures and unite their descriptors; the funnel counts ``structures`` and ``single_component``."""
    table = pl.concat(frames)
    found = distinct_structures(table["smiles"].to_list(), single=False)
    named = [descriptors(text or "") for text in table["descriptors"].to_list()]
    funnel.count("records", table.height)
    funnel.count("invalid", found.dropped["invalid"])
    say_invalid(found.why_invalid, notes)
    labels = _united(found, named)
    labelled = [i for i, one in enumerate(labels) if one]
    funnel.count("unlabelled", len(found) - len(labelled))
    funnel.count("structures", len(labelled))
    single = [i for i in labelled if "." not in found.smiles[i]]
    funnel.count("single_component", len(single))
    whole = Odorants(list(found.smiles), found.heavy, found.bits, labels, found.records + 1)
    return whole.where(single)


def _united(found: Structures, named: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    labels: list[set[str]] = [set() for _ in range(len(found))]
    for place, names in zip(found.of_record.tolist(), named, strict=True):
        if place >= 0:
            labels[place] |= names
    return [frozenset(one) for one in labels]


def descriptors(text: str, synonyms: Mapping[str, str] | None = None) -> frozenset[str]:
    """Read the descriptors of a record: lower case, stripped, split at semicolons and commas only.

    Ours: the study's normalisation of word forms is not published. ``odor_synonyms.csv`` beside this file may map a
    descriptor to another; it is shipped empty.
    """
    table = _synonyms() if synonyms is None else synonyms
    words = (part.strip().lower() for part in text.replace(",", ";").split(";"))
    return frozenset(table.get(word, word) for word in words if word)


@cache
def _synonyms() -> Mapping[str, str]:
    text = (files(__package__ or "") / "odor_synonyms.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:] if line.strip()]
    return {word.strip().lower(): other.strip().lower() for word, other in rows}


def as_text(labels: frozenset[str]) -> str:
    """A set as it is stored and shown: sorted, joined by semicolons."""
    return ";".join(sorted(labels))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared over all; 1 for two empty sets (ours)."""
    return len(one & other) / len(one | other) if one or other else 1.0


def sets_of(samples: Sequence[Candidate]) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The label sets of sources and of targets."""
    return (
        [frozenset(one.source_label.split(";")) for one in samples],
        [frozenset(one.target_label.split(";")) for one in samples],
    )
