"""Tasks with a binary label: one builder for BACE, HIV and others like them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from molaudit.storage.tables.reading import Columns

from ..errors import InputError
from ..molecules.standard import DUPLICATE, INVALID, MULTI_COMPONENT, distinct_structures
from .building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order, TaskPairs
from .draws import capped, drawn, most_similar_sources
from .false_labels import inverted
from .samples import finished
from .structure_pairs import say_invalid, single_site_edits, window

DEFAULTS: Mapping[str, float] = {"tanimoto": 0.80, "heavy_atoms": 3, "fragment": 4}
"""Least similarity, most difference of heavy atoms, most heavy atoms of a fragment."""

_BINARY = {"0": "0", "1": "1", "0.0": "0", "1.0": "1"}


def columns(label: str) -> Columns:
    """The columns of a table of structures with that label."""
    return Columns(required=("smiles", label))


def build(kind: str, label: str, frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of a binary task.

    Single-component structures, T >= 0.80 and T < 1 (equal fingerprints are mostly stereoisomers and homologues of
    long chains: ours), heavy atoms within 3, one single-site edit of at most 4 heavy atoms a side, both directions;
    the most similar source of every target; all inconsistent pairs and as many consistent ones.
    """
    table = pl.concat(frames)
    labels = _labels(table, label)
    funnel, notes = Funnel(), list[str]()
    funnel.count("records", table.height)
    structures = distinct_structures(table["smiles"].to_list())
    for reason in (INVALID, MULTI_COMPONENT, DUPLICATE):
        funnel.count(reason, structures.dropped[reason])
    say_invalid(structures.why_invalid, notes)
    funnel.count("kept", len(structures))
    limits = order.thresholds
    near = window(
        structures.bits, structures.heavy, low=limits["tanimoto"], heavy_atoms=int(limits["heavy_atoms"])
    )
    funnel.count("window", len(near))
    near = near.where(near.similarity < 1)
    funnel.count("distinct", len(near))
    smiles = structures.smiles
    record = structures.records + 1
    directed = [
        Candidate(
            source=smiles[one.source],
            target=smiles[one.target],
            source_record=int(record[one.source]),
            target_record=int(record[one.target]),
            edit=one.edit,
            source_label=labels[record[one.source] - 1],
            target_label=labels[record[one.target] - 1],
            group=_group(labels[record[one.source] - 1], labels[record[one.target] - 1]),
            similarity=one.similarity,
        )
        for one in single_site_edits(smiles, near, int(limits["fragment"]), funnel, notes)
    ]
    candidates = most_similar_sources(directed)
    funnel.count("targets", len(candidates))
    funnel.groups(candidates)
    for a, b in ("10", "01", "11", "00"):
        number = sum((c.source_label, c.target_label) == (a, b) for c in candidates)
        funnel.count(f"from_{a}_to_{b}", number)
    samples = drawn(capped(candidates, order), order)
    return finished(kind, order, samples, [inverted(one.source_label) for one in samples], funnel, notes)


def _group(source: str, target: str) -> str:
    return CONSISTENT if source == target else INCONSISTENT


def _labels(table: pl.DataFrame, label: str) -> list[str]:
    found = []
    for row, text in zip(table["row"].to_list(), table[label].to_list(), strict=True):
        value = _BINARY.get((text or "").strip())
        if value is None:
            raise InputError(f"row {row}: {label} = {text!r}; allowed: 0 and 1")
        found.append(value)
    return found
