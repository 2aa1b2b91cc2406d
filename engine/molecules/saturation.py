"""Pairs that differ in one C=C double bond: the hydrogenated one is the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rdkit import Chem, rdBase

from .edits import SATURATION, Edit
from .execution import EditRefused, saturated, verify, with_maps
from .identity import settled_smiles
from .standard import parsed


def saturations(smiles: str) -> dict[str, Edit]:
    """Map each structure that comes of hydrogenating one C=C bond, which is not aromatic, to its edit."""
    found: dict[str, Edit] = {}
    with rdBase.BlockLogs():
        source = parsed(smiles)
        if source is None:
            return found
        for bond in source.GetBonds():
            ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            try:
                done = saturated(source, *ends)
            except EditRefused:
                continue
            text = None if done is None else settled_smiles(Chem.MolToSmiles(done))
            if text and text not in found:
                found[text] = Edit(SATURATION, with_maps(source, {1: ends[0], 2: ends[1]}), "C=C", "CC")
    return found


def saturation_pairs(
    smiles: Sequence[str], pairs: Iterable[tuple[int, int]]
) -> tuple[list[tuple[int, int, Edit]], Counter[str]]:
    """Find the pairs (positions) of which one is the other with one C=C hydrogenated.

    Returns
    -------
    found, refused
        Positions of source and target with the verified edit, in the order of the pairs; and refusals by reason.
    """
    made: dict[int, dict[str, Edit]] = {}
    found, refused = [], Counter[str]()
    for pair in pairs:
        for source, target in (pair, pair[::-1]):
            if "=" not in smiles[source]:
                continue
            edit = made.setdefault(source, saturations(smiles[source])).get(smiles[target])
            if edit is None:
                continue
            reason = verify(edit, smiles[source], smiles[target])
            if reason is None:
                found.append((source, target, edit))
            else:
                refused[reason] += 1
    return found, refused
