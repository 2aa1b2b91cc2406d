"""Retrosynthesis: from which reactants is the product made in one step (USPTO-50K)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from molaudit.storage.tables.reading import Columns

from ..molecules.reactants import reaction_sides, similarity_rows
from ..molecules.standard import distinct_structures, fingerprints
from .building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order, TaskPairs
from .draws import capped, drawn, most_similar_sources
from .false_labels import false_reactants
from .samples import finished
from .structure_pairs import Directed, single_site_edits, window

KIND = "retrosynthesis"
COLUMNS = Columns(required=("class", "rxn_smiles"))
DEFAULTS: Mapping[str, float] = {"tanimoto": 0.40, "tanimoto_max": 0.90, "fragment": 4, "consistent": 0.5}
"""Similarity of products, heavy atoms of a fragment, least similarity of reactant sets of a consistent pair."""
OPTIONS: tuple[str, ...] = ()
BALANCED = False


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of retrosynthesis, from tables with ``class`` and atom-mapped ``rxn_smiles``.

    By distinct product, the first record of each (ours: a target must not occur twice); groups by the Tanimoto
    similarity of reactant sets, each written as one dotted molecule (ours: also where reactants are shared). A
    sample is dropped when the target product is one of the source's reactants: the answer would lie open.
    """
    table = pl.concat(frames)
    funnel, notes = Funnel(), list[str]()
    funnel.count("records", table.height)
    sides = [reaction_sides(text or "") for text in table["rxn_smiles"].to_list()]
    readable = [place for place, side in enumerate(sides) if side is not None]
    funnel.count("invalid", table.height - len(readable))
    structures = distinct_structures([side[1] for side in sides if side is not None], single=False)
    funnel.count("products", len(structures))
    place = [readable[int(i)] for i in structures.records]
    reactants = [side[0] for i in place if (side := sides[i]) is not None]
    classes = [table["class"][i] for i in place]
    limits = order.thresholds
    near = window(structures.bits, low=limits["tanimoto"], high=limits["tanimoto_max"])
    funnel.count("window", len(near))
    sets = fingerprints(reactants)

    def candidate(one: Directed) -> Candidate:
        alike = float(similarity_rows(sets[[one.source, one.target]])[0, 1])
        return Candidate(
            source=structures.smiles[one.source],
            target=structures.smiles[one.target],
            source_record=place[one.source] + 1,
            target_record=place[one.target] + 1,
            edit=one.edit,
            source_label=reactants[one.source],
            target_label=reactants[one.target],
            group=CONSISTENT if alike >= limits["consistent"] else INCONSISTENT,
            similarity=one.similarity,
            source_place=one.source,
            target_place=one.target,
        )

    edits = single_site_edits(structures.smiles, near, int(limits["fragment"]), funnel, notes)
    best = most_similar_sources(map(candidate, edits))
    funnel.count("targets", len(best))
    candidates = [one for one in best if one.target not in one.source_label.split(".")]
    funnel.count("dropped", len(best) - len(candidates))
    funnel.groups(candidates)
    samples = drawn(capped(candidates, order), order)
    false = [_false(one, reactants, classes, sets) for one in samples]
    return finished(KIND, order, samples, false, funnel, notes)


def _false(one: Candidate, reactants: list[str], classes: list[str], sets: NDArray[np.uint64]) -> str | None:
    alike = similarity_rows(sets, [one.source_place, one.target_place])
    taken = {classes[one.source_place], classes[one.target_place]}
    allowed = np.array([each not in taken for each in classes])
    found = false_reactants(alike[0], alike[1], allowed)
    return None if found is None else reactants[found]
