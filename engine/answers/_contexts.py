"""Numbers that are never the answer: names, structures, identifiers, references, circumstances.

`mask` blanks whole stretches whose digits are no numbers (a SMILES, a CAS number, a list number);
`is_aside` judges a quantity by what stands beside it (glued to a letter, counts something, a temperature).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ._quantities import Quantity
from ._units import CONDITIONS, TEMPERATURES, same_unit

# SMILES: atoms with bonds, branches and ring digits; ring digits come in pairs
_ATOM = r"(?:\[[^\[\]\s]{1,40}\]|Cl|Br|[BCNOPSFIbcnops])"
_SMILES = re.compile(rf"(?:\(*+[-=#$:/\\~]?{_ATOM}(?:[-=#/\\:]?(?:%\d\d|\d))*+\)*+(?:\.(?=[(\[A-Z]))?)++")
_BRACKETED = re.compile(r"\[[^\[\]\s]{1,40}\]")
_RING = re.compile(r"%\d\d|\d")
_ONE_ATOM = re.compile(_ATOM)
_TOKEN = re.compile(r"\S++")
_LONGEST_SMILES = 2000

# words that name a thing with an integer behind them, and words with a dotted number
_NAMED = (
    r"molecules?|compounds?|samples?|examples?|entry|steps?|refs?\.?|references?|options?|question|problem"
    r"|case|no\.|nr\.?"
    r"|number|chapter|page|pp?\.|rule of|part|item|method|group|position|isomer|model|line|analog(?:ue)?"
)
_NUMBERED = (
    r"tables?|fig(?:ure|\.)?|eqs?\.?|equations?|section|vol\.?|versions?|ver\.?|v\.?|gpt|claude|llama"
    r"|gemini|qwen|phi"
    r"|grok|rdkit"
)
_IDENTIFIED = r"cid|chembl|id|cas|pubchem|chebi|zinc"

# a word for a deviation, not a value
_DEVIATION = (
    r"errors?|uncertainty|rmse|mae|mue|r2|r²|r\^2|margin|confidence|standard deviation|std|s\.?d\.?"
    r"|accuracy|within"
    r"|molecular weight|molar mass|mol\.? wt\.?|mw|m\.w\.|molecular mass"
)

_MASKS: tuple[re.Pattern[str], ...] = (
    re.compile(r"https?://\S++", re.I),
    # DOI
    re.compile(r"(?:doi:\s?)?\b10\.\d{4,9}/\S++", re.I),
    re.compile(r"\bInChI=\S++"),
    # CAS number, ISO date, clock time
    re.compile(r"(?<![\w.\-])\d{2,7}-\d{2}-\d(?![\w\-]|\.\d)"),
    re.compile(r"(?<![\w.])\d{4}-\d{2}-\d{2}(?![\w-])"),
    re.compile(r"(?<![\w.])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])"),
    # version: three parts or more, unless they can be groups of three
    re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,2}(?!\d)){2,4}(?![\w.]\d)"),
    # citation behind a word
    re.compile(r"(?<=[\w.,)\"'])\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,8}\]"),
    # bicyclo[2.2.1]
    re.compile(r"(?<=[A-Za-z])\[[\d.,^{}()]{1,60}\]"),
    # locants: 1,2-di..., 2-(4-..., 4'-, 3,3',5-
    re.compile(r"(?<![\w.])(?<!\d,)(?<!',)\d++(?:'{0,2},\d++)*+'{0,2}[a-zA-Z]?'{0,2}-(?=[A-Za-z(\[])"),
    # pH 7.4
    re.compile(r"\bpH\s{0,2}(?:of|is|=|~|≈|:)?\s{0,2}\d++(?:\.\d++)?"),
    re.compile(r"\b\d++(?:\.\d++)?\s?%\s(?:CI|confidence|conf\.)"),
    # "to 3 significant figures"
    re.compile(
        r"\b\d++[\s-](?:sig(?:nificant|\.)?|decimals?|digits?|d\.p\.)(?:\s(?:figures?|digits?|places?))?",
        re.I,
    ),
    re.compile(rf"(?<![\w-])(?:{_NAMED})\s{{0,2}}[#(]?\s?\d++(?!\.\d|[eE][-+\d]|\s?[×*x])", re.I),
    re.compile(rf"(?<![\w-])(?:{_NUMBERED})\s{{0,2}}[#(-]?\s?\d++(?:\.\d++)*+(?![eE][-+\d])", re.I),
    re.compile(rf"(?<![\w-])(?:{_IDENTIFIED})\s{{0,2}}[#:=(]?\s?\d++(?!\.\d)", re.I),
    re.compile(
        rf"(?<![\w-])(?:{_DEVIATION})[\"'*]{{0,2}}(?:\s(?:of|is|was|about|around|to|the|estimate|be"
        rf"|approximately))*+"
        r"\s{0,2}(?:[=:≈~±<>≤]\s{0,2})*+(?:about|approximately)?\s?[-+]?\d++(?:\.\d++)?(?:\s?%)?",
        re.I,
    ),
)

# list number at the start of a line with more behind it; "12. 3" alone may be a number torn apart
_LIST_NUMBER = re.compile(r"(?m)^[ ]{0,6}\(?\d{1,2}[.)][ ]+(?=\S)(?!\d{1,6}[ ]*$)")

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

_FILL = "W"


def mask(normal: str, explicit: bool) -> str:
    """Replace digits that are no numbers by letters, so the length stays.

    Parameters
    ----------
    normal : str
        Normalised text.
    explicit : bool
        The text is the content of an answer tag or box: a leading "5. " is its number, not a list's.
    """
    for pattern in _MASKS:
        normal = pattern.sub(_blank, normal)
    if not explicit:
        normal = _LIST_NUMBER.sub(_blank, normal)
    return _TOKEN.sub(_blank_smiles, normal) if any(mark in normal for mark in "1%2") else normal


def _blank(match: re.Match[str]) -> str:
    return "".join(_FILL if char.isdigit() else char for char in match[0])


def _blank_smiles(match: re.Match[str]) -> str:
    token = match[0]
    core = token.strip("\"'`,;:?!")
    if not 4 <= len(core) <= _LONGEST_SMILES or not any(char.isdigit() for char in core):
        return token
    return _blank(match) if is_smiles(core.rstrip(".")) else token


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


def is_aside(normal: str, quantity: Quantity) -> bool:
    """Whether a quantity belongs to a name, counts something or is a date, whatever else the text says."""
    before = normal[max(0, quantity.start - 24) : quantity.start]
    after = normal[quantity.end : quantity.end + 24]
    if _GLUED.search(before):
        return True
    if after[:1].isalpha() or after[:1] == "_" or re.match(r"[-/][A-Za-z]|'", after):
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
