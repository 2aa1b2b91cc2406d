"""Structures of a table: parsed, single-component and distinct ones, with the reason why the others were left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import rdFingerprintGenerator

RADIUS = 2
BITS = 2048

INVALID, MULTI_COMPONENT, DUPLICATE = "invalid", "multi_component", "duplicate"


@dataclass(frozen=True, slots=True)
class Structures:
    """Distinct structures of a table.

    ``records`` int64[n], positions in the table; ``smiles``, canonical and isomeric; ``heavy`` int64[n], atoms with
    Z > 1; ``bits`` uint64[n, 32], Morgan fingerprints of radius 2 without chirality. ``of_record`` int64[records]
    leads from every record to its structure, -1 where it has none. ``dropped`` counts the records left out
    (`invalid`, `multi_component`, `duplicate`), ``why_invalid`` the invalid ones by what RDKit objects to.
    """

    records: NDArray[np.int64]
    smiles: tuple[str, ...]
    heavy: NDArray[np.int64]
    bits: NDArray[np.uint64]
    of_record: NDArray[np.int64]
    dropped: dict[str, int]
    why_invalid: dict[str, int]

    def __len__(self) -> int:
        return len(self.smiles)


def distinct_structures(texts: Sequence[str | None], *, single: bool = True) -> Structures:
    """Parse SMILES, drop what cannot be parsed, has several components (with ``single``) or was there before.

    Nothing is stripped, neutralised or tautomerised: a salt is left out, not mended. Two texts are the same
    structure if their isomeric canonical SMILES are equal; the first is kept. The molecules themselves are not kept:
    a live one takes 35 kB.
    """
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    dropped = {INVALID: 0, MULTI_COMPONENT: 0, DUPLICATE: 0}
    why: Counter[str] = Counter()
    place: dict[str, int] = {}
    of_record = np.full(len(texts), -1, dtype=np.int64)
    heavy: list[int] = []
    packed: list[bytes] = []
    with rdBase.BlockLogs():
        for record, text in enumerate(texts):
            molecule = parsed(text)
            if molecule is None:
                dropped[INVALID] += 1
                why[_objection(text)] += 1
            elif single and len(Chem.GetMolFrags(molecule)) > 1:
                dropped[MULTI_COMPONENT] += 1
            else:
                of_record[record] = place.setdefault(Chem.MolToSmiles(molecule), len(heavy))
                if of_record[record] < len(heavy):
                    dropped[DUPLICATE] += 1
                    continue
                heavy.append(molecule.GetNumHeavyAtoms())
                packed.append(DataStructs.BitVectToBinaryText(generator.GetFingerprint(molecule)))
    present = np.flatnonzero(of_record >= 0)
    return Structures(
        records=present[np.unique(of_record[present], return_index=True)[1]],
        smiles=tuple(place),
        heavy=np.array(heavy, dtype=np.int64),
        bits=_unpacked(packed),
        of_record=of_record,
        dropped=dropped,
        why_invalid=dict(why.most_common()),
    )


def parsed(text: str | None) -> Chem.Mol | None:
    """Parse a SMILES; None for what is none, empty text included."""
    if not text or any(letter.isspace() for letter in text.strip()):
        return None
    molecule: Chem.Mol | None = Chem.MolFromSmiles(text.strip())
    return molecule if molecule is not None and molecule.GetNumAtoms() > 0 else None


def fingerprints(smiles: Iterable[str]) -> NDArray[np.uint64]:
    """Pack the Morgan fingerprints of valid SMILES, dotted ones included: uint64[n, 32]."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    with rdBase.BlockLogs():
        return _unpacked(
            [
                DataStructs.BitVectToBinaryText(generator.GetFingerprint(Chem.MolFromSmiles(text)))
                for text in smiles
            ]
        )


def _unpacked(packed: list[bytes]) -> NDArray[np.uint64]:
    words = BITS // 64
    return np.frombuffer(b"".join(packed), dtype="<u8").astype(np.uint64).reshape(len(packed), words)


def _objection(text: str | None) -> str:
    """Say in a word or two why a text is no structure."""
    if not text or not text.strip():
        return "empty"
    if any(letter.isspace() for letter in text.strip()):
        return "white space inside"
    raw: Chem.Mol | None = Chem.MolFromSmiles(text.strip(), sanitize=False)
    if raw is None:
        return "not SMILES"
    raw.UpdatePropertyCache(strict=False)
    problems = Chem.DetectChemistryProblems(raw)
    for problem in problems:
        if "Valence" in problem.GetType():
            return f"valence of {raw.GetAtomWithIdx(problem.GetAtomIdx()).GetSymbol()}"
    return "aromaticity" if problems else "no atoms"
