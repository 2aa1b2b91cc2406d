"""Numbers that are never the answer, judged by what stands beside them: glued to a letter, a count, a temperature."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ._quantities import Quantity
from ._units import CONDITIONS, TEMPERATURES, same_unit

# counts: an integer before a plain word that cannot follow an answer
_COUNTED = re.compile(r"[\s-]([a-z]{3,})\b")
_AFTER_ANSWER = re.compile(
    r"and|but|per|from|based|which|since|because|would|should|under|that|this|when|where|using|due|units"
    r"|unit|log|degrees|not|than|was|are|were|means|about|approx|here|given|for|then|with|the|kcal|mol"
    r"|mmol|eqv|its|has|have|respectively|according|derived|rather|instead|though|although|while"
)

# labels of properties: where the asked property is named, another one's value is an aside
_PROPERTIES = (
    r"log ?[PDSK](?:ow|oct)?|[cx]logp|p[KI][aC]?(?:50)?|(?:melting|boiling|flash) point|[mb]\.?p\.?"
    r"|density|tpsa|psa|molar refractivity|polarizability|vapou?r pressure|solubility|dipole moment|homo|lumo"
)
_PROPERTY_NAME = re.compile(rf"\b(?:{_PROPERTIES})\b", re.I)
_RANGE_BEFORE = re.compile(
    r"\d[^\d\n]{0,30}[(,;]\s?(?:with\s)?(?:an?\s|the\s)?(?:[a-z%]{1,15}\s){0,3}?(?:range|interval|ci"
    r"|between|confidence|likely|bounds?)\b"
    r"[^\d\n]{0,20}\Z",
    re.I,
)
_NEIGHBOUR = re.compile(
    r"\b(?:analog(?:ue)?s?|analogous|isomers?|isomeric|similar|compar\w+|relatives?|related|homolog\w*"
    r"|neighbou?rs?|training|reference"
    r"|parent|known|close|closest)\b",
    re.I,
)
_PROPERTY = re.compile(
    rf"\b(?P<name>{_PROPERTIES})"
    r"\s{0,2}(?:\([^()\n]{0,30}\)\s?)?(?:is|was|of|=|:|≈|~|about|around|approximately|at|near|value|\s){1,4}\Z",
    re.I,
)

# circumstances
_AT = re.compile(
    r"(?:(?<!boils )(?<!boiling )(?<!melts )(?<!melting )\b[Aa]t|@|\b[Tt]\s?="
    r"|\b[Tt]emperature(?:\sof|\sis)?:?|\bnear|\bto)\s{0,2}(?:about|~|≈)?\s?\(?\Z"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_YEAR_BEFORE = re.compile(r"(?:\bin|\bsince|\bby|\(|,|\bet al\.?|\bfrom|\bof|[A-Z][a-z]+)\s{0,2}\(?\Z")

# a name in front: a letter, a bracket, or a sign or bracket behind one (PM6-3, Fe+2, [C]1, f(3)
_GLUED = re.compile(r"[^\W\d]\Z|[\]%#&@]\Z|\w[-+)/(]\Z|\d:\Z|(?:±|\+\s?/?-)\s?\Z")


def is_other_property(normal: str, quantity: Quantity, names: Sequence[str]) -> bool:
    """Whether a quantity is said to be another property than the one named."""
    label = _PROPERTY.search(normal[max(0, quantity.start - 60) : quantity.start])
    return label is not None and _bare(label["name"]) not in {_bare(name) for name in names}


def is_context_range(normal: str, quantity: Quantity) -> bool:
    """Whether a range only surrounds a number stated before it: "-4.12 (plausible range -4.6 to -3.7)"."""
    if quantity.kind != "range":
        return False
    return _RANGE_BEFORE.search(normal[max(0, quantity.start - 60) : quantity.start]) is not None


def property_of(label: str) -> str | None:
    """The property that a label names, under one writing, or None."""
    found = _PROPERTY_NAME.search(label)
    return _bare(found[0]) if found else None


def is_of_another(normal: str, quantity: Quantity) -> bool:
    """Whether a number in parentheses is a neighbour's: "the close analogue 7-methylpteridine (-0.854)"."""
    before = normal[max(0, quantity.start - 90) : quantity.start]
    if not before.endswith("(") or normal[quantity.end : quantity.end + 1] not in (")", "", ";", ","):
        return False
    return _NEIGHBOUR.search(before.replace("\n", ". ").rpartition(". ")[2]) is not None


def _bare(name: str) -> str:
    return name.replace(" ", "").replace(".", "").casefold()


_BEHIND_PLAIN = frozenset((" ", "\n", ".", ",", ";", ":", ")", "]", ""))


def is_aside(normal: str, quantity: Quantity) -> bool:
    """Whether a quantity belongs to a name, counts something or is a date, whatever else the text says."""
    start, end = quantity.start, quantity.end
    spaced = start > 1 and normal[start - 1] in " \n" and normal[start - 2] not in "±-"
    if spaced and not quantity.integer and normal[end : end + 1] in _BEHIND_PLAIN:
        return False
    before = normal[max(0, start - 24) : start]
    after = normal[end : end + 24]
    if not spaced and _GLUED.search(before[-6:]):
        return True
    first = after[:1]
    if (
        first.isalpha()
        or first in ("_", "'")
        or (first in ("-", "/") and after[1:2].isascii() and after[1:2].isalpha())
    ):
        return not (after[:1] == "'" and "'" in before)
    if quantity.integer and quantity.unit is None and quantity.kind != "range":
        counted = _COUNTED.match(after)
        if counted and not _AFTER_ANSWER.fullmatch(counted[1]) and len(quantity.text) <= 3:
            return True
        if _YEAR.fullmatch(quantity.text) and _YEAR_BEFORE.search(before):
            return True
    return False


def is_circumstance(normal: str, quantity: Quantity, declared: str | None) -> bool:
    """Whether a quantity states a circumstance: "at 25 °C", "10 mg of", "760 mmHg"."""
    unit = quantity.unit
    if unit not in CONDITIONS:
        return False
    if declared is not None and (
        same_unit(unit, declared) or (unit in TEMPERATURES and declared in TEMPERATURES)
    ):
        return False
    if unit in TEMPERATURES and declared is None:
        return stated_at(normal, quantity)
    return True


def stated_at(normal: str, quantity: Quantity) -> bool:
    """Whether a temperature is introduced as a circumstance ("at 25 °C")."""
    return bool(_AT.search(normal[max(0, quantity.start - 24) : quantity.start]))
