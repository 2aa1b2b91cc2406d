"""Reactions as text: products and reactant sets without atom maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rdkit import Chem, rdBase

from .identity import settled_smiles
from .standard import fingerprints


def reaction_sides(text: str) -> tuple[str, str] | None:
    """Split ``reactants>agents>product`` into a reactant set and a product, both canonical and without atom maps.

    Agents are left out. None where a side is missing or cannot be parsed.
    """
    parts = text.strip().split(">")
    if len(parts) != 3 or not (parts[0] and parts[2]):
        return None
    reactants, product = reactant_set(parts[0]), settled_smiles(parts[2])
    return None if not reactants or not product else (reactants, product)


def reactant_set(text: str) -> str | None:
    """Canonical form of a dotted set: each component canonical, without atom maps, sorted; None where one is none."""
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(text.strip())
    whole = None if molecule is None or molecule.GetNumAtoms() == 0 else settled_smiles(text.strip())
    return ".".join(sorted(whole.split("."))) if whole else None


def similarities(smiles: Sequence[str]) -> NDArray[np.float64]:
    """Tanimoto similarity of each of n structures, dotted sets as one molecule, with each: float64[n, n]."""
    return similarity_rows(fingerprints(smiles))


def similarity_rows(bits: NDArray[np.uint64], rows: Sequence[int] | None = None) -> NDArray[np.float64]:
    """Tanimoto similarity of some rows of packed bits with all: float64[rows, n]; two empty rows have 0."""
    chosen = bits if rows is None else bits[list(rows)]
    own, counts = np.bitwise_count(chosen).sum(axis=1), np.bitwise_count(bits).sum(axis=1)
    found = np.zeros((len(chosen), len(bits)))
    for i, row in enumerate(chosen):
        shared = np.bitwise_count(row & bits).sum(axis=1, dtype=np.int64)
        either = own[i].astype(np.int64) + counts.astype(np.int64) - shared
        found[i] = np.divide(shared, either, out=np.zeros(len(bits)), where=either > 0)
    return found
