"""The record of a parsed reply, and the one place that decides whether a number may be scored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ._lexemes import count_figures

Kind = Literal[
    "point", "range", "bound", "uncertain", "ambiguous", "non-finite", "refusal", "truncated", "empty", "none"
]

_LONGEST_EXPONENT = 6


@dataclass(frozen=True, slots=True)
class NumberAnswer:
    """What a reply gives as its number.

    Only ``kind == "point"`` has a ``value``; nothing else may feed a score.

    Attributes
    ----------
    kind : str
        ``point``; ``range`` (``low``, ``high``); ``bound`` (one of the two); ``uncertain`` (a centre with a
        spread, or "about", where these are not to count); ``ambiguous`` (several readings); ``non-finite`` (NaN,
        infinity, beyond a double); ``refusal``, ``truncated`` (reasoning never closed), ``empty``, ``none`` (no
        number that could be meant).
    rule : str
        ``tag``, ``box``, ``json``, ``answer-line``, ``name``, ``conclusion``, ``bold``, ``own-line``, ``lone``, or
        ``none``. In that order the rules are tried.
    text : str or None
        The number as written, markup taken off: Unicode signs, separators and trailing zeros as they were.
    digits : str or None
        The same as plain ASCII decimal text, "-3.10" or "1.20e-5": trailing zeros kept, plus and leading zeros not.
        Also set for ``uncertain`` (the centre).
    value : Decimal or None
        Exact value of ``digits`` of a point.
    figures, stripped : int
        Significant figures of ``digits``: with trailing zeros after a decimal point, and without any. Zero has none.
    candidates : tuple of str
        All numbers that could have been meant, the chosen one among them, in order of appearance.
    flags : tuple of str
        Oddities, such as ``thousands``, ``spaced-sign``, ``unit-mismatch``, ``percent``, ``several``, ``run-on``.
    unit : str or None
        Unit written with the number, under one name.
    low, high : Decimal or None
        Ends of a range or bound.
    """

    kind: Kind
    rule: str
    text: str | None = None
    digits: str | None = None
    value: Decimal | None = None
    figures: int = 0
    stripped: int = 0
    candidates: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    unit: str | None = None
    low: Decimal | None = None
    high: Decimal | None = None


def from_quantity(
    kind: Kind,
    text: str,
    digits: str | None,
    rule: str,
    *,
    candidates: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    unit: str | None = None,
    low: str | None = None,
    high: str | None = None,
) -> NumberAnswer:
    """Build the record; a point beyond the range of a double becomes ``non-finite`` and loses its value."""
    value = None
    if kind == "point":
        value = _finite(digits)
        if value is None:
            kind = "non-finite"
    figures, stripped = count_figures(digits) if digits else (0, 0)
    return NumberAnswer(
        kind=kind,
        rule=rule,
        text=text,
        digits=digits,
        value=value,
        figures=figures,
        stripped=stripped,
        candidates=candidates or ((digits,) if digits else ()),
        flags=flags,
        unit=unit,
        low=_finite(low),
        high=_finite(high),
    )


def _finite(digits: str | None) -> Decimal | None:
    """The exact value, or None where a double would be infinite, or zero though the number is not."""
    if digits is None or len(digits.partition("e")[2].lstrip("-")) > _LONGEST_EXPONENT:
        return None
    value = Decimal(digits)
    nearest = float(digits)
    return None if math.isinf(nearest) or (nearest == 0 and value != 0) else value
