"""Structural-change odour: what does an odorant smell of after one change of its structure?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from ..molecules.saturation import saturation_pairs
from . import odor_tables
from .building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order, TaskPairs
from .draws import capped, drawn, most_similar_sources
from .false_labels import false_sets
from .odor_tables import Odorants, as_text, odorants, sets_of
from .samples import finished
from .structure_pairs import Directed, Window, say_refused, single_site_edits, window

KIND = "structural-odor"
COLUMNS = odor_tables.COLUMNS
DEFAULTS: Mapping[str, float] = {
    "tanimoto": 0.60, "heavy_atoms": 6, "fragment": 4, "least_heavy": 4, "most_heavy": 60,
}  # fmt: skip
"""Least similarity, most difference of heavy atoms, heavy atoms of a fragment, size of a structure."""
OPTIONS: tuple[str, ...] = ()
BALANCED = False

PUBLISHED = 180


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of structural-change odour, from tables with ``smiles`` and ``descriptors``.

    Ours: the change is a single-site edit or the saturation of one C=C, all verified, T < 1; the most similar source
    of every target; ``draw = "published"`` draws 180, half of them consistent, since the study's 179 come of edit
    templates that are not published.
    """
    funnel, notes = Funnel(), list[str]()
    limits = order.thresholds
    single = odorants(frames, funnel, notes)
    kept = single.where(
        [i for i, n in enumerate(single.heavy.tolist()) if limits["least_heavy"] <= n <= limits["most_heavy"]]
    )
    funnel.count("in_size", len(kept.smiles))
    near = window(kept.bits, kept.heavy, low=limits["tanimoto"], heavy_atoms=int(limits["heavy_atoms"]))
    funnel.count("pairs", len(near))
    near = near.where(near.similarity < 1)
    funnel.count("distinct", len(near))
    edits = single_site_edits(kept.smiles, near, int(limits["fragment"]), funnel, notes)
    edits += _saturations(kept, near, funnel, notes)
    candidates = most_similar_sources(_candidate(kept, one) for one in edits)
    funnel.count("targets", len(candidates))
    funnel.groups(candidates)
    samples = drawn(capped(candidates, order), order, published=PUBLISHED)
    false = false_sets(*sets_of(samples), order.rng("false label"))
    return finished(
        KIND, order, samples, [None if one is None else as_text(one) for one in false], funnel, notes
    )


def _saturations(kept: Odorants, near: Window, funnel: Funnel, notes: list[str]) -> list[Directed]:
    same_size = near.where(kept.heavy[near.first] == kept.heavy[near.second])
    found, refused = saturation_pairs(kept.smiles, same_size.pairs())
    funnel.count("saturation", len(found))
    say_refused(refused, notes)
    similarity = dict(zip(same_size.pairs(), same_size.similarity.tolist(), strict=True))
    return [Directed(s, t, edit, similarity[min(s, t), max(s, t)]) for s, t, edit in found]


def _candidate(kept: Odorants, one: Directed) -> Candidate:
    source, target = kept.labels[one.source], kept.labels[one.target]
    return Candidate(
        source=kept.smiles[one.source],
        target=kept.smiles[one.target],
        source_record=int(kept.records[one.source]),
        target_record=int(kept.records[one.target]),
        edit=one.edit,
        source_label=as_text(source),
        target_label=as_text(target),
        group=CONSISTENT if source & target else INCONSISTENT,
        similarity=one.similarity,
    )
