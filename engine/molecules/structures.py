"""SMILES to canonical structure, once per text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rdkit import Chem, rdBase

_KEPT = 2**18
"""Texts whose structure is remembered: a run scores the same molecules again and again."""

_SYMBOL = re.compile(r"([A-Z][a-z]?)[0-9]*")
_ELEMENTS = frozenset(Chem.GetPeriodicTable().GetElementSymbol(number) for number in range(1, 119))
# What a SMILES is written in; most names are told apart by this alone, without a try.
_WRITTEN = re.compile(r"(?:\[[^\[\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*]|[-=#$:/\\.()%0-9~<>])+", re.ASCII)


def canonical_smiles(texts: Iterable[str]) -> dict[str, str]:
    """Map each text that is a valid SMILES to its canonical isomeric SMILES; leave the others out.

    Only pure ASCII is a SMILES: RDKit drops other characters or stops at them, and "CO\u2082" would be methanol. Atom
    maps are dropped, and with them centres that only a map made. RDKit's own complaints are silenced: most texts
    tried here are names.
    """
    with rdBase.BlockLogs():
        tried = ((text, _canonical(text)) for text in set(texts))
        return {text: found for text, found in tried if found is not None}


def without_stereo(smiles: Iterable[str]) -> dict[str, str]:
    """Map each canonical SMILES to that of the same atoms and bonds without stereochemistry."""
    found: dict[str, str] = {}
    with rdBase.BlockLogs():
        for text in set(smiles):
            molecule = Chem.MolFromSmiles(text)
            Chem.RemoveStereochemistry(molecule)
            found[text] = Chem.MolToSmiles(molecule)
    return found


def is_formula(text: str) -> bool:
    """Whether a text reads as a bare molecular formula: element symbols, none twice, such as CO, NO, OCS or HF.

    Some of these are valid SMILES of something else: CO is carbon monoxide as a formula and methanol as a SMILES.

    >>> is_formula("CO"), is_formula("CCO"), is_formula("c1ccccc1")
    (True, False, False)
    """
    symbols = _SYMBOL.findall(text)
    return bool(symbols) and (
        "".join(match[0] for match in _SYMBOL.finditer(text)) == text
        and len(set(symbols)) == len(symbols)
        and _ELEMENTS.issuperset(symbols)
    )


@lru_cache(maxsize=_KEPT)
def _canonical(text: str) -> str | None:
    if not _WRITTEN.fullmatch(text):
        return None
    molecule = Chem.MolFromSmiles(text)
    if molecule is None or molecule.GetNumAtoms() == 0:
        return None
    mapped = [atom for atom in molecule.GetAtoms() if atom.GetAtomMapNum()]
    if mapped:
        for atom in mapped:
            atom.SetAtomMapNum(0)
        # What the maps told apart was judged while parsing; only a second parse sees the molecule without them.
        return _canonical(Chem.MolToSmiles(molecule))
    return str(Chem.MolToSmiles(molecule))


def molecular_weights(texts: Iterable[str]) -> dict[str, float]:
    """Map each valid SMILES to its average molecular weight in g/mol; leave the others out."""
    from rdkit.Chem import Descriptors

    found: dict[str, float] = {}
    with rdBase.BlockLogs():
        for text in set(texts):
            molecule = Chem.MolFromSmiles(text) if text and text.isascii() else None
            if molecule is not None and molecule.GetNumAtoms() > 0:
                found[text] = float(Descriptors.MolWt(molecule))  # type: ignore[attr-defined]
    return found
