"""SMILES to canonical structure, once per text."""

from __future__ import annotations

from collections.abc import Iterable

from rdkit import Chem, rdBase


def canonical_smiles(texts: Iterable[str]) -> dict[str, str]:
    """Map each text that is a valid SMILES to its canonical isomeric SMILES; leave the others out.

    Atom maps are dropped. RDKit's own complaints are silenced: most texts tried here are names.
    """
    found: dict[str, str] = {}
    with rdBase.BlockLogs():
        for text in set(texts):
            if not text or any(letter.isspace() for letter in text):
                continue
            molecule = Chem.MolFromSmiles(text)
            if molecule is None or molecule.GetNumAtoms() == 0:
                continue
            for atom in molecule.GetAtoms():
                atom.SetAtomMapNum(0)
            found[text] = Chem.MolToSmiles(molecule)
    return found


def molecular_weights(texts: Iterable[str]) -> dict[str, float]:
    """Map each valid SMILES to its average molecular weight in g/mol; leave the others out."""
    from rdkit.Chem import Descriptors

    found: dict[str, float] = {}
    with rdBase.BlockLogs():
        for text in set(texts):
            molecule = Chem.MolFromSmiles(text) if text else None
            if molecule is not None and molecule.GetNumAtoms() > 0:
                found[text] = float(Descriptors.MolWt(molecule))  # type: ignore[attr-defined]
    return found
