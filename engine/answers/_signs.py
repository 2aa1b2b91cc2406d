"""The sign of a written number, and the doubts about it."""

from __future__ import annotations

import re

from ._characters import EM_DASH, EN_DASH, GROUP_SPACE, is_stroke

# sign: what may stand before an attached one, and before one with a space behind it
_BEFORE_SIGN = frozenset(" \n([{=:<>≤≥~≈\"',;/|→±!?$…×" + EM_DASH + GROUP_SPACE)
_BEFORE_SPACED_SIGN = re.compile(
    r"(?:[=:≈~<>≤≥(\[]|\b(?:is|be|of|was|about|approximately|around|to|and))\s*+$"
)

_WORDED_SIGN = re.compile(r"\b(?:minus|negative|neg\.?)\s{0,3}\Z", re.I)

_BRACKETS = ("(", "[", "{", '"', "'")
_SIGN_ON_LINE_BEFORE = re.compile(r"(?:\A|[ \n([{=:~≈\"'])[-+\u2014] ?\n\s*+\Z")
_SIGN_BEFORE_BRACKET = re.compile(r"(?:\A|[\s=:≈~<>(\[,;|])[-\u2014] ?[(\[{\"'] ?\Z")
_SIGN_WORDS = ("minus", "negative", "neg", "neg.")


def read_sign(normal: str, written: str, start: int, floor: int) -> tuple[int, str, tuple[str, ...]]:
    """Where the number starts with its sign, the sign, and doubts about it.

    A dash is no sign right behind another number (a range), a letter or a bracket (a name). An em dash, a spaced
    en dash, or a dash between a word and a number is punctuation as often as a minus: doubted, not decided.
    """
    before = normal[floor:start]
    tight = before.rstrip(" " + GROUP_SPACE)
    doubts = _doubts(before, tight)
    if doubts or not tight:
        return start, "", doubts
    at = floor + len(tight) - 1
    if tight[-1] not in "+-" + EM_DASH:
        # One inside a word is a letter of it: the long vowel of katakana, the one of Chinese.
        stroke = is_stroke(written[at], attached=len(tight) == len(before)) and not tight[-2:-1].isalpha()
        return (at, "", ("odd-sign",)) if stroke else (start, "", ())
    head = normal[floor:at]
    if not head and floor:
        return start, "", ()
    if tight[-1] == EM_DASH:
        return at, "", ("em-dash",)
    if head.endswith(("+", "+/", "±", "± ")):
        return start, "", ()
    if len(tight) == len(before):
        range_dash = floor > 0 and head.strip() == "-"
        if not head or head[-1] in _BEFORE_SIGN or range_dash:
            return at, tight[-1], ()
        # Behind a letter it is a hyphen, and the number part of a name; behind anything else nobody knows.
        return (start, "", ()) if head[-1].isalnum() else (at, "", ("odd-sign",))
    if floor and not head.strip():
        return start, "", ()
    if written[at] == EN_DASH:
        return at, "", ("spaced-dash",)
    true_minus = written[at] == "\u2212" and (not head or head[-1] in _BEFORE_SIGN)
    if true_minus or not normal[:at].strip() or _BEFORE_SPACED_SIGN.search(head[-20:]):
        return at, tight[-1], ("spaced-sign",)
    return at, "", ("spaced-dash",)


def _doubts(before: str, tight: str) -> tuple[str, ...]:
    """Doubts for what stands before a number and is no sign: a sign in words, a comma, a sign on the line before."""
    if before[-14:].rstrip().lower().endswith(_SIGN_WORDS) and _WORDED_SIGN.search(before[-12:]):
        return ("worded-sign",)
    if before[-1:] == "," and not before[-2:-1].strip():
        return ("decimal-comma",)
    if tight[-1:] in _BRACKETS and _SIGN_BEFORE_BRACKET.search(tight[-6:]):
        return ("odd-sign",)
    if tight[-1:] == "\n" and _SIGN_ON_LINE_BEFORE.search(tight[-8:]):
        return ("odd-sign",)
    return ()
