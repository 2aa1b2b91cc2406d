"""Edits at a single site: which of many pairs of molecules differ in one fragment on the same core.

No loop over pairs of molecules: the pairs come from a sweep over fingerprints, and a core is only written out where
cheap invariants of two cuts agree, which is nearly always a match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rdkit import Chem, rdBase

from .cuts import Cut, core_key, cuts, fragment_key
from .edits import SINGLE_SITE, Edit
from .execution import verify, with_maps

REDUCIBLE = "reducible"
SEVERAL_PLACES = "several_places"


@dataclass(frozen=True, slots=True)
class Site:
    """A pair of structures (positions ``first`` < ``second``) that differ in one fragment, with the edit each way.

    ``twins`` counts further edits that give the same target and are not kept.
    """

    first: int
    second: int
    forth: Edit
    back: Edit
    twins: int


@dataclass(slots=True)
class Sites:
    """What became of a set of pairs."""

    found: list[Site] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def single_sites(smiles: Sequence[str], pairs: Iterable[tuple[int, int]], *, most_heavy: int = 4) -> Sites:
    """Find the pairs that differ in one fragment of at most ``most_heavy`` heavy atoms on either side.

    The edit is irreducible (the fragments do not begin with the same kind of atom, else less could be changed) and
    verified both ways. Of several edits between the same two structures the one that moves fewest heavy atoms is
    kept, on a tie the one whose core comes first in the alphabet.

    Parameters
    ----------
    smiles
        n canonical SMILES of single-component structures.
    pairs
        Positions in ``smiles``.

    Returns
    -------
    Sites in the order of the pairs, and the number of other pairs by reason (``reducible``, ``several_places``, or
    what `verify` found).
    """
    sites = Sites()
    molecules = _Molecules(smiles, most_heavy)
    with rdBase.BlockLogs():
        for first, second in pairs:
            outcome = _site(molecules, int(first), int(second))
            if isinstance(outcome, Site):
                sites.found.append(outcome)
            else:
                sites.refused[outcome] += 1
    return sites


@dataclass(slots=True)
class _Molecules:
    """Molecules and their cuts, made when first asked for."""

    smiles: Sequence[str]
    most_heavy: int
    parsed: dict[int, Chem.Mol] = field(default_factory=dict)
    by_invariant: dict[int, dict[int, list[Cut]]] = field(default_factory=dict)
    keys: dict[tuple[int, int, int], tuple[str, str]] = field(default_factory=dict)

    def cuts(self, index: int) -> dict[int, list[Cut]]:
        """Return the cuts of a molecule by their invariant."""
        if index not in self.by_invariant:
            molecule = self.parsed[index] = Chem.MolFromSmiles(self.smiles[index])
            listed: dict[int, list[Cut]] = {}
            for cut in cuts(molecule, self.most_heavy):
                listed.setdefault(cut.invariant, []).append(cut)
            self.by_invariant[index] = listed
        return self.by_invariant[index]

    def key(self, index: int, cut: Cut) -> tuple[str, str]:
        """Return core and fragment of a cut."""
        at = (index, cut.anchor, cut.root)
        if at not in self.keys:
            molecule = self.parsed[index]
            self.keys[at] = core_key(molecule, cut), fragment_key(molecule, cut)
        return self.keys[at]

    def edit(self, index: int, cut: Cut, added: str) -> Edit:
        """Return the edit that exchanges the cut's fragment."""
        places = {1: cut.anchor} if cut.root < 0 else {1: cut.anchor, 2: cut.root}
        core, removed = self.key(index, cut)
        return Edit(SINGLE_SITE, with_maps(self.parsed[index], places), removed, added, core)


def _site(molecules: _Molecules, first: int, second: int) -> Site | str:
    ours, theirs = molecules.cuts(first), molecules.cuts(second)
    matches: dict[tuple[int, str, str, str], tuple[Cut, Cut]] = {}
    reducible = False
    for invariant in ours.keys() & theirs.keys():
        for one in ours[invariant]:
            for other in theirs[invariant]:
                core, fragment = molecules.key(first, one)
                core_there, fragment_there = molecules.key(second, other)
                if core != core_there or fragment == fragment_there:
                    continue
                if one.kind == other.kind:
                    reducible = True
                    continue
                key = (one.heavy + other.heavy, core, fragment, fragment_there)
                matches.setdefault(key, (one, other))
    if not matches:
        return REDUCIBLE if reducible else SEVERAL_PLACES
    reason = ""
    for key in sorted(matches):
        one, other = matches[key]
        forth = molecules.edit(first, one, key[3])
        back = molecules.edit(second, other, key[2])
        smiles = molecules.smiles
        reason = (
            verify(forth, smiles[first], smiles[second]) or verify(back, smiles[second], smiles[first]) or ""
        )
        if not reason:
            return Site(first, second, forth, back, len(matches) - 1)
    return reason
