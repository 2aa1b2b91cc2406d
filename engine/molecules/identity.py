"""Whether two structures are the same: by canonical SMILES and by InChI, for each alone is too weak.

InChI merges mobile-hydrogen tautomers; canonical SMILES can hold stereo that a second parse would drop. So a
structure is written, parsed and written again, and both must agree. A structure without an InChI (an iron cluster)
equals none.
"""

from __future__ import annotations

from functools import lru_cache

from rdkit import Chem, rdBase

from .standard import parsed


def settled_smiles(smiles: str) -> str | None:
    """Canonical isomeric SMILES without atom maps, parsed twice; None if it cannot be parsed."""
    with rdBase.BlockLogs():
        molecule = parsed(smiles)
        if molecule is None:
            return None
        if ":" in smiles:  # else it holds no map number
            for atom in molecule.GetAtoms():
                atom.SetAtomMapNum(0)
        again = parsed(Chem.MolToSmiles(molecule))
        return None if again is None else str(Chem.MolToSmiles(again))


@lru_cache(maxsize=1 << 16)
def identity(smiles: str) -> tuple[str, str]:
    """Canonical SMILES and InChI of a structure; empty texts where there is none."""
    settled = settled_smiles(smiles)
    if settled is None:
        return "", ""
    with rdBase.BlockLogs():
        return settled, inchi(Chem.MolFromSmiles(settled))


def inchi(molecule: Chem.Mol) -> str:
    """InChI of a molecule as it is; empty where it has none."""
    return str(Chem.MolToInchi(molecule) or "")  # type: ignore[no-untyped-call]


def same_structure(one: str, other: str) -> bool:
    """Whether both identities agree."""
    if one == other and identity(one)[1]:
        return True
    first, second = identity(one), identity(other)
    return all(first) and first == second
