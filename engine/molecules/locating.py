"""The edit between two structures of a user's table, found by the narrowest way that there is."""

from __future__ import annotations

from rdkit import Chem, rdBase

from .common_substructure import SearchTooLong
from .edits import SUBSTRUCTURE, Edit
from .enantiomers import enantiomer_edits
from .execution import verify, with_maps
from .identity import settled_smiles
from .saturation import saturations
from .single_site import single_sites
from .standard import parsed
from .substructures import exchange

TOO_LONG = "common substructure not found within its search nodes"
NO_EDIT = "no edit that can be done gives the target"


def located(source: str, target: str, most_heavy: int) -> Edit | str:
    """Return a verified edit from one canonical SMILES to another, or the reason why there is none.

    Tried in turn: a single site, the saturation of one C=C, all centres inverted, a common substructure.
    """
    sites = single_sites([source, target], [(0, 1)], most_heavy=most_heavy)
    if sites.found:
        return sites.found[0].forth
    saturated = saturations(source).get(target)
    if saturated is not None and verify(saturated, source, target) is None:
        return saturated
    mirrored = enantiomer_edits(source, target)
    if mirrored is not None:
        return mirrored[0]
    return _by_substructure(source, target)


def _by_substructure(source: str, target: str) -> Edit | str:
    with rdBase.BlockLogs():
        one, other = Chem.MolFromSmiles(source), Chem.MolFromSmiles(target)
        try:
            found = exchange(one, other)
        except SearchTooLong:
            return TOO_LONG
        if found is None:
            return NO_EDIT
        places, removed, added = found
        edit = Edit(SUBSTRUCTURE, with_maps(one, places), removed, added)
    return edit if verify(edit, source, target) is None else NO_EDIT


def structure(text: str) -> str | None:
    """Canonical SMILES of a text that is a structure; None for any other."""
    with rdBase.BlockLogs():
        return None if parsed(text) is None else settled_smiles(text.strip())
