"""Replies to "active or inactive?": 1, 0, or nothing that can be scored.

A hedged answer ("likely active") counts, with the flag ``hedged`` (ours); "cannot say" does not. Negations are read:
"not active", "unlikely to be active" and "no inhibitory activity" are 0, "not inactive" is 1. Where a reply says
both, the last statement of an answer decides; prose that says both is ``ambiguous``.
"""

from __future__ import annotations

import re

from ._stated import Stated, TaskAnswer, stated, unmarked, visible

KEYS = ("answer", "label", "prediction", "class", "final_answer", "active", "activity", "result", "output")

_WORD = re.compile(
    r"(?<![\w-])(?:(?P<off>(?:in|non-?|un)active|non-?inhibitors?|non-?inhibiting|negative|false)"
    r"|(?P<on>active|activity|inhibit(?:or|ors|s|ory|ing|ion)?|positive|true)"
    r"|(?P<yes>yes)|(?P<no>no)(?=\s*(?:[.,;:!)]|$))|(?P<one>1)(?![\w.%]\d*|\s*(?:%|of\b))|(?P<zero>0)(?![\w.%]\d*|\s*%))(?![\w-])",
    re.IGNORECASE | re.MULTILINE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|without|lacks?|lacking|unlikely|fails?|cannot|loses?|lose|lost|abolish\w*|loss)\b"
    r"|n't\b|\bnon-$",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:likely|unlikely|probabl[ey]|possibly|may|might|could|perhaps|presumably|appears?|seems?|suggests?"
    r"|I(?:'d| would) (?:guess|say)|guess|plausibl[ey]|tentatively|uncertain)\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:cannot|can't|can not|could not|couldn't|unable to|not possible to|impossible to|not able to)\b"
    r"[^.\n]{0,40}?"
    r"\b(?:say|tell|determin\w*|predict\w*|answer|know|decide|assess|conclude|infer|classify|establish)\b"
    r"|\b(?:unknown|undetermined|indeterminate|insufficient (?:data|information)|i don't know|i do not know)\b"
    r"|\b(?:active or inactive|either)\b(?=[^.\n]{0,20}(?:\?|unclear|unknown))",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|so|overall|in conclusion|conclusion|i (?:would )?(?:predict|expect|conclude)"
    r"|prediction|predicted)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;:\n]|,? (?:but|however|although|whereas|while|since|because)\b|,", re.IGNORECASE)


def read_binary(text: str | None) -> TaskAnswer[str]:
    """Read the reply to a binary question as "1" or "0"; never raises."""
    shown, flags, nothing = visible(text)
    if nothing is not None:
        return TaskAnswer(nothing, flags=flags)
    for one in stated(shown, KEYS):
        found = _statement(one)
        if found is not None:
            return TaskAnswer("answer", found[0], one.rule, (*flags, *found[1]))
        if one.rule != "fence" and _UNDECIDED.search(one.text):
            return TaskAnswer("refusal", rule=one.rule, flags=flags)
    return _prose(shown, flags)


def _statement(one: Stated) -> tuple[str, tuple[str, ...]] | None:
    data = one.data
    if isinstance(data, bool):
        return str(int(data)), ()
    if isinstance(data, int | float):
        return (str(int(data)), ()) if data in (0, 1) else None
    if isinstance(data, list):
        return None
    return _said(one.text)


def _said(text: str) -> tuple[str, tuple[str, ...]] | None:
    """What a text says, if it says one thing only."""
    if _UNDECIDED.search(text):
        return None
    said = _mentions(text)
    words = {value for value, numeric in said if not numeric}
    # "Active (1)": a digit is read where no word says it.
    found = words or {value for value, _ in said}
    if len(found) != 1:
        return None
    return found.pop(), ("hedged",) if _HEDGE.search(text) else ()


def _mentions(text: str) -> list[tuple[str, bool]]:
    found = []
    for match in _WORD.finditer(text):
        kind = match.lastgroup
        if kind in ("yes", "no"):
            found.append(("1" if kind == "yes" else "0", False))
        elif kind in ("one", "zero"):
            found.append(("1" if kind == "one" else "0", True))
        else:
            before = _CLAUSE.split(text[max(0, match.start() - 80) : match.start()])[-1]
            negations = len(_NEGATION.findall(before))
            found.append((str(int((kind == "on") != bool(negations % 2))), False))
    return found


def _prose(shown: str, flags: tuple[str, ...]) -> TaskAnswer[str]:
    """Read the whole, then lines of its own, then conclusions, then the last sentence that says anything."""
    if len(shown) <= 40:
        found = _said(unmarked(shown))
        if found is not None:
            return TaskAnswer("answer", found[0], "own-line", (*flags, *found[1]))
    lines = [unmarked(line) for line in shown.splitlines() if line.strip()]
    for line in (lines[-1], lines[0]):
        if len(line) <= 40 and (found := _said(line)) is not None:
            return TaskAnswer("answer", found[0], "own-line", (*flags, *found[1]))
    sentences = [part for part in re.split(r"(?<=[.!?])\s+|\n+", shown) if part.strip()]
    concluding = [
        part
        for part in sentences
        if _CONCLUSION.search(part) and (_mentions(part) or _UNDECIDED.search(part))
    ]
    for part in reversed(concluding):
        if _UNDECIDED.search(part):
            return TaskAnswer("refusal", rule="prose", flags=flags)
        found = _said(part)
        if found is not None:
            return TaskAnswer("answer", found[0], "prose", (*flags, *found[1]))
    if _UNDECIDED.search(shown):
        return TaskAnswer("refusal", rule="prose", flags=flags)
    values = {value for value, numeric in _mentions(shown) if not numeric}
    if len(values) == 1:
        hedged = ("hedged",) if _HEDGE.search(shown) else ()
        return TaskAnswer("answer", values.pop(), "prose", (*flags, *hedged))
    return TaskAnswer("ambiguous" if values else "none", flags=flags)
