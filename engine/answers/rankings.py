"""Replies that rank the members of a pool: JSON, a numbered list or a line, to names in order.

Every name keeps its place, also one that is not in the pool or comes twice: the first place of the target counts.
"""

from __future__ import annotations

import re
from typing import Any

from ._stated import TaskAnswer, stated, unmarked, visible
from ._words import is_refusal

KEYS = ("ranking", "ranked", "ranked_list", "order", "answer", "candidates", "results", "final_answer")

_ITEM = re.compile(r"^\s*(?:[-*+•]\s+|#?\d{1,3}[.):]\s+)(.+)$")
_NAME_KEYS = ("id", "name", "number", "index", "candidate", "molecule", "smiles")


def read_ranking(text: str | None) -> TaskAnswer[tuple[str, ...]]:
    """Read the reply to a question for a ranking; an empty list is no answer. Never raises."""
    shown, flags, nothing = visible(text)
    if nothing is not None:
        return TaskAnswer(nothing, flags=flags)
    for one in stated(shown, KEYS):
        found = _names(one.data) if isinstance(one.data, list) else _line(one.text)
        if found:
            return TaskAnswer("answer", found, one.rule, flags)
    items = [match.group(1) for line in shown.splitlines() if (match := _ITEM.match(line))]
    if items:
        return TaskAnswer("answer", tuple(_bare(item) for item in items), "list", flags)
    for line in reversed(shown.splitlines()):
        found = _line(line)
        if len(found) > 1:
            return TaskAnswer("answer", found, "own-line", flags)
    return TaskAnswer("refusal" if is_refusal(shown) else "none", flags=flags)


def _names(data: list[Any]) -> tuple[str, ...]:
    names = []
    for one in data:
        value = next((one[key] for key in _NAME_KEYS if key in one), None) if isinstance(one, dict) else one
        if isinstance(value, bool) or not isinstance(value, str | int):
            return ()
        names.append(_bare(str(value)))
    return tuple(names)


def _line(text: str) -> tuple[str, ...]:
    if "\n" in text.strip():
        return tuple(
            _bare(m.group(1) if (m := _ITEM.match(line)) else line)
            for line in text.splitlines()
            if line.strip()
        )
    parts = [
        part
        for part in re.split(r"\s*(?:[,;]|(?<=\s)>(?=\s)|→)\s*", unmarked(text).strip("[]"))
        if part.strip()
    ]
    return tuple(_bare(part) for part in parts) if all(len(part.split()) <= 3 for part in parts) else ()


def _bare(item: str) -> str:
    """A name without marks, its number sign and what explains it: "**12** (strong match)" is "12"."""
    item = unmarked(item.replace("**", ""))
    item = re.sub(r"^(?:#|no\.?\s*|number\s+|candidate\s+|molecule\s+)(?=\d)", "", item, flags=re.IGNORECASE)
    return unmarked(re.split(r"\s+[(–—-]|:\s", item)[0])
