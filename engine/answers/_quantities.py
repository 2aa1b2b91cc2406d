"""Numbers in their sentence: plain, approximate, uncertain, a range, or a bound; and with which unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ._lexemes import Numeral, find_numerals
from ._units import read_unit


@dataclass(frozen=True, slots=True)
class Quantity:
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


def find_quantities(normal: str, written: str, decimal_comma: bool = False) -> list[Quantity]:
    """All quantities of a text, in order. Arguments as in `find_numerals`."""
    found: list[Quantity] = []
    waiting: Numeral | None = None
    for numeral in find_numerals(normal, written, decimal_comma):
        if waiting is None:
            # The -1 of "mol^-1" belongs to the unit before it.
            waiting = None if found and numeral.start < found[-1].end else numeral
        elif numeral.start >= read_unit(normal, waiting.end)[1]:
            pair = _join(normal, written, waiting, numeral)
            found.append(pair or _single(normal, waiting))
            waiting = None if pair else numeral
    if waiting is not None:
        found.append(_single(normal, waiting))
    return found


def _join(normal: str, written: str, first: Numeral, second: Numeral) -> Quantity | None:
    """Two numbers that state one quantity, or None."""
    if second.start - first.end > 40:
        return None
    unit, after = read_unit(normal, first.end)
    gap = normal[after : second.start]
    later_unit, end = read_unit(normal, second.end)
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


def _single(normal: str, numeral: Numeral) -> Quantity:
    unit, end = read_unit(normal, numeral.end)
    flags, digits = numeral.flags, numeral.digits
    kind, low, high = "point", None, None
    before = normal[max(0, numeral.start - 40) : numeral.start]
    if digits is None:
        kind = "ambiguous"
    elif numeral.spread:
        kind, flags = "uncertain", (*flags, "plus-minus")
    elif _BELOW.search(before) or _OR_LESS.match(normal, end) or _THEN_MORE.match(normal, end):
        kind, high = "bound", digits
    elif _ABOVE.search(before) or _OR_MORE.match(normal, end) or _THEN_LESS.match(normal, end):
        kind, low = "bound", digits
    elif _ABOUT.search(before) or _OR_SO.match(normal, end):
        kind, flags = "uncertain", (*flags, "approximate")
    if unit == "%":
        flags = (*flags, "percent")
    centre = digits if kind in ("point", "uncertain") else None
    plain = not numeral.signed and (numeral.digits or ".").isdigit()
    return Quantity(numeral.start, end, kind, numeral.text, centre, low, high, unit, flags, plain)
