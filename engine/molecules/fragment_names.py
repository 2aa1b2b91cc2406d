"""Names of small fragments in words; any other is called by its formula."""

from __future__ import annotations

from functools import cache

from rdkit import Chem, rdBase
from rdkit.Chem import rdMolDescriptors

from .edits import HYDROGEN
from .standard import parsed

# The fragment hangs on `*`. Names are those of IUPAC's recommendations of 2013 for substituents where they name one.
_NAMES = {
    "*F": "fluorine atom", "*Cl": "chlorine atom", "*Br": "bromine atom", "*I": "iodine atom",
    "*[2H]": "deuterium atom", "*[3H]": "tritium atom",
    "*C": "methyl group", "*CC": "ethyl group", "*CCC": "propyl group", "*C(C)C": "propan-2-yl group",
    "*CCCC": "butyl group", "*C(C)CC": "butan-2-yl group", "*CC(C)C": "2-methylpropyl group",
    "*C(C)(C)C": "tert-butyl group", "*C1CC1": "cyclopropyl group", "*CC1CC1": "cyclopropylmethyl group",
    "*C1CCC1": "cyclobutyl group",
    "*C=C": "ethenyl group", "*CC=C": "prop-2-enyl group", "*C=CC": "prop-1-enyl group",
    "*C(C)=C": "prop-1-en-2-yl group", "*CC=CC": "but-2-enyl group", "*CCC=C": "but-3-enyl group",
    "*CC(C)=C": "2-methylprop-2-enyl group", "*C=C(C)C": "2-methylprop-1-enyl group",
    "*C#C": "ethynyl group", "*CC#C": "prop-2-ynyl group", "*C#CC": "prop-1-ynyl group",
    "*O": "hydroxy group", "*OC": "methoxy group", "*OCC": "ethoxy group", "*OCCC": "propoxy group",
    "*OC(C)C": "propan-2-yloxy group", "*OC1CC1": "cyclopropyloxy group", "*OCC=C": "prop-2-enyloxy group",
    "*OCC#C": "prop-2-ynyloxy group", "*CO": "hydroxymethyl group", "*CCO": "2-hydroxyethyl group",
    "*C(C)O": "1-hydroxyethyl group", "*CCCO": "3-hydroxypropyl group", "*COC": "methoxymethyl group",
    "*CCOC": "2-methoxyethyl group", "*COCC": "ethoxymethyl group", "*C(C)(C)O": "2-hydroxypropan-2-yl group",
    "*OCCO": "2-hydroxyethoxy group", "*OO": "hydroperoxy group", "*[O-]": "oxido group",
    "*N": "amino group", "*NC": "methylamino group", "*NCC": "ethylamino group", "*N(C)C": "dimethylamino group",
    "*NC(C)C": "propan-2-ylamino group", "*N1CC1": "aziridin-1-yl group", "*N1CCC1": "azetidin-1-yl group",
    "*CN": "aminomethyl group", "*CCN": "2-aminoethyl group", "*CNC": "methylaminomethyl group",
    "*CN(C)C": "dimethylaminomethyl group", "*[NH3+]": "ammonio group", "*[N+](C)(C)C": "trimethylammonio group",
    "*NN": "hydrazinyl group", "*NO": "hydroxyamino group", "*C=NO": "hydroxyiminomethyl group",
    "*N=[N+]=[N-]": "azido group", "*N=O": "nitroso group", "*[N+](=O)[O-]": "nitro group",
    "*C#N": "cyano group", "*CC#N": "cyanomethyl group", "*N=C=O": "isocyanato group",
    "*N=C=S": "isothiocyanato group", "*SC#N": "thiocyanato group",
    "*C=O": "formyl group", "*C(C)=O": "acetyl group", "*C(=O)CC": "propanoyl group", "*CC(C)=O": "2-oxopropyl group",
    "*C(=O)O": "carboxy group", "*C(=O)[O-]": "carboxylato group", "*C(=O)OC": "methoxycarbonyl group",
    "*CC(=O)O": "carboxymethyl group", "*OC(C)=O": "acetyloxy group", "*OC=O": "formyloxy group",
    "*C(N)=O": "carbamoyl group", "*C(=O)NC": "methylcarbamoyl group", "*NC=O": "formamido group",
    "*NC(C)=O": "acetamido group", "*NC(N)=O": "carbamoylamino group", "*OC(N)=O": "carbamoyloxy group",
    "*C(=O)Cl": "chlorocarbonyl group", "*C(=O)NN": "hydrazinecarbonyl group", "*C(=N)N": "carbamimidoyl group",
    "*C(N)=S": "carbamothioyl group", "*NC(N)=S": "carbamothioylamino group",
    "*CF": "fluoromethyl group", "*C(F)F": "difluoromethyl group", "*C(F)(F)F": "trifluoromethyl group",
    "*CCl": "chloromethyl group", "*C(Cl)Cl": "dichloromethyl group", "*C(Cl)(Cl)Cl": "trichloromethyl group",
    "*CBr": "bromomethyl group", "*CI": "iodomethyl group", "*CCF": "2-fluoroethyl group",
    "*CCCl": "2-chloroethyl group", "*CCBr": "2-bromoethyl group",
    "*OC(F)F": "difluoromethoxy group",
    "*CC(F)F": "2,2-difluoroethyl group",
    "*S": "sulfanyl group", "*SC": "methylsulfanyl group", "*SCC": "ethylsulfanyl group",
    "*CS": "sulfanylmethyl group",
    "*CSC": "methylsulfanylmethyl group", "*S(C)=O": "methanesulfinyl group", "*S(C)(=O)=O": "methanesulfonyl group",
    "*S(N)(=O)=O": "sulfamoyl group", "*S(=O)(=O)O": "sulfo group", "*S(=O)(=O)[O-]": "sulfonato group",
    "*S(=O)(=O)F": "fluorosulfonyl group", "*S(=O)(=O)Cl": "chlorosulfonyl group", "*SSC": "methyldisulfanyl group",
    "*P(=O)(O)O": "phosphono group", "*B(O)O": "borono group", "*[Si](C)(C)C": "trimethylsilyl group",
    "*[SeH]": "selanyl group", "*[Se]C": "methylselanyl group",
}  # fmt: skip


@cache
def _names() -> dict[str, str]:
    with rdBase.BlockLogs():
        return {str(Chem.MolToSmiles(Chem.MolFromSmiles(smiles))): name for smiles, name in _NAMES.items()}


@cache
def fragment_name(smiles: str) -> str:
    """Name a fragment, such as "methyl group" for ``*C``; the rest is a "group of formula C2H4NO2"."""
    if smiles == HYDROGEN:
        return "hydrogen atom"
    known = _names().get(smiles)
    if known is not None:
        return known
    with rdBase.BlockLogs():
        molecule = parsed(smiles)
        if molecule is None:
            return "group"
        formula = rdMolDescriptors.CalcMolFormula(molecule).replace("*", "")
    return f"group of formula {formula}"


def atom_word(mapped: str, number: int) -> str:
    """Say what atom bears a map number: "carbon atom", "aromatic nitrogen atom"."""
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(mapped)
        atom = next(a for a in molecule.GetAtoms() if a.GetAtomMapNum() == number)
        name = (
            Chem.GetPeriodicTable().GetElementName(atom.GetAtomicNum()).lower()
            if atom.GetAtomicNum()
            else "dummy"
        )
    return f"{'aromatic ' if atom.GetIsAromatic() else ''}{name} atom"
