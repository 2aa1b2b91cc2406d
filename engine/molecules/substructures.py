"""Edits at several places: atoms are taken out, fragments are put in, what two structures share stays.

Only tables of users are read so, where no edit is given and none at a single site is found. At a stereocentre of
which one neighbour is exchanged, or taken for a hydrogen atom, the new one stands where the old one stood, so the
configuration stays; where several are, it is left open, and the edit is refused if the target says more.
"""

from __future__ import annotations

from collections import Counter

from rdkit import Chem

from .common_substructure import common_atoms


def exchange(source: Chem.Mol, target: Chem.Mol) -> tuple[dict[int, int], str, str] | None:
    """Find what is taken out of the source and what is put in for it.

    Returns
    -------
    places, removed, added
        Map number to atom index of the source; the numbers of the atoms taken out, "4,5,6"; fragments whose dummies
        bear the number of the atom that they are bonded to as an isotope, "[1*]C(=O)O.[2*]Cl". None where less
        than half of the source stays: that is another molecule and no edit (ours).

    Raises
    ------
    SearchTooLong
        The common part is not found within its nodes.
    """
    kept = common_atoms(source, target)
    if 2 * len(kept) < source.GetNumAtoms():
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
    """Take atoms out and put fragments in; the result is not sanitised and may hold hydrogen atoms.

    Raises
    ------
    ValueError
        A number that no atom has, or a fragment that is none; the message is the reason.
    """
    try:
        gone = {places[int(number)] for number in removed.split(",") if number}
    except (KeyError, ValueError):
        raise ValueError("an atom that is taken out is not in the source") from None
    fragments = Chem.MolFromSmiles(added, sanitize=False) if added else Chem.Mol()
    if fragments is None:
        raise ValueError("what is put in is no valid structure")
    comes = _comes(fragments, places)
    centres = [i for i in places.values() if i not in gone and _is_centre(source, i)]
    bare = [i for i in centres if len(comes.get(i, ())) == 1 and not _lost(source, i, gone)]
    whole = Chem.RWMol(Chem.AddHs(source, onlyOnAtoms=bare) if bare else source)
    taken = gone | set(range(source.GetNumAtoms(), whole.GetNumAtoms()))
    turned = [_settle(whole, i, taken, len(comes.get(i, ()))) for i in centres]
    hydrogens = {index for index in turned if index is not None}
    shift = whole.GetNumAtoms()
    whole.InsertMol(fragments)
    for index in range(shift, whole.GetNumAtoms()):
        whole.GetAtomWithIdx(index).SetIntProp("_molaudit_changed", 1)
    more: Counter[int] = Counter()
    for index in taken - hydrogens:
        for bond in whole.GetAtomWithIdx(index).GetBonds():
            if bond.GetOtherAtomIdx(index) not in taken:
                more[bond.GetOtherAtomIdx(index)] += _order(bond)
    dummies = []
    for site, bonds in comes.items():
        for dummy, other, kind, order in bonds:
            dummies.append(shift + dummy)
            whole.AddBond(site, shift + other, kind)
            more[site] -= order
    for index, number in more.items():
        _more_hydrogens(whole.GetAtomWithIdx(index), number)
    for index in hydrogens:
        _make_hydrogen(whole, index, taken)
    whole.BeginBatchEdit()
    for index in [*(taken - hydrogens), *dummies]:
        whole.RemoveAtom(index)
    whole.CommitBatchEdit()
    return whole


def _comes(
    fragments: Chem.Mol, places: dict[int, int]
) -> dict[int, list[tuple[int, int, Chem.BondType, int]]]:
    """Map each site to what is bonded to it: dummy, atom beside it, kind and order of the bond."""
    found: dict[int, list[tuple[int, int, Chem.BondType, int]]] = {}
    for atom in fragments.GetAtoms():
        if atom.GetAtomicNum() or atom.GetIsotope() not in places:
            continue
        for bond in atom.GetBonds():
            one = (atom.GetIdx(), bond.GetOtherAtomIdx(atom.GetIdx()), bond.GetBondType(), _order(bond))
            found.setdefault(places[atom.GetIsotope()], []).append(one)
    return found


def _is_centre(molecule: Chem.Mol, index: int) -> bool:
    return bool(molecule.GetAtomWithIdx(index).GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED)


def _lost(molecule: Chem.Mol, index: int, taken: set[int]) -> list[int]:
    neighbors = [bond.GetOtherAtomIdx(index) for bond in molecule.GetAtomWithIdx(index).GetBonds()]
    return [place for place, other in enumerate(neighbors) if other in taken]


def _settle(whole: Chem.RWMol, index: int, taken: set[int], gained: int) -> int | None:
    """Let a centre keep its configuration if it can; return the neighbour that becomes a hydrogen atom."""
    atom = whole.GetAtomWithIdx(index)
    lost = _lost(whole, index, taken)
    if len(lost) == 1 and gained <= 1:
        bonds = atom.GetBonds()
        if gained:
            # What is put in will stand last: as many swaps as neighbours stand behind what is taken out.
            if (len(bonds) - 1 - lost[0]) % 2:
                atom.InvertChirality()
            return None
        other = int(bonds[lost[0]].GetOtherAtomIdx(index))
        if sum(n.GetIdx() not in taken for n in whole.GetAtomWithIdx(other).GetNeighbors()) == 1:
            return other
    if lost or gained:
        atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    return None


def _make_hydrogen(whole: Chem.RWMol, index: int, taken: set[int]) -> None:
    atom = whole.GetAtomWithIdx(index)
    for neighbor in [n.GetIdx() for n in atom.GetNeighbors() if n.GetIdx() in taken]:
        whole.RemoveBond(index, neighbor)
    atom.SetAtomicNum(1)
    atom.SetFormalCharge(0)
    atom.SetIsotope(0)
    atom.SetNumExplicitHs(0)
    atom.SetNumRadicalElectrons(0)
    atom.SetIsAromatic(False)
    atom.SetNoImplicit(True)
    atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)


def _order(bond: Chem.Bond) -> int:
    return 1 if bond.GetIsAromatic() else int(bond.GetBondTypeAsDouble())


def _more_hydrogens(atom: Chem.Atom, more: int) -> None:
    """Let an atom whose hydrogens are written gain or lose some with its bonds."""
    if atom.GetNoImplicit() or atom.GetNumExplicitHs():
        atom.SetNumExplicitHs(max(0, atom.GetNumExplicitHs() + more))
