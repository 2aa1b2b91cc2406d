"""Structures in a text: words that are SMILES, whose digits close rings."""

from __future__ import annotations

import re
from collections.abc import Callable

# SMILES: atoms with bonds, branches and ring digits; ring digits come in pairs
_ATOM = r"(?:\[[^\[\]\s]{1,40}\]|Cl|Br|[BCNOPSFIbcnops])"
_SMILES = re.compile(rf"(?:\(*+[-=#$:/\\~]?{_ATOM}(?:[-=#/\\:]?(?:%\d\d|\d))*+\)*+(?:\.(?=[(\[A-Z]))?)++")
_BRACKETED = re.compile(r"\[[^\[\]\s]{1,40}\]")
_RING = re.compile(r"%\d\d|\d")
_ONE_ATOM = re.compile(_ATOM)
TOKEN = re.compile(r"\S++")
LONGEST_SMILES = 2000


def without_structure(token: str, blank: Callable[[str], str]) -> str:
    """The word as it is, or blanked if it is a structure."""
    core = token.strip("\"'`,;:?!")
    if not 4 <= len(core) <= LONGEST_SMILES or not ("1" in core or "2" in core or "%" in core):
        return token
    return blank(token) if is_smiles(core.rstrip(".")) else token


def is_smiles(token: str) -> bool:
    """Whether a word is a structure: SMILES grammar, at least two atoms, every ring opened is closed."""
    for text in (token, token[1:-1] if token.startswith("(") and token.endswith(")") else ""):
        if not text or not _SMILES.fullmatch(text):
            continue
        rings: dict[str, int] = {}
        for ring in _RING.findall(_BRACKETED.sub("", text)):
            rings[ring] = rings.get(ring, 0) + 1
        if all(count % 2 == 0 for count in rings.values()) and len(_ONE_ATOM.findall(text)) >= 2:
            return True
    return False
