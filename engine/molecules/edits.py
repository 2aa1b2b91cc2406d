"""What is done to a source to get its target, as data: enough to do it again, and nothing of the target's own SMILES.

A source is written with atom map numbers at the places that the edit names; map numbers are counted from 1:

- ``single-site``: atom 1 is the site. A fragment on it is replaced by another. Where the fragment is more than a
  hydrogen atom, atom 2 is its first atom. Fragments are SMILES whose dummy atom `*` stands for the site.
- ``saturation``: atoms 1 and 2 are joined by the double bond that is hydrogenated.
- ``enantiomer``: all mapped atoms are inverted.
- ``substructure``: the mapped atoms are taken out, and the fragments are put in their place; the first hangs on the
  atoms that the isotope numbers of its dummies name, so do the others.
"""

from __future__ import annotations

from dataclasses import dataclass

SINGLE_SITE = "single-site"
SATURATION = "saturation"
ENANTIOMER = "enantiomer"
SUBSTRUCTURE = "substructure"
REPLACEMENT = "component"
STATED = "stated"

HYDROGEN = "*[H]"
"""The fragment that is taken off for an addition, and put on for a deletion."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit. ``mapped`` is the source with atom map numbers; ``core`` is what stays, for single-site edits."""

    kind: str
    mapped: str
    removed: str = ""
    added: str = ""
    core: str = ""
