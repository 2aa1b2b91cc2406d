"""One reply to one number: which place holds the answer, and whether it is a number that may be scored."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ._answer import NumberAnswer, from_quantity
from ._errors import is_error_text
from ._lexemes import is_thousands_like
from ._places import Place, find_boxes, find_fields, find_tags
from ._prose import read_prose
from ._scan import Manner
from ._turns import next_sample, next_turn
from ._units import canonical_unit, same_unit
from ._words import is_example
from .reasoning import split_reasoning

LONGEST_HALF = 32_768
"""Characters examined at either end of a visible reply; what lies between is not read (flag ``long``)."""

_MOST_PLACES = 50
_LONGEST_BARE = 30

_PLAIN = re.compile(r"[ \t\r\n]*+([-+\u2212]?(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15}))[ \t\r\n]*+", re.ASCII)


def parse_number(
    text: str | None,
    unit: str | None = None,
    names: Sequence[str] = (),
    *,
    approximate: bool = True,
    decimal_comma: bool = False,
) -> NumberAnswer:
    """Read the number that a reply gives as its answer.

    Parameters
    ----------
    text : str or None
        The reply, with or without its reasoning.
    unit : str, optional
        Unit of the property. A number with another unit is flagged ``unit-mismatch`` and never converted.
    names : sequence of str
        Names of the property ("logS", "solubility"): "logS = -3.05" then counts as a statement of the answer.
    approximate : bool
        Whether "~0.5", "about 0.5" and "0.5 ± 0.1" count as points, flagged ``approximate``. Otherwise they are
        ``uncertain`` and have no value.
    decimal_comma : bool
        Whether "3,18" is 3.18. Otherwise it is ``ambiguous``, flagged ``decimal-comma``.

    Returns
    -------
    NumberAnswer
        Never raises; the time is linear in the length of the text.
    """
    if text is None or not text or text.isspace():
        return NumberAnswer(kind="empty", rule="none")
    if (plain := _PLAIN.fullmatch(text)) and not (decimal_comma and is_thousands_like(plain[1])):
        return _plain(plain[1])
    parted = split_reasoning(text)
    visible = parted.visible
    flags: tuple[str, ...] = ("reasoning",) if parted.thought else ()
    if parted.cut:
        return NumberAnswer(kind="truncated", rule="none", flags=flags)
    if not visible or visible.isspace():
        return NumberAnswer(kind="empty", rule="none", flags=flags)
    if is_error_text(visible):
        return NumberAnswer(kind="none", rule="none", flags=(*flags, "error-text"))
    examined, long = _bounded(visible)
    manner = Manner(canonical_unit(unit), tuple(names), approximate, decimal_comma)
    answer = _Reader(manner, long).read_reply(examined)
    if long:
        flags += ("long",)
    return replace(answer, flags=flags + answer.flags) if flags else answer


def _plain(text: str) -> NumberAnswer:
    sign = "-" if text[0] in "-\u2212" else ""
    digits = text.lstrip("-+\u2212")
    return from_quantity("point", text, _leading_zero(sign, digits), "lone")


def _leading_zero(sign: str, digits: str) -> str:
    whole, point, fraction = digits.partition(".")
    return sign + (whole.lstrip("0") or "0") + point + fraction


def _bounded(text: str) -> tuple[str, bool]:
    """Both ends of a long reply, cut between lines so that no number is cut."""
    if len(text) <= 2 * LONGEST_HALF:
        return text, False
    head = text[:LONGEST_HALF]
    tail = text[-LONGEST_HALF:]
    return head[: head.rfind("\n") + 1] + tail[tail.find("\n") :] * ("\n" in tail), True


class _Reader:
    """The settings of one reading; places may nest (a box in a tag), so reading is recursive."""

    def __init__(self, manner: Manner, long: bool) -> None:
        self.manner = manner
        self.long = long

    def read_reply(self, text: str) -> NumberAnswer:
        """Read a visible reply; what the model says after asking itself a new question does not count."""
        turn = next_turn(text)
        if turn is not None:
            head = self.read(text[:turn], explicit=False)
            if head.kind not in ("none", "empty"):
                return replace(head, flags=(*head.flags, "run-on"))
        sample = next_sample(text)
        if sample is not None:
            head = self.read(text[:sample], explicit=False)
            bare = head.rule == "lone" and len(text[:sample].strip()) <= _LONGEST_BARE
            if head.kind == "point" and (bare or head.rule in ("tag", "box", "json", "answer-line")):
                return replace(head, flags=(*head.flags, "run-on"))
        return self.read(text, explicit=False)

    def read(self, text: str, *, explicit: bool) -> NumberAnswer:
        """The last tag that holds an answer, else the last box, else JSON field, else the prose."""
        finders: tuple[tuple[str, Callable[[str], list[Place]]], ...] = (
            ("tag", find_tags),
            ("box", find_boxes),
            ("json", lambda body: find_fields(body, self.manner.names)),
        )
        for rule, find in finders:
            answer = self._last_of(find(text), rule)
            if answer is not None:
                return answer
        return read_prose(text, self.manner, explicit, self.long)

    def _last_of(self, places: Sequence[Place], rule: str) -> NumberAnswer | None:
        held = [
            (place, answer)
            for place in places[-_MOST_PLACES:]
            if not is_example(place.before)
            and (answer := self.read(place.content, explicit=True)).kind not in ("none", "empty")
        ]
        if not held:
            return None
        place, last = held[-1]
        candidates = tuple(dict.fromkeys(seen for _, answer in held for seen in answer.candidates))
        flags = (*place.flags, *last.flags)
        if len({answer.digits or answer.text for _, answer in held}) > 1:
            flags += ("several",)
        unit = last.unit
        if unit is None and place.unit is not None:
            unit = canonical_unit(place.unit)
            if (
                unit is not None
                and self.manner.declared is not None
                and not same_unit(unit, self.manner.declared)
            ):
                flags += ("unit-mismatch",)
        return replace(last, rule=rule, candidates=candidates, flags=tuple(dict.fromkeys(flags)), unit=unit)
