"""Mirror images: inverting tetrahedral centres, and whether all of a molecule's are specified."""

from __future__ import annotations

from collections.abc import Iterable

from rdkit import Chem, rdBase

from .standard import parsed

_MIRROR = {
    Chem.ChiralType.CHI_TETRAHEDRAL_CW: Chem.ChiralType.CHI_TETRAHEDRAL_CCW,
    Chem.ChiralType.CHI_TETRAHEDRAL_CCW: Chem.ChiralType.CHI_TETRAHEDRAL_CW,
}


def inverted_at(molecule: Chem.Mol, atoms: Iterable[int]) -> Chem.Mol:
    """Return a copy with the given tetrahedral centres inverted."""
    copy = Chem.Mol(molecule)
    for index in atoms:
        atom = copy.GetAtomWithIdx(index)
        atom.SetChiralTag(_MIRROR.get(atom.GetChiralTag(), atom.GetChiralTag()))
    return copy


def centres(molecule: Chem.Mol) -> list[int] | None:
    """Atoms that are tetrahedral centres, in order; None where one is not specified, or there is none."""
    found = []
    for info in Chem.FindPotentialStereo(molecule):
        if info.type == Chem.StereoType.Atom_Tetrahedral:
            if info.specified != Chem.StereoSpecified.Specified:
                return None
            found.append(int(info.centeredOn))
    return sorted(found) or None


def mirror_image(smiles: str) -> tuple[str, list[int]] | None:
    """Canonical SMILES of the mirror image, and the centres that were inverted.

    None where the structure has no centre, one that is not specified, or is its own mirror image (meso).
    """
    with rdBase.BlockLogs():
        molecule = parsed(smiles)
        if molecule is None:
            return None
        places = centres(molecule)
        if places is None:
            return None
        mirror = Chem.MolFromSmiles(Chem.MolToSmiles(inverted_at(molecule, places)))
        text = str(Chem.MolToSmiles(mirror))
        return None if text == Chem.MolToSmiles(molecule) else (text, places)
