"""Strict enantiomers: every tetrahedral centre specified, all inverted, nothing else changed."""

from __future__ import annotations

from collections.abc import Sequence

from rdkit import Chem

from .edits import ENANTIOMER, Edit
from .execution import verify, with_maps
from .inversion import mirror_image


def enantiomer_pairs(smiles: Sequence[str]) -> list[tuple[int, int, Edit, Edit]]:
    """Find structures whose mirror image is there too: positions i < j with the verified edits i to j and j to i."""
    place = {text: index for index, text in enumerate(smiles)}
    found = []
    for index, text in enumerate(smiles):
        if "@" not in text:
            continue
        image = mirror_image(text)
        other = -1 if image is None else place.get(image[0], -1)
        if other <= index:
            continue
        edits = enantiomer_edits(text, smiles[other])
        if edits is not None:
            found.append((index, other, *edits))
    return found


def enantiomer_edits(one: str, other: str) -> tuple[Edit, Edit] | None:
    """Return the edits between two structures, forth and back; None where they are no strict enantiomers."""
    forth, back = _edit(one), _edit(other)
    if forth is None or back is None or verify(forth, one, other) or verify(back, other, one):
        return None
    return forth, back


def _edit(smiles: str) -> Edit | None:
    image = mirror_image(smiles)
    if image is None:
        return None
    places = dict(enumerate(image[1], 1))
    return Edit(ENANTIOMER, with_maps(Chem.MolFromSmiles(smiles), places))
