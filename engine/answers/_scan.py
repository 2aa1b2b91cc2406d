"""A text made ready for reading: markup off, names masked, its quantities sorted into answers and circumstances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from ._answer import Kind, NumberAnswer, from_quantity
from ._characters import normalise, strip_markup
from ._contexts import is_aside, is_circumstance, is_context_range, is_other_property
from ._lexemes import spaced_thousands
from ._masks import mask
from ._quantities import Quantity, find_quantities
from ._sentences import Span
from ._units import same_unit

_MOST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Manner:
    """How a reply is read.

    ``declared`` is the canonical unit of the property, ``names`` are its names; with ``approximate`` "about 0.5"
    and "0.5 ± 0.1" count as points; with ``decimal_comma`` "3,18" is 3.18.
    """

    declared: str | None = None
    names: tuple[str, ...] = ()
    approximate: bool = True
    decimal_comma: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """A text, its quantities that may be answers, and those that state circumstances."""

    normal: str
    low: str
    main: tuple[Quantity, ...]
    circumstances: tuple[Quantity, ...]
    bold: tuple[str, ...]
    manner: Manner
    explicit: bool

    @property
    def declared(self) -> str | None:
        """Canonical unit of the property."""
        return self.manner.declared

    def within(self, span: Span) -> list[Quantity]:
        """The quantities of a stretch that may be answers."""
        return [found for found in self.main if span.start <= found.start < span.end]

    def answer(self, found: Quantity, rule: str, *flags: str) -> NumberAnswer:
        """The record of a chosen quantity."""
        if found.kind == "uncertain":
            # "About 7.2 ... so 7.2": the plain statement counts.
            found = next(
                (one for one in self.main if one.kind == "point" and one.digits == found.digits), found
            )
        kind = found.kind
        marks = (*found.flags, *flags)
        if kind == "uncertain":
            marks += ("approximate",)
            kind = "point" if self.manner.approximate else kind
        if found.unit and self.declared and not same_unit(found.unit, self.declared):
            marks += ("unit-mismatch",)
        elif found.unit and self.declared and found.unit != self.declared:
            marks += ("log-unit",)
        candidates = names_of((*self.main, found))
        if _has_several(self.main):
            marks += ("others",)
        return from_quantity(
            cast(Kind, kind), found.text, found.digits, rule,
            candidates=candidates, flags=tuple(dict.fromkeys(marks)), unit=found.unit, low=found.low, high=found.high,
        )  # fmt: skip

    def undecided(self, rule: str, *flags: str) -> NumberAnswer:
        """The record of several numbers none of which is stated to be the answer."""
        return NumberAnswer(kind="ambiguous", rule=rule, candidates=names_of(self.main), flags=flags)


def names_of(found: Iterable[Quantity]) -> tuple[str, ...]:
    """The candidates: each number once, as digits where it has a reading."""
    return tuple(dict.fromkeys(one.digits or one.text for one in found))[:_MOST_CANDIDATES]


def distinct_of(found: Iterable[Quantity]) -> list[Quantity]:
    """One quantity for each thing stated; a point is kept before an approximate one of the same digits."""
    seen: dict[tuple[str | None, ...], Quantity] = {}
    for one in found:
        key = (one.digits,) if one.digits is not None else one.identity
        if key not in seen or (seen[key].kind != "point" and one.kind == "point"):
            seen[key] = one
    return list(seen.values())


def _has_several(found: Sequence[Quantity]) -> bool:
    first = found[0] if found else None
    return any(
        one.digits != first.digits or (one.digits is None and one.identity != first.identity)
        for one in found
        if first
    )


def scan_text(text: str, manner: Manner, explicit: bool) -> Scan:
    written, bold = strip_markup(text)
    normal = normalise(written)
    if grouped := spaced_thousands(normal):
        normal = grouped
    normal, low = mask(normal, explicit)
    main: list[Quantity] = []
    circumstances: list[Quantity] = []
    for found in find_quantities(normal, written, manner.decimal_comma):
        if is_aside(normal, found) or (manner.names and is_other_property(normal, found, manner.names)):
            continue
        if found.kind == "range" and main and is_context_range(normal, found):
            continue
        (circumstances if is_circumstance(normal, found, manner.declared) else main).append(found)
    return Scan(normal, low, tuple(main), tuple(circumstances), tuple(bold), manner, explicit)
