"""The places where one fragment of a molecule can be exchanged, and what the molecule is without it.

A cut goes through one acyclic single bond; the fragment is the side with at most a few heavy atoms, the core the
rest with a dummy atom in the fragment's place. A hydrogen atom is a fragment of size 0, so additions and deletions
are cuts too. Symmetric twins of a cut are listed once.

The dummy takes the place of the fragment's first atom *in place*, with its index and bond: a bond that is made
anew would stand last in its neighbour's list, which inverts a stereocentre there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rdkit import Chem

_MASK = (1 << 64) - 1
_ODD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut by atom indices. ``root`` is the fragment's first atom, -1 for a hydrogen without an index.

    ``heavy`` counts the fragment's atoms with Z > 1; ``kind`` is what its first atom is (element, in a ring), by
    which reducible edits are refused; ``inner`` are its atoms; ``invariant`` is equal for equal cores.
    """

    anchor: int
    root: int
    heavy: int
    kind: tuple[int, bool]
    inner: frozenset[int]
    invariant: int


SITE = "_molaudit_site"
"""Property of the dummy atom that stands for what was cut off."""

IMPLICIT_HYDROGEN = (0, False)
"""Kind of a hydrogen that is no atom of the graph. A labelled one, [2H], is an atom and differs from it."""


def cuts(molecule: Chem.Mol, most_heavy: int) -> list[Cut]:
    """List the cuts of a molecule, one for each symmetry class, by atom index.

    Dative bonds are not single bonds here, and ring bonds are never cut: a fragment that is reached by two bonds is
    a ring change and no single site.
    """
    hashes = _Hashes(molecule)
    atoms = atoms_of(molecule)
    heavy_of = [int(atom.GetAtomicNum() > 1) for atom in atoms]
    ranks = list(Chem.CanonicalRankAtoms(molecule, breakTies=False))
    seen: set[tuple[int, int]] = set()
    found: list[Cut] = []
    rings = molecule.GetRingInfo()
    for bond in bonds_of(molecule):
        if bond.GetBondType() != Chem.BondType.SINGLE or rings.NumBondRings(bond.GetIdx()):
            continue
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        for anchor, root in (ends, ends[::-1]):
            if (ranks[anchor], ranks[root]) in seen:
                continue
            inner = _small_side(hashes.around, heavy_of, root, anchor, most_heavy)
            if inner is None:
                continue
            seen.add((ranks[anchor], ranks[root]))
            heavy = sum(heavy_of[i] for i in inner)
            kind = (atoms[root].GetAtomicNum(), rings.NumAtomRings(root) > 0)
            found.append(
                Cut(anchor, root, heavy, kind, frozenset(inner), hashes.without(anchor, root, inner))
            )
    for anchor in range(len(atoms)):
        if hashes.hydrogens[anchor] and (ranks[anchor], -1) not in seen:
            seen.add((ranks[anchor], -1))
            invariant = hashes.without(anchor, -1, ())
            found.append(Cut(anchor, -1, 0, IMPLICIT_HYDROGEN, frozenset(), invariant))
    return found


def atoms_of(molecule: Chem.Mol) -> list[Chem.Atom]:
    """List the atoms; RDKit's own sequence counts them anew at each step, which took a fifth of the time."""
    return [molecule.GetAtomWithIdx(index) for index in range(molecule.GetNumAtoms())]


def bonds_of(molecule: Chem.Mol) -> list[Chem.Bond]:
    """List the bonds."""
    return [molecule.GetBondWithIdx(index) for index in range(molecule.GetNumBonds())]


def core_key(molecule: Chem.Mol, cut: Cut) -> str:
    """Isomeric canonical SMILES of what stays, a dummy in the fragment's place."""
    return str(Chem.MolToSmiles(core_of(molecule, cut)))


def fragment_key(molecule: Chem.Mol, cut: Cut) -> str:
    """Isomeric canonical SMILES of the fragment, a dummy in the core's place."""
    if cut.root < 0:
        return "*[H]"
    return str(Chem.MolToSmiles(_half(molecule, cut.inner, cut.anchor)))


def core_of(molecule: Chem.Mol, cut: Cut) -> Chem.Mol:
    """Take the fragment out, a dummy in its place; atom map numbers stay."""
    if cut.root >= 0:
        inner = cut.inner
        return _half(molecule, {i for i in range(molecule.GetNumAtoms()) if i not in inner}, cut.root)
    with_hydrogen = Chem.RWMol(Chem.AddHs(molecule, onlyOnAtoms=[cut.anchor]))
    first = next(
        a.GetIdx()
        for a in with_hydrogen.GetAtomWithIdx(cut.anchor).GetNeighbors()
        if a.GetIdx() >= molecule.GetNumAtoms()
    )
    _blank(with_hydrogen.GetAtomWithIdx(first))
    with_hydrogen.BeginBatchEdit()
    anchor = with_hydrogen.GetAtomWithIdx(cut.anchor)
    for index in range(molecule.GetNumAtoms(), with_hydrogen.GetNumAtoms()):
        if index != first:
            with_hydrogen.RemoveAtom(index)
            if anchor.GetNoImplicit():
                anchor.SetNumExplicitHs(anchor.GetNumExplicitHs() + 1)
    with_hydrogen.CommitBatchEdit()
    return _settled(with_hydrogen)


def _half(molecule: Chem.Mol, kept: Iterable[int], dummy: int) -> Chem.Mol:
    kept = {*kept, dummy}
    part = Chem.RWMol(molecule)
    _blank(part.GetAtomWithIdx(dummy))
    part.BeginBatchEdit()
    for index in range(molecule.GetNumAtoms()):
        if index not in kept:
            part.RemoveAtom(index)
    part.CommitBatchEdit()
    return _settled(part)


def _settled(part: Chem.RWMol) -> Chem.Mol:
    """Recompute what depends on neighbours: valence, rings, stereo; aromaticity stays as it was in the whole."""
    part.ClearComputedProps()
    part.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(part)
    Chem.AssignStereochemistry(part, cleanIt=True, force=True)
    return part.GetMol()


def _blank(atom: Chem.Atom) -> None:
    """Turn an atom into a dummy, its bonds as they were."""
    atom.SetAtomicNum(0)
    atom.SetFormalCharge(0)
    atom.SetIsotope(0)
    atom.SetNumRadicalElectrons(0)
    atom.SetNumExplicitHs(0)
    atom.SetNoImplicit(True)
    atom.SetIsAromatic(False)
    atom.SetAtomMapNum(0)
    atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    atom.SetIntProp(SITE, 1)


def side(molecule: Chem.Mol, root: int, anchor: int) -> list[int]:
    """Atoms on the root's side of a bond."""
    beside = [{n.GetIdx(): 0 for n in atom.GetNeighbors()} for atom in molecule.GetAtoms()]
    number = molecule.GetNumAtoms()
    return _small_side(beside, [1] * number, root, anchor, number) or []


def _small_side(
    beside: Sequence[Mapping[int, int]], heavy_of: Sequence[int], root: int, anchor: int, most_heavy: int
) -> list[int] | None:
    """Atoms on the root's side of a bond; None where more than ``most_heavy`` of them have Z > 1."""
    found = [root]
    seen = {root, anchor}
    heavy = heavy_of[root]
    for index in found:
        for neighbor in beside[index]:
            if neighbor not in seen:
                seen.add(neighbor)
                found.append(neighbor)
                heavy += heavy_of[neighbor]
                if heavy > most_heavy:
                    return None
    return found if heavy <= most_heavy else None


class _Hashes:
    """Sums of hashes of atoms and of their neighbourhoods, from which a core's sum follows by subtraction.

    What is hashed of an atom stays as it is when a neighbour becomes a dummy: element, isotope, charge, radicals,
    aromaticity, number of neighbours with hydrogens, ring bonds.
    """

    def __init__(self, molecule: Chem.Mol) -> None:
        rings = molecule.GetRingInfo()
        atoms = atoms_of(molecule)
        self.own = [
            _hash(
                (
                    atom.GetAtomicNum(),
                    atom.GetIsotope(),
                    atom.GetFormalCharge(),
                    atom.GetNumRadicalElectrons(),
                    atom.GetIsAromatic(),
                    atom.GetTotalDegree(),
                    rings.NumAtomRings(index),
                )
            )
            for index, atom in enumerate(atoms)
        ]
        self.hydrogens = [atom.GetTotalNumHs() for atom in atoms]
        self.around: list[dict[int, int]] = [{} for _ in atoms]
        for bond in bonds_of(molecule):
            one, other = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            kind = _of_bond(int(bond.GetBondType()))
            self.around[one][other] = _mixed(self.own[other] + kind)
            self.around[other][one] = _mixed(self.own[one] + kind)
        self.whole = [
            self._whole(i, sum(self.around[i].values()), self.hydrogens[i]) for i in range(len(self.own))
        ]
        self.total = sum(self.whole)

    def without(self, anchor: int, root: int, inner: Iterable[int]) -> int:
        """Return the sum over the core's atoms, with a dummy on the anchor."""
        around = sum(self.around[anchor].values()) + _DUMMY
        hydrogens = self.hydrogens[anchor]
        if root < 0:
            hydrogens -= 1
        else:
            around -= self.around[anchor][root]
        rest = self.total - self.whole[anchor] - sum(self.whole[i] for i in inner)
        return (rest + self._whole(anchor, around, hydrogens)) & _MASK

    def _whole(self, index: int, around: int, hydrogens: int) -> int:
        return _mixed(self.own[index] * 3 + around + hydrogens * _ODD)


@cache
def _hash(facts: tuple[int | bool, ...]) -> int:
    state = 0
    for fact in facts:
        state = _mixed(state + int(fact) + 1)
    return state


@cache
def _of_bond(kind: int) -> int:
    return _mixed(kind + 77)


def _mixed(state: int) -> int:
    state = (state * _ODD + 1) & _MASK
    return ((state ^ (state >> 29)) * 0xBF58476D1CE4E5B9 & _MASK) ^ (state >> 32)


_DUMMY = _mixed(12345)
