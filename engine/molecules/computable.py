"""What structure alone gives: labels that agree with it need no memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from rdkit import Chem, rdBase
from rdkit.Chem import Crippen, Descriptors, GraphDescriptors, Lipinski, MolSurf, rdMolDescriptors

Descriptor = Callable[[Chem.Mol], float]

DESCRIPTORS: dict[str, Descriptor] = {
    "molecular weight": Descriptors.MolWt,  # type: ignore[attr-defined]
    "exact mass": Descriptors.ExactMolWt,  # type: ignore[attr-defined]
    "heavy-atom weight": Descriptors.HeavyAtomMolWt,
    "heavy atoms": Lipinski.HeavyAtomCount,
    "atoms with hydrogen": lambda m: Chem.AddHs(m).GetNumAtoms(),
    "bonds": lambda m: m.GetNumBonds(),
    "valence electrons": Descriptors.NumValenceElectrons,
    "electrons": lambda m: sum(a.GetAtomicNum() for a in Chem.AddHs(m).GetAtoms()),
    "rings": rdMolDescriptors.CalcNumRings,
    "rotatable bonds": rdMolDescriptors.CalcNumRotatableBonds,
    "hydrogen-bond donors": Lipinski.NumHDonors,  # type: ignore[attr-defined]
    "hydrogen-bond acceptors": Lipinski.NumHAcceptors,  # type: ignore[attr-defined]
    "topological polar surface area": MolSurf.TPSA,  # type: ignore[attr-defined]
    "Labute surface area": rdMolDescriptors.CalcLabuteASA,
    "Crippen logP": Crippen.MolLogP,  # type: ignore[attr-defined]
    "Crippen molar refractivity": Crippen.MolMR,  # type: ignore[attr-defined]
    "fraction of sp3 carbon": rdMolDescriptors.CalcFractionCSP3,
    "Bertz complexity": GraphDescriptors.BertzCT,
    "Balaban J": GraphDescriptors.BalabanJ,
    "kappa 1": rdMolDescriptors.CalcKappa1,
    "kappa 2": rdMolDescriptors.CalcKappa2,
    "kappa 3": rdMolDescriptors.CalcKappa3,
    "chi 0": GraphDescriptors.Chi0,
    "chi 1": GraphDescriptors.Chi1,
    "chi 0v": rdMolDescriptors.CalcChi0v,
    "chi 1v": rdMolDescriptors.CalcChi1v,
    "Hall-Kier alpha": rdMolDescriptors.CalcHallKierAlpha,
}


def descriptor_table(smiles: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
    """Compute every descriptor for every structure.

    Parameters
    ----------
    smiles
        n SMILES; an invalid one gives NaN in every row.

    Returns
    -------
    Descriptor name to float64[n].
    """
    table = {name: np.full(len(smiles), np.nan) for name in DESCRIPTORS}
    with rdBase.BlockLogs():
        for index, text in enumerate(smiles):
            molecule = Chem.MolFromSmiles(text) if text and text.isascii() else None
            if molecule is None or molecule.GetNumAtoms() == 0:
                continue
            for name, descriptor in DESCRIPTORS.items():
                table[name][index] = float(descriptor(molecule))
    return table
