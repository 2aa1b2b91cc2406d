"""Reading of text without tags: answer lines, conclusions, emphasis, lines of their own, and the lone number.

An answer line decides alone. Weaker statements must agree with each other. A number without any statement counts
only when it is the only one: the first or the last of several is never taken silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from . import _places as places
from ._answer import Kind, NumberAnswer, from_quantity
from ._characters import normalise, strip_markup
from ._contexts import is_aside, is_circumstance, mask, stated_at
from ._lexemes import spaced_thousands
from ._quantities import Quantity, find_quantities
from ._units import same_unit
from ._words import is_not_finite, is_refusal

_MOST_STATEMENTS = 200
_MOST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class _Scan:
    """A text, its quantities that may be answers, and those that state circumstances."""

    normal: str
    main: tuple[Quantity, ...]
    circumstances: tuple[Quantity, ...]
    bold: tuple[str, ...]
    declared: str | None
    explicit: bool
    approximate: bool

    def within(self, span: places.Span) -> list[Quantity]:
        """The quantities of a stretch that may be answers."""
        return [found for found in self.main if span.start <= found.start < span.end]

    def answer(self, found: Quantity, rule: str, *flags: str) -> NumberAnswer:
        """The record of a chosen quantity."""
        kind = found.kind
        marks = (*found.flags, *flags)
        if kind == "uncertain" and self.approximate and "approximate" in marks:
            kind = "point"
        if found.unit and self.declared and not same_unit(found.unit, self.declared):
            marks += ("unit-mismatch",)
        candidates = _names_of((*self.main, found))
        if len(_distinct(self.main)) > 1:
            marks += ("others",)
        return from_quantity(
            cast(Kind, kind), found.text, found.digits, rule,
            candidates=candidates, flags=tuple(dict.fromkeys(marks)), unit=found.unit, low=found.low, high=found.high,
        )  # fmt: skip

    def undecided(self, rule: str, *flags: str) -> NumberAnswer:
        """The record of several numbers none of which is stated to be the answer."""
        return NumberAnswer(kind="ambiguous", rule=rule, candidates=_names_of(self.main), flags=flags)


def _names_of(found: Iterable[Quantity]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.digits or one.text for one in found))[:_MOST_CANDIDATES]


def _distinct(found: Iterable[Quantity]) -> list[Quantity]:
    """One quantity for each thing stated; a point is kept before an approximate one of the same digits."""
    seen: dict[tuple[str | None, ...], Quantity] = {}
    for one in found:
        key = (one.digits,) if one.digits is not None else one.identity
        if key not in seen or (seen[key].kind != "point" and one.kind == "point"):
            seen[key] = one
    return list(seen.values())


def read_prose(
    text: str, declared: str | None, names: Sequence[str], explicit: bool, approximate: bool, long: bool
) -> NumberAnswer:
    """Read text that holds no tag, box or field.

    Parameters
    ----------
    text : str
        The reply, or the content of a tag (``explicit``).
    declared : str or None
        Canonical unit of the property.
    names : sequence of str
        Names of the property.
    explicit, approximate, long : bool
        The text is the content of a tag or box; "about" counts as a point; the middle of the reply is missing, so
        that a lone number may not be the only one.
    """
    scan = _scan(text, declared, explicit, approximate)
    if is_not_finite(scan.normal):
        return NumberAnswer(kind="non-finite", rule="lone", text=scan.normal.strip())
    sentences = places.Sentences(scan.normal)
    for read in (_answer_lines, _named, _statements):
        answer = read(scan, sentences, names)
        if answer is not None:
            return answer
    return _rest(scan, long)


def _scan(text: str, declared: str | None, explicit: bool, approximate: bool) -> _Scan:
    written, bold = strip_markup(text)
    normal = normalise(written)
    if grouped := spaced_thousands(normal):
        written = normal = grouped
    normal = mask(normal, explicit)
    main: list[Quantity] = []
    circumstances: list[Quantity] = []
    for found in find_quantities(normal, written):
        if is_aside(normal, found):
            continue
        (circumstances if is_circumstance(normal, found, declared) else main).append(found)
    return _Scan(normal, tuple(main), tuple(circumstances), tuple(bold), declared, explicit, approximate)


def _answer_lines(scan: _Scan, sentences: places.Sentences, names: Sequence[str]) -> NumberAnswer | None:
    """The last answer line that says anything; a later "wait, actually" with another number undoes it."""
    for span in reversed(places.find_answer_lines(sentences)[-_MOST_STATEMENTS:]):
        said = scan.normal[span.start : span.end]
        if is_not_finite(said):
            return NumberAnswer(kind="non-finite", rule="answer-line", text=said.strip())
        found = scan.within(span)
        if not found:
            aside = [one for one in scan.circumstances if one.start == span.start]
            if aside:
                return scan.answer(aside[0], "answer-line")
            if is_refusal(said):
                return NumberAnswer(kind="refusal", rule="answer-line", candidates=_names_of(scan.main))
            continue
        chosen = _choose(scan, found, span.start, lead=True)
        later = [one for one in scan.main if one.start >= span.rest]
        if chosen is None:
            return scan.undecided("answer-line")
        if any(one.digits != chosen.digits for one in later) and places.is_revised(scan.normal[span.rest :]):
            return scan.undecided("answer-line", "revised")
        return scan.answer(chosen, "answer-line")
    return None


def _named(scan: _Scan, sentences: places.Sentences, names: Sequence[str]) -> NumberAnswer | None:
    """Statements of the property by name, if they all agree."""
    chosen = _each(scan, places.find_named(sentences, names), lead=True)
    if not chosen:
        return None
    return scan.answer(chosen[0], "name") if len(chosen) == 1 else scan.undecided("name")


def _statements(scan: _Scan, sentences: places.Sentences, names: Sequence[str]) -> NumberAnswer | None:
    """Conclusions, bold numbers and numbers on lines of their own, if they all agree."""
    by_rule = {
        "conclusion": _each(scan, places.find_conclusions(sentences), lead=False),
        "bold": _bold(scan),
        "own-line": _own_lines(scan),
    }
    everything = _distinct(one for found in by_rule.values() for one in found)
    if not everything:
        return None
    rule = next(rule for rule, found in by_rule.items() if found)
    if rule == "own-line" and len(_distinct(scan.main)) == 1 and "\n" not in scan.normal.strip():
        rule = "lone"
    return scan.answer(everything[0], rule) if len(everything) == 1 else scan.undecided(rule)


def _each(scan: _Scan, spans: Sequence[places.Span], *, lead: bool) -> list[Quantity]:
    chosen = []
    for span in spans[-_MOST_STATEMENTS:]:
        found = scan.within(span)
        if found and (one := _choose(scan, found, span.start, lead=lead)) is not None:
            chosen.append(one)
    return _distinct(chosen)


def _bold(scan: _Scan) -> list[Quantity]:
    """Bold numbers that may be answers where they stand: the 3 of "**3** rings" may not."""
    allowed = {one.text: one for one in scan.main}
    chosen = []
    for content in scan.bold[-_MOST_STATEMENTS:]:
        normal = mask(normalise(content), explicit=False)
        inside = [one for one in find_quantities(normal, content) if not is_aside(normal, one)]
        if len(_distinct(inside)) == 1 and inside[0].text in allowed:
            chosen.append(allowed[inside[0].text])
    return _distinct(chosen)


# What may stand beside a number on its line: signs and brackets, and a short label with its sign before it.
_BESIDE = re.compile(
    r"(?:[^\W\d_][^\n\d=:≈]{0,40}?(?:\([^()\n]{0,30}\))?\s?(?:[=:≈~|]|->|→)\s?)?[^\w\n]{0,6}"
)
_BEHIND = re.compile(r"[^\w\n]{0,6}")


def _own_lines(scan: _Scan) -> list[Quantity]:
    by_line: dict[int, list[Quantity]] = {}
    for one in scan.main:
        by_line.setdefault(scan.normal.rfind("\n", 0, one.start) + 1, []).append(one)
    chosen = []
    for start, found in by_line.items():
        end = scan.normal.find("\n", start)
        one = found[0]
        before = scan.normal[start : one.start]
        behind = scan.normal[one.end : end if end >= 0 else len(scan.normal)]
        if len(found) == 1 and len(before) < 80 and len(behind) < 80:
            words = re.sub(
                r"(?i)\b(?:about|approximately|around|roughly|at least|at most|less than|more than)\b",
                "",
                before,
            )
            if _BESIDE.fullmatch(words) and _BEHIND.fullmatch(behind):
                chosen.append(one)
    return _distinct(chosen)


# Words after an answer that begin its circumstances or grounds.
_GROUNDS = re.compile(
    r"\s*+(?:[(\[]|,?\s?\b(?:which|with|based|because|since|assuming|as|using|for|at|in|considering|given|compared)\b)"
)
_LEAD_IN = re.compile(
    r"[\s\"'(\[~≈=:<>≤≥]*+(?:(?:about|approximately|around|roughly|is|the value is)\s)?[\s\"'(]*+"
)


def _choose(scan: _Scan, found: Sequence[Quantity], start: int, *, lead: bool) -> Quantity | None:
    """The one quantity that a sentence states, or None."""
    distinct = _distinct(found)
    if len(distinct) == 1:
        return distinct[0]
    # A calculation states its result after the last equals sign.
    last = found[-1]
    before = scan.normal[found[-2].end : last.start].rstrip(" ~≈")
    if before.endswith("=") and "=" in scan.normal[start : found[-2].end] + before:
        return last
    first = found[0]
    if lead and _LEAD_IN.fullmatch(scan.normal, start, first.start):
        gap = scan.normal[first.end : found[1].start]
        if _GROUNDS.match(gap) and not places.is_revised(gap):
            return first
    return _by_unit(scan, distinct)


def _by_unit(scan: _Scan, distinct: Sequence[Quantity]) -> Quantity | None:
    """The only quantity in the declared unit, where all others have other units."""
    if scan.declared is None or any(one.unit is None for one in distinct):
        return None
    fitting = [one for one in distinct if one.unit and same_unit(one.unit, scan.declared)]
    return fitting[0] if len(fitting) == 1 else None


def _rest(scan: _Scan, long: bool) -> NumberAnswer:
    """Without any statement: the lone number, else why there is none."""
    refusing = is_refusal(scan.normal)
    distinct = _distinct(scan.main)
    if not distinct:
        for one in scan.circumstances:
            alone = not re.search(r"\w", scan.normal[: one.start] + scan.normal[one.end :])
            if alone or (scan.declared is None and not refusing and not stated_at(scan.normal, one)):
                return scan.answer(one, "lone")
        return NumberAnswer(kind="refusal" if refusing else "none", rule="none")
    start = len(scan.normal) - len(scan.normal.lstrip())
    chosen = _choose(scan, scan.main, start, lead=scan.explicit)
    if chosen is None:
        return scan.undecided("none")
    if long:
        return scan.undecided("lone")
    if refusing and not scan.explicit:
        return scan.undecided("lone", "refusal-words")
    return scan.answer(chosen, "lone")
