"""Edits at several places: atoms are taken out, fragments are put in, what two structures share stays.

Only tables of users are read so, where no edit is given and none at a single site is found. A structure whose
stereocentre is at the place of the change may come out with its other configuration; such a pair is refused when
the edit is verified, never guessed.
"""

from __future__ import annotations

from rdkit import Chem

from .common_substructure import common_atoms


def exchange(source: Chem.Mol, target: Chem.Mol) -> tuple[dict[int, int], str, str] | None:
    """Find what is taken out of the source and what is put in for it.

    Returns
    -------
    places, removed, added
        Map number to atom index of the source; the numbers of the atoms taken out, "4,5,6"; fragments whose dummies
        bear the number of the atom that they are bonded to as an isotope, "[1*]C(=O)O.[2*]Cl". None where the two
        share nothing.

    Raises
    ------
    SearchTooLong
        The common part is not found within its nodes.
    """
    kept = common_atoms(source, target)
    if not kept:
        return None
    back = {there: here for here, there in kept.items()}
    gone = [i for i in range(source.GetNumAtoms()) if i not in kept]
    new = [j for j in range(target.GetNumAtoms()) if j not in back]
    beside = {n.GetIdx() for j in new for n in target.GetAtomWithIdx(j).GetNeighbors()}
    sites = sorted(back[j] for j in beside if j in back)
    places = dict(enumerate([*sites, *gone], 1))
    number_of = {index: number for number, index in places.items()}
    removed = ",".join(str(number_of[i]) for i in gone)
    return places, removed, _fragments(target, new, {j: number_of[back[j]] for j in back if back[j] in sites})


def _fragments(target: Chem.Mol, new: list[int], sites: dict[int, int]) -> str:
    """Write the atoms that only the target has, a dummy for each bond to what is kept."""
    part = Chem.RWMol(target)
    for j in new:
        for neighbor in target.GetAtomWithIdx(j).GetNeighbors():
            if neighbor.GetIdx() in sites:
                dummy = Chem.Atom(0)
                dummy.SetIsotope(sites[neighbor.GetIdx()])
                bond = target.GetBondBetweenAtoms(j, neighbor.GetIdx())
                part.AddBond(j, part.AddAtom(dummy), bond.GetBondType())
    part.BeginBatchEdit()
    for j in range(target.GetNumAtoms()):
        if j not in new:
            part.RemoveAtom(j)
    part.CommitBatchEdit()
    part.UpdatePropertyCache(strict=False)
    return str(Chem.MolToSmiles(part))


def exchanged(source: Chem.Mol, places: dict[int, int], removed: str, added: str) -> Chem.RWMol:
    """Take atoms out and put fragments in; the result is not sanitised.

    Raises
    ------
    ValueError
        A number that no atom has, or a fragment that is none; the message is the reason.
    """
    try:
        gone = [places[int(number)] for number in removed.split(",") if number]
    except (KeyError, ValueError):
        raise ValueError("an atom that is taken out is not in the source") from None
    fragments = Chem.MolFromSmiles(added, sanitize=False) if added else Chem.Mol()
    if fragments is None:
        raise ValueError("what is put in is no valid structure")
    whole = Chem.RWMol(Chem.CombineMols(source, fragments))
    shift = source.GetNumAtoms()
    for index in range(shift, whole.GetNumAtoms()):
        whole.GetAtomWithIdx(index).SetIntProp("_molaudit_changed", 1)
    dummies = []
    for atom in fragments.GetAtoms():
        if atom.GetAtomicNum() or atom.GetIsotope() not in places:
            continue
        dummies.append(shift + atom.GetIdx())
        for bond in atom.GetBonds():
            site = places[atom.GetIsotope()]
            whole.AddBond(site, shift + bond.GetOtherAtomIdx(atom.GetIdx()), bond.GetBondType())
            _hydrogens(whole.GetAtomWithIdx(site), -_order(bond))
    for index in gone:
        for bond in source.GetAtomWithIdx(index).GetBonds():
            other = bond.GetOtherAtomIdx(index)
            if other not in gone:
                _hydrogens(whole.GetAtomWithIdx(other), _order(bond))
    whole.BeginBatchEdit()
    for index in [*gone, *dummies]:
        whole.RemoveAtom(index)
    whole.CommitBatchEdit()
    return whole


def _order(bond: Chem.Bond) -> int:
    return 1 if bond.GetIsAromatic() else int(bond.GetBondTypeAsDouble())


def _hydrogens(atom: Chem.Atom, more: int) -> None:
    """Let an atom whose hydrogens are written gain or lose some with its bonds."""
    if atom.GetNoImplicit() or atom.GetNumExplicitHs():
        atom.SetNumExplicitHs(max(0, atom.GetNumExplicitHs() + more))
