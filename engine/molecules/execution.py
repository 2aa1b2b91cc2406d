"""Do an edit: source and edit in, target out, stereo included; nothing of the target is looked at."""

from __future__ import annotations

from rdkit import Chem, rdBase

from .cuts import SITE, Cut, atoms_of, core_of, fragment_key, side
from .edits import ENANTIOMER, HYDROGEN, SATURATION, SINGLE_SITE, SUBSTRUCTURE, Edit
from .identity import identity, inchi, settled_smiles
from .inversion import inverted_at
from .standard import parsed
from .substructures import exchanged

CHANGED = "_molaudit_changed"
"""Property of the atoms that an edit puts in or touches, for drawings."""


class EditRefused(Exception):
    """The edit cannot be done, or does not do what it should; the message is the reason, a few words."""


def execute(edit: Edit) -> str:
    """Return the canonical isomeric SMILES of the target.

    Raises
    ------
    EditRefused
        The source does not have what the edit takes away, or the result is no valid structure.
    """
    with rdBase.BlockLogs():
        return _written(done(edit))


def done(edit: Edit) -> Chem.Mol:
    """Return the target as it is made, its changed atoms marked.

    Raises
    ------
    EditRefused
        As `execute`.
    """
    return _made(edit, *_begun(edit))


def _begun(edit: Edit) -> tuple[Chem.Mol, dict[int, int]]:
    if edit.kind not in _DO:
        raise EditRefused(f"a {edit.kind} edit is words alone")
    return mapped_atoms(edit.mapped)


def _made(edit: Edit, source: Chem.Mol, places: dict[int, int]) -> Chem.Mol:
    for index in places.values():
        source.GetAtomWithIdx(index).SetIntProp(CHANGED, 1)
    made = _DO[edit.kind](source, places, edit)
    if made is None:
        raise EditRefused("the result is no valid structure")
    return made


def _is(molecule: Chem.Mol, smiles: str) -> bool:
    """Whether a molecule's settled SMILES are these; most are settled as first written, without a parse."""
    text = str(Chem.MolToSmiles(molecule))
    return text == smiles or settled_smiles(text) == smiles


def _written(made: Chem.Mol) -> str:
    text = settled_smiles(Chem.MolToSmiles(made))
    if not text:
        raise EditRefused("the result is no valid structure")
    return text


def verify(edit: Edit, source: str, target: str) -> str | None:
    """Do the edit and compare: None if it starts at the source and ends at the target, else the reason why not."""
    smiles, wanted = identity(target)
    if not wanted:
        return "no InChI"
    with rdBase.BlockLogs():
        try:
            begun, places = _begun(edit)
            if not _is(begun, identity(source)[0]):
                return "the atom maps change the source"
            made = _made(edit, begun, places)
            if not _is(made, smiles):
                return "another canonical SMILES"
        except EditRefused as refusal:
            return str(refusal)
        # Of the molecule as it was made, not of what was written: else it would say nothing that SMILES do not.
        return None if inchi(made) == wanted else "another InChI"


def mapped_atoms(mapped: str) -> tuple[Chem.Mol, dict[int, int]]:
    """Parse a source with map numbers; return it without them, and the atom of each number.

    Raises
    ------
    EditRefused
        No valid structure, or a number that occurs twice.
    """
    source = parsed(mapped)
    if source is None:
        raise EditRefused("the source is no valid structure")
    places: dict[int, int] = {}
    for atom in atoms_of(source):
        number = atom.GetAtomMapNum()
        if number:
            if number in places:
                raise EditRefused(f"the map number {number} occurs twice")
            places[number] = atom.GetIdx()
            atom.SetAtomMapNum(0)
    # Map numbers tell equal neighbours apart, so that a centre can seem to be one that is none.
    Chem.AssignStereochemistry(source, cleanIt=True, force=True)
    return source, places


def with_maps(molecule: Chem.Mol, places: dict[int, int]) -> str:
    """Write a molecule with map numbers: number to atom index."""
    copy = Chem.Mol(molecule)
    for number, index in places.items():
        copy.GetAtomWithIdx(index).SetAtomMapNum(number)
    return str(Chem.MolToSmiles(copy))


def _place(places: dict[int, int], number: int) -> int:
    if number not in places:
        raise EditRefused(f"no atom has the map number {number}")
    return places[number]


def _single_site(source: Chem.Mol, places: dict[int, int], edit: Edit) -> Chem.Mol | None:
    anchor = _place(places, 1)
    if 2 in places:
        root = places[2]
        bond = source.GetBondBetweenAtoms(anchor, root)
        if bond is None or bond.GetBondType() != Chem.BondType.SINGLE or bond.IsInRing():
            raise EditRefused("atoms 1 and 2 are not joined by an acyclic single bond")
        inner = side(source, root, anchor)
        cut = Cut(anchor, root, 0, (0, False), frozenset(inner), 0)
    else:
        if not source.GetAtomWithIdx(anchor).GetTotalNumHs():
            raise EditRefused("the site has no hydrogen atom")
        cut = Cut(anchor, -1, 0, (0, False), frozenset(), 0)
    if fragment_key(source, cut) != edit.removed:
        raise EditRefused("the site does not carry the fragment that is taken off")
    core = core_of(source, cut)
    if edit.core and Chem.MolToSmiles(core) != edit.core:
        raise EditRefused("what stays is not the core")
    return _joined(core, edit.added)


def _joined(core: Chem.Mol, added: str) -> Chem.Mol | None:
    """Put a fragment in the place of the core's dummy."""
    core = Chem.RWMol(core)
    site = next(atom for atom in core.GetAtoms() if atom.HasProp(SITE))
    if added == HYDROGEN:
        site.SetAtomicNum(1)
        site.SetNoImplicit(True)
        return _valid(core, hydrogens=True)
    fragment = Chem.MolFromSmiles(added)
    dummies = [] if fragment is None else [a for a in fragment.GetAtoms() if a.GetAtomicNum() == 0]
    if len(dummies) != 1:
        raise EditRefused("the fragment that is put on has not one free end")
    for atom in fragment.GetAtoms():
        atom.SetIntProp(CHANGED, 1)
    site.SetAtomMapNum(1)
    dummies[0].SetAtomMapNum(1)
    return _valid(Chem.RWMol(Chem.molzip(core, fragment)))


def _valid(molecule: Chem.RWMol, *, hydrogens: bool = False) -> Chem.Mol | None:
    try:
        Chem.SanitizeMol(molecule)
        made = Chem.RemoveHs(molecule) if hydrogens else molecule.GetMol()
    except (Chem.MolSanitizeException, ValueError, RuntimeError):
        return None
    Chem.AssignStereochemistry(made, cleanIt=True, force=True)
    return made


def _saturation(source: Chem.Mol, places: dict[int, int], edit: Edit) -> Chem.Mol | None:  # noqa: ARG001
    ends = _place(places, 1), _place(places, 2)
    return saturated(source, *ends)


def saturated(source: Chem.Mol, one: int, other: int) -> Chem.Mol | None:
    """Make the C=C double bond between two atoms a single one; new centres are left open.

    Raises
    ------
    EditRefused
        No such bond, or an aromatic one.
    """
    bond = source.GetBondBetweenAtoms(one, other)
    if bond is None or bond.GetBondType() != Chem.BondType.DOUBLE:
        raise EditRefused("atoms 1 and 2 are not joined by a double bond")
    if {bond.GetBeginAtom().GetAtomicNum(), bond.GetEndAtom().GetAtomicNum()} != {6}:
        raise EditRefused("atoms 1 and 2 are not both carbon")
    made = Chem.RWMol(source)
    bond = made.GetBondBetweenAtoms(one, other)
    bond.SetStereo(Chem.BondStereo.STEREONONE)
    bond.SetBondType(Chem.BondType.SINGLE)
    for index in (one, other):
        atom = made.GetAtomWithIdx(index)
        for beside in atom.GetBonds():
            beside.SetBondDir(Chem.BondDir.NONE)
        if atom.GetNoImplicit():
            atom.SetNumExplicitHs(atom.GetNumExplicitHs() + 1)
    return _valid(made)


def _enantiomer(source: Chem.Mol, places: dict[int, int], edit: Edit) -> Chem.Mol | None:  # noqa: ARG001
    if not places:
        raise EditRefused("no atom is named")
    unspecified = Chem.ChiralType.CHI_UNSPECIFIED
    if any(source.GetAtomWithIdx(i).GetChiralTag() == unspecified for i in places.values()):
        raise EditRefused("a named atom has no configuration")
    return _valid(Chem.RWMol(inverted_at(source, places.values())))


def _substructure(source: Chem.Mol, places: dict[int, int], edit: Edit) -> Chem.Mol | None:
    try:
        return _valid(exchanged(source, places, edit.removed, edit.added), hydrogens=True)
    except ValueError as error:
        raise EditRefused(str(error)) from None


_DO = {
    SINGLE_SITE: _single_site,
    SATURATION: _saturation,
    ENANTIOMER: _enantiomer,
    SUBSTRUCTURE: _substructure,
}
