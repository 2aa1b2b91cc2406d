"""Replies that list descriptors: JSON, bullets, an answer line or a line of commas, to a set of lower-case words.

Split at commas, semicolons, line breaks, bullets and " and "; no stemming. A list that is read and empty (``[]``,
"none", "no odour") is the empty set and an answer (ours); "odorless" is a descriptor.
"""

from __future__ import annotations

import re
from typing import Any

from ._stated import TaskAnswer, stated, unmarked, visible
from ._words import is_refusal

KEYS = (
    "descriptors",
    "odor_descriptors",
    "odour_descriptors",
    "labels",
    "answer",
    "odor",
    "odour",
    "final_answer",
    "prediction",
)

_SPLIT = re.compile(
    r"[,;\n\r•·|]| and |(?<=\S) & (?=\S)|^\s*(?:[-*+]|\d{1,2}[.)])\s+", re.IGNORECASE | re.MULTILINE
)
_BULLET = re.compile(r"^\s*(?:[-*+•·]|\d{1,2}[.)])\s+(.+)$")
_EMPTY = re.compile(
    r"(?:none|nothing|n/?a|no (?:odou?rs?|smells?|descriptors?|labels?)(?: descriptors?| at all)?"
    r"|\[\s*\]|\{\s*\}|empty(?: set)?)",
    re.IGNORECASE,
)
_LONGEST = 60
_MOST_WORDS = 4


def read_set(text: str | None) -> TaskAnswer[frozenset[str]]:
    """Read the reply to a question for descriptors; never raises."""
    shown, flags, nothing = visible(text)
    if nothing is not None:
        return TaskAnswer(nothing, flags=flags)
    for one in stated(shown, KEYS):
        found = _of_data(one.data) if one.data is not None else descriptor_set(one.text)
        if found is not None:
            return TaskAnswer("answer", found, one.rule, flags)
    bullets = [match.group(1) for line in shown.splitlines() if (match := _BULLET.match(line))]
    if bullets:
        found = descriptor_set("\n".join(_before_gloss(bullet) for bullet in bullets))
        if found is not None:
            return TaskAnswer("answer", found, "list", flags)
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    for line in (lines[-1], lines[0]) if lines else ():
        found = descriptor_set(unmarked(line))
        if found is not None and (len(lines) == 1 or "," in line or ";" in line):
            return TaskAnswer("answer", found, "own-line", flags)
    return TaskAnswer("refusal" if is_refusal(shown) else "none", flags=flags)


def descriptor_set(text: str) -> frozenset[str] | None:
    """Split a text into descriptors; None where its parts are sentences and no descriptors."""
    bare = unmarked(text)
    if _EMPTY.fullmatch(bare):
        return frozenset()
    if is_refusal(bare):
        return None
    parts = [
        unmarked(re.sub(r"^\s*(?:and|or)\s+", "", part)).strip("[](){}").strip()
        for part in _SPLIT.split(bare)
    ]
    parts = [unmarked(part).lower() for part in parts if part.strip()]
    words = [part for part in parts if part]
    if not words or not all(_is_descriptor(word) for word in words):
        return None
    return frozenset(words)


def _is_descriptor(word: str) -> bool:
    return len(word) <= _LONGEST and len(word.split()) <= _MOST_WORDS and any(sign.isalpha() for sign in word)


def _before_gloss(bullet: str) -> str:
    """A bullet's descriptor without what explains it: "**Green**: from the aldehyde"."""
    return re.split(r"\*{0,2}\s*[:(–—]|\s-\s", bullet.replace("**", ""))[0]


def _of_data(data: Any) -> frozenset[str] | None:
    if isinstance(data, str):
        return descriptor_set(data)
    if not isinstance(data, list) or not all(isinstance(one, str) for one in data):
        return None
    found: set[str] = set()
    for one in data:
        if one.strip():
            part = descriptor_set(one)
            if part is None:
                return None
            found |= part
    return frozenset(found)
