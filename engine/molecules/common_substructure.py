"""The largest connected part that two molecules share, by a search that stops after so many nodes, not seconds.

McSplit (McCreesh, Prosser and Trimble, 2017), connected and induced: atoms are alike by element, charge, isotope,
aromaticity and ring membership; two atoms that are kept have the same bond, or none, in both. A time limit, as
rdFMCS has, would let the result depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rdkit import Chem

NODES = 30_000
"""Search nodes: about 3 s in the worst case."""


class SearchTooLong(Exception):
    """The nodes did not suffice."""


def common_atoms(one: Chem.Mol, other: Chem.Mol, nodes: int = NODES) -> dict[int, int]:
    """Map atoms of the first molecule to those of the second: a largest common part, the first that is found.

    Raises
    ------
    SearchTooLong
        More than ``nodes`` search nodes would be needed.
    """
    search = _Search(_graph(one), _graph(other), nodes)
    labels: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
    for side, molecule in enumerate((one, other)):
        for atom in molecule.GetAtoms():
            labels.setdefault(_label(atom), ([], []))[side].append(atom.GetIdx())
    search.extend({}, [_Class(left, right, False) for left, right in labels.values() if left and right])
    return search.best


@dataclass(frozen=True, slots=True)
class _Class:
    """Atoms that may still be matched with each other; ``joined``: they are bonded to what is matched."""

    left: list[int]
    right: list[int]
    joined: bool


@dataclass(slots=True)
class _Search:
    one: dict[int, dict[int, int]]
    other: dict[int, dict[int, int]]
    nodes: int
    best: dict[int, int] = field(default_factory=dict)

    def extend(self, matched: dict[int, int], classes: list[_Class]) -> None:
        self.nodes -= 1
        if self.nodes < 0:
            raise SearchTooLong
        if len(matched) > len(self.best):
            self.best = dict(matched)
        bound = len(matched) + sum(min(len(c.left), len(c.right)) for c in classes)
        usable = [i for i, c in enumerate(classes) if c.joined or not matched]
        if bound <= len(self.best) or not usable:
            return
        at = min(usable, key=lambda i: max(len(classes[i].left), len(classes[i].right)))
        chosen = classes[at]
        left = max(chosen.left, key=lambda i: (len(self.one[i]), -i))
        for right in sorted(chosen.right, key=lambda i: (abs(len(self.other[i]) - len(self.one[left])), i)):
            self.extend({**matched, left: right}, self._split(classes, left, right))
        rest = [i for i in chosen.left if i != left]
        others = (
            classes[:at] + ([_Class(rest, chosen.right, chosen.joined)] if rest else []) + classes[at + 1 :]
        )
        self.extend(matched, others)

    def _split(self, classes: list[_Class], left: int, right: int) -> list[_Class]:
        split = []
        beside_left, beside_right = self.one[left], self.other[right]
        for c in classes:
            parts: dict[int, tuple[list[int], list[int]]] = {}
            for i in c.left:
                if i != left:
                    parts.setdefault(beside_left.get(i, 0), ([], []))[0].append(i)
            for j in c.right:
                if j != right:
                    parts.setdefault(beside_right.get(j, 0), ([], []))[1].append(j)
            split += [
                _Class(part[0], part[1], c.joined or bond != 0)
                for bond, part in parts.items()
                if part[0] and part[1]
            ]
        return split


def _label(atom: Chem.Atom) -> tuple[int, ...]:
    return (
        atom.GetAtomicNum(), atom.GetFormalCharge(), atom.GetIsotope(), atom.GetIsAromatic(), atom.IsInRing(),
    )  # fmt: skip


def _graph(molecule: Chem.Mol) -> dict[int, dict[int, int]]:
    """Return each atom's neighbours with the kind of bond, from 1: its order, and whether it lies in a ring."""
    graph: dict[int, dict[int, int]] = {i: {} for i in range(molecule.GetNumAtoms())}
    for bond in molecule.GetBonds():
        kind = 1 + 2 * int(bond.GetBondType()) + int(bond.IsInRing())
        graph[bond.GetBeginAtomIdx()][bond.GetEndAtomIdx()] = kind
        graph[bond.GetEndAtomIdx()][bond.GetBeginAtomIdx()] = kind
    return graph
