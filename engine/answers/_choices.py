"""Which of several numbers of a sentence it states: by unit, as result of a sum, as the first with its grounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from . import _places as places
from ._quantities import Quantity
from ._scan import Scan, distinct_of
from ._units import same_unit

# Words after an answer that begin its circumstances or grounds.
_GROUNDS = re.compile(
    r"\s*+(?:[(\[]|,?\s?\b(?:which|with|based|because|since|assuming|as|using|for|at|in|considering|given"
    r"|compared)\b)"
)
LEAD_IN = re.compile(
    r"[\s\"'(\[~≈=:<>≤≥]*+(?:(?:about|approximately|around|roughly|is|the value is)\s)?[\s\"'(]*+"
)


# A calculation: operators between its numbers, an equals sign before the last.
_EQUALS = re.compile(r"[\s)\]}]{0,4}=\s{0,3}[~≈]?\s{0,3}")
_OPERATION = re.compile(r"[\s()\[\]{}*/×·+=≈~-]{0,12}")

# A refused answer, and words right before a stated number.
NEGATED = re.compile(r"\W{0,3}not\b", re.I)
INTRODUCED = re.compile(
    r"(?:^|[=:≈~<>≤≥→|]|\b(?:is|be|of|as|at|about|around|approximately|roughly|value))[\s\"'(\[]*+\Z", re.I
)


def choose(scan: Scan, found: Sequence[Quantity], start: int, *, lead: bool) -> Quantity | None:
    """The one quantity that a sentence states, or None."""
    distinct = distinct_of(found)
    if len(distinct) == 1:
        return distinct[0]
    # A calculation states its result after the last equals sign.
    if (fitting := _by_unit(scan, distinct)) is not None:
        return fitting
    last = found[-1]
    gaps = [scan.normal[one.end : two.start] for one, two in pairwise(found)]
    same = found[-2].unit in (None, last.unit)
    if same and _EQUALS.fullmatch(gaps[-1]) and all(_OPERATION.fullmatch(gap) for gap in gaps):
        return last
    first = found[0]
    if lead and LEAD_IN.fullmatch(scan.normal, start, first.start):
        gap = scan.normal[first.end : found[1].start]
        if _GROUNDS.match(gap) and not places.is_revised(gap):
            return first
    return None


def _by_unit(scan: Scan, distinct: Sequence[Quantity]) -> Quantity | None:
    """The only quantity in the declared unit, where all others have other units."""
    if scan.declared is None or any(one.unit is None for one in distinct):
        return None
    exact = [one for one in distinct if one.unit == scan.declared]
    fitting = exact or [one for one in distinct if one.unit and same_unit(one.unit, scan.declared)]
    return fitting[0] if len(fitting) == 1 else None
