"""Numbers in their sentence: plain, approximate, uncertain, a range, or a bound; and with which unit."""

from __future__ import annotations

import re
from typing import NamedTuple

from ._characters import GROUP_SPACE
from ._lexemes import Numeral, find_numerals
from ._units import read_unit


class Quantity(NamedTuple):
    """A stated quantity. ``kind`` is point, uncertain, range, bound or ambiguous.

    ``digits`` is the number or the centre; ``low`` and ``high`` are the ends as decimal text, None where open.
    """

    start: int
    end: int
    kind: str
    text: str
    digits: str | None
    low: str | None = None
    high: str | None = None
    unit: str | None = None
    flags: tuple[str, ...] = ()
    integer: bool = False
    """Written without sign, point and exponent, as counts and list numbers are."""

    @property
    def identity(self) -> tuple[str | None, ...]:
        """Equal for two statements of one thing."""
        return self.kind, self.digits or self.text, self.low, self.high


# uncertain
_PLUS_MINUS = re.compile(r" {0,3}\(?(?:±|\+ ?/ ?-|\+-) {0,3}")

# range: what may stand between its ends
_TO = re.compile(r" {0,3}(?:-|\u2014|~|\.{2,3}|…|/|\b(?:to|through|till|until|bis)\b) {0,3}")
_AND = re.compile(r"\s{0,3}(?:and|&)\s{0,3}")
_BETWEEN = re.compile(r"\bbetween\s{0,3}\Z", re.I)
_COMMA = re.compile(r" {0,3}[,;] {0,3}")

# bound, before and after the number
_BELOW = re.compile(
    r"(?:<\s?=|=\s?<|<\s?~|<|≤|(?<!no )(?<!not )\b(?:less|lower|smaller|fewer) than(?: or equal to)?"
    r"|\b(?:no|not) (?:more|greater|higher|larger) than|\bat most|\bmax(?:imum|\.)?|\bbelow"
    r"|\bunder|\bup to|\bmaximum of|\bbeneath|\bnot exceeding)\s{0,3}[(\"']?\Z",
    re.I,
)
_ABOVE = re.compile(
    r"(?:>\s?=|(?<![-=])>\s?~?|≥|\b(?:more|greater|higher|larger) than(?: or equal to)?"
    r"|\b(?:no|not) (?:less|lower|smaller) than|\bat least|\bmin(?:imum|\.)?|\babove"
    r"|\bover|\bexceed(?:s|ing)|\bminimum of|\bbeyond)\s{0,3}[(\"']?\Z",
    re.I,
)
_OR_LESS = re.compile(r"\s{0,3}(?:(?:or|and) (?:less|lower|below|smaller)\b)")
_OR_MORE = re.compile(r"\s{0,3}(?:(?:or|and) (?:more|higher|above|greater|larger|over)\b)|\+(?![\w+/-])")
_THEN_LESS = re.compile(r"\s{0,3}[<≤]")
_THEN_MORE = re.compile(r"\s{0,3}(?<!-)[>≥]")

# approximate
_ABOUT = re.compile(
    r"(?:[~≈约]|\b(?:about|approximately|approx\.?|around|roughly|circa|ca\.?|c\.|nearly|almost|close to"
    r"|near|some"
    r"|in the (?:region|vicinity|neighbou?rhood) of|on the order of|ungefähr|etwa|rund|zirka|environ|à peu près"
    r"|aproximadamente|alrededor de|cerca de|circa|приблизительно|около|примерно|大约|大約|約))"
    r"\s{0,3}[(\"']?\Z",
    re.I,
)
_OR_SO = re.compile(r"\s{0,3}or so\b|-?ish\b")


# What each of the patterns above ends with before the number, in lower case, or begins with behind it.
_BELOW_ENDS: tuple[str, ...] = (
    "<",
    "=",
    "~",
    "≤",
    "than",
    "equal to",
    "up to",
    "most",
    "max",
    "maximum",
    "max.",
    "below",
    "under",
    "maximum of",
)
_BELOW_ENDS += ("beneath", "exceeding")
_ABOVE_ENDS: tuple[str, ...] = (
    ">",
    "=",
    "~",
    "≥",
    "than",
    "equal to",
    "least",
    "min",
    "minimum",
    "min.",
    "above",
    "over",
    "exceeds",
    "exceeding",
)
_ABOVE_ENDS += ("minimum of", "beyond")
_ABOUT_ENDS = (
    "~", "≈", "约", "about", "approximately", "approx", "approx.", "around", "roughly", "circa", "ca", "ca.", "c.",
    "nearly", "almost", "close to", "near", "some", "region of", "vicinity of", "hood of", "order of", "ungefähr",
    "etwa", "rund", "zirka", "environ", "à peu près", "aproximadamente", "alrededor de", "cerca de",
    "приблизительно", "около", "примерно", "大约", "大約", "約",
)  # fmt: skip
_LAST_WORDS = (*_BELOW_ENDS, *_ABOVE_ENDS, *_ABOUT_ENDS)
_KNOWN_WORDS = frozenset(words.split(" ")[-1] for words in _LAST_WORDS)
_LONGEST_GAP = 14
_OPENERS = " \n(\"'" + GROUP_SPACE
_NEXT_WORDS = ("or ", "and ", "<", "≤", ">", "≥", "+", "-ish", "ish")

Unit = tuple[str | None, int]


def find_quantities(normal: str, written: str, decimal_comma: bool = False) -> list[Quantity]:
    """All quantities of a text, in order. Arguments as in `find_numerals`."""
    found: list[Quantity] = []
    waiting: Numeral | None = None
    unit: Unit = (None, 0)
    for numeral in find_numerals(normal, written, decimal_comma):
        if waiting is None:
            # The -1 of "mol^-1" belongs to the unit before it.
            if not found or numeral.start >= found[-1].end:
                waiting, unit = numeral, read_unit(normal, numeral.end)
        elif numeral.start >= unit[1]:
            later = read_unit(normal, numeral.end)
            pair = _join(normal, written, waiting, numeral, unit, later)
            found.append(pair or _single(normal, waiting, unit))
            waiting, unit = None if pair else numeral, later
    if waiting is not None:
        found.append(_single(normal, waiting, unit))
    return found


def _join(
    normal: str, written: str, first: Numeral, second: Numeral, first_unit: Unit, second_unit: Unit
) -> Quantity | None:
    """Two numbers that state one quantity, or None."""
    if second.start - first.end > 40:
        return None
    unit, after = first_unit
    if second.start - after > _LONGEST_GAP:
        return None
    gap = normal[after : second.start]
    later_unit, end = second_unit
    unit = later_unit or unit
    span = (first.start, end)
    text = written[first.start : end]
    if _PLUS_MINUS.fullmatch(gap):
        return Quantity(*span, "uncertain", text, first.digits, unit=unit, flags=(*first.flags, "plus-minus"))
    before = normal[max(0, first.start - 12) : first.start]
    bracketed = before.endswith(("[", "(")) and normal[second.end : second.end + 1] in ("]", ")")
    if not (
        _TO.fullmatch(gap)
        or (_AND.fullmatch(gap) and _BETWEEN.search(before))
        or (_COMMA.fullmatch(gap) and bracketed)
    ):
        return None
    if gap == "/" and "." not in first.text + second.text:
        return Quantity(*span, "ambiguous", text, None, unit=unit, flags=("fraction",))
    flags = tuple(dict.fromkeys(first.flags + second.flags))
    return Quantity(*span, "range", text, None, first.digits, second.digits, unit, flags)


def _single(normal: str, numeral: Numeral, at: Unit) -> Quantity:
    unit, end = at
    flags, digits = numeral.flags, numeral.digits
    kind, low, high = "point", None, None
    before = normal[max(0, numeral.start - 40) : numeral.start]
    lead = before.rstrip(_OPENERS).lower()
    word = lead[lead.rfind(" ") + 1 :]
    led = word in _KNOWN_WORDS if word.isalpha() and word.isascii() else lead.endswith(_LAST_WORDS)
    followed = normal[end : end + 7].lstrip().lower().startswith(_NEXT_WORDS)
    if digits is None:
        kind = "ambiguous"
    elif numeral.spread:
        kind, flags = "uncertain", (*flags, "plus-minus")
    elif (led and lead.endswith(_BELOW_ENDS) and _BELOW.search(before)) or (
        followed and (_OR_LESS.match(normal, end) or _THEN_MORE.match(normal, end))
    ):
        kind, high = "bound", digits
    elif (led and lead.endswith(_ABOVE_ENDS) and _ABOVE.search(before)) or (
        followed and (_OR_MORE.match(normal, end) or _THEN_LESS.match(normal, end))
    ):
        kind, low = "bound", digits
    elif (led and lead.endswith(_ABOUT_ENDS) and _ABOUT.search(before)) or (
        followed and _OR_SO.match(normal, end)
    ):
        kind, flags = "uncertain", (*flags, "approximate")
    if unit == "%":
        flags = (*flags, "percent")
    centre = digits if kind in ("point", "uncertain") else None
    plain = not numeral.signed and (numeral.digits or ".").isdigit()
    return Quantity(numeral.start, end, kind, numeral.text, centre, low, high, unit, flags, plain)
