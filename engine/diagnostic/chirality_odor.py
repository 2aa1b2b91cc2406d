"""Chirality-change odour: what does the mirror image of an odorant smell of?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from ..molecules.edits import Edit
from ..molecules.enantiomers import enantiomer_pairs
from . import odor_tables
from .building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order, TaskPairs
from .draws import capped, drawn
from .false_labels import false_sets
from .odor_tables import Odorants, as_text, jaccard, odorants, sets_of
from .samples import finished

KIND = "chirality-odor"
COLUMNS = odor_tables.COLUMNS
DEFAULTS: Mapping[str, float] = {"consistent": 0.8}
"""Least Jaccard index of a consistent pair; an inconsistent one shares nothing, what lies between is in no group."""
OPTIONS: tuple[str, ...] = ()
BALANCED = False


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of chirality-change odour, from tables with ``smiles`` and ``descriptors``.

    Strict enantiomers, every tetrahedral centre specified, both directions; the funnel counts pairs, of which each
    gives two samples. Pairs are drawn whole, so a number in ``draw`` that is odd gives one sample less (ours).
    """
    funnel, notes = Funnel(), list[str]()
    single = odorants(frames, funnel, notes)
    pairs = enantiomer_pairs(single.smiles)
    funnel.count("enantiomer_pairs", len(pairs))
    both = [
        (forth, replace(_candidate(single, j, i, back), group=forth.group))
        for i, j, to, back in pairs
        if (forth := _candidate(single, i, j, to, order.thresholds["consistent"])).group
    ]
    candidates = [forth for forth, _ in both]
    for group in (CONSISTENT, INCONSISTENT):
        funnel.count(group, sum(one.group == group for one in candidates))
    back_of = dict(both)
    halved = order if isinstance(order.draw, str) else replace(order, draw=order.draw // 2)
    samples = [one for forth in drawn(capped(candidates, order), halved) for one in (forth, back_of[forth])]
    false = false_sets(*sets_of(samples), order.rng("false label"))
    return finished(
        KIND, order, samples, [None if one is None else as_text(one) for one in false], funnel, notes
    )


def _candidate(single: Odorants, i: int, j: int, edit: Edit, consistent: float = 0.8) -> Candidate:
    alike = jaccard(single.labels[i], single.labels[j])
    return Candidate(
        source=single.smiles[i],
        target=single.smiles[j],
        source_record=int(single.records[i]),
        target_record=int(single.records[j]),
        edit=edit,
        source_label=as_text(single.labels[i]),
        target_label=as_text(single.labels[j]),
        group=CONSISTENT if alike >= consistent else INCONSISTENT if alike == 0 else "",
        similarity=1.0,
    )
