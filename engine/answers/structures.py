"""Replies that are structures: one molecule, or the reactants of a reaction, to canonical SMILES."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ._stated import Stated, TaskAnswer, stated, unmarked, visible
from ._words import is_refusal

REACTANT_KEYS = (
    "reactants",
    "reactant_smiles",
    "precursors",
    "starting_materials",
    "answer",
    "smiles",
    "final_answer",
)
STRUCTURE_KEYS = (
    "smiles",
    "target",
    "structure",
    "target_smiles",
    "product",
    "molecule",
    "answer",
    "final_answer",
)

_SIGNS = re.compile(r"^[A-Za-z0-9@+\-\[\]()=#$/\\%.*:~>]+$")
_BETWEEN = re.compile(
    r"\s+(?:\+|and|&|plus)\s+|\s*[;,]\s+|\s*\n\s*(?:[-*•]|\d{1,2}[.)])?\s*|\s+", re.IGNORECASE
)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_SHORTEST_IN_PROSE = 5
_LONGEST = 2000
"""Characters of a SMILES that is parsed: canonical order takes the square of the atoms."""
_MOST_TRIED = 20
_UNLIKE_WORDS = re.compile(r"[=#()\[\]0-9@]|[a-z]?[A-Z]{2,}")


def read_reactants(text: str | None) -> TaskAnswer[str]:
    """Read the reply to "which reactants?" as a dotted set: each canonical, without atom maps, sorted.

    A reaction SMILES gives its left side. Parts may be joined by dots, plus signs, commas or stand on lines of their
    own. Where one part of a stated set is no structure the set is not read: it would be a smaller one. Never raises.
    """
    return _read(text, REACTANT_KEYS, several=True)


def read_structure(text: str | None) -> TaskAnswer[str]:
    """Read the reply to "which structure?" as canonical isomeric SMILES; never raises."""
    return _read(text, STRUCTURE_KEYS, several=False)


def _read(text: str | None, keys: tuple[str, ...], *, several: bool) -> TaskAnswer[str]:
    shown, flags, nothing = visible(text)
    if nothing is not None:
        return TaskAnswer(nothing, flags=flags)
    failed = ""
    for one in islice(stated(shown, keys), _MOST_TRIED):
        found = _canonical(_joined(one, several=several))
        if found is not None:
            return TaskAnswer("answer", found, one.rule, flags)
        failed = failed or one.rule
    for rule, candidate in islice(_unstated(shown, several=several), _MOST_TRIED):
        found = _canonical(candidate)
        if found is not None:
            return TaskAnswer("answer", found, rule, (*flags, *(("stated-invalid",) if failed else ())))
    return TaskAnswer("refusal" if is_refusal(shown) else "none", rule=failed or "none", flags=flags)


def _joined(one: Stated, *, several: bool) -> str:
    """The statement as one SMILES text; empty where a part of it is none."""
    if isinstance(one.data, list):
        if not all(isinstance(part, str) for part in one.data) or (len(one.data) > 1 and not several):
            return ""
        return ".".join(part.strip() for part in one.data if part.strip())
    text = re.sub(r"^smiles\s*[:=]\s*", "", unmarked(one.text), flags=re.IGNORECASE)
    # A name may follow in brackets: "CCO (ethanol)".
    text = re.sub(r"\s+\([^()\n]*\)", "", text)
    if ">" in text and "->" not in text:
        text = text.split(">")[0] if several else text.rsplit(">", maxsplit=1)[-1]
    parts = [unmarked(part).strip(",;") for part in _BETWEEN.split(text) if part.strip()]
    if len(parts) > 1 and not several:
        return ""
    return ".".join(parts)


def _unstated(shown: str, *, several: bool) -> Iterator[tuple[str, str]]:
    """Yield what may be meant where nothing is stated: code, a line of its own, the last token that is no word."""
    for line in reversed(shown.splitlines()):
        quoted = re.findall(r"`([^`\n]+)`", line)
        if quoted:
            yield "own-line", ".".join(quoted) if several else _joined(Stated("", quoted[-1]), several=False)
    lines = [unmarked(_ITEM.sub("", line)) for line in shown.splitlines() if line.strip()]
    if several and len(lines) > 1 and all(_SIGNS.match(line) for line in lines):
        yield "own-line", ".".join(lines)
    for line in reversed(lines):
        if _SIGNS.match(line) or (several and re.fullmatch(r"\S+(?:\s+\+\s+\S+)+", line)):
            yield "own-line", _joined(Stated("", line), several=several)
    tokens = [token.strip(",;\"'").rstrip(".:") for token in shown.split()]
    likely = [
        t for t in tokens if len(t) >= _SHORTEST_IN_PROSE and _SIGNS.match(t) and _UNLIKE_WORDS.search(t)
    ]
    # Of several sets in prose one may be the source's: only a lone one is meant.
    for token in reversed(likely) if not several or len(set(likely)) == 1 else ():
        yield "prose", _joined(Stated("", token), several=several)


def _canonical(text: str) -> str | None:
    if not text or len(text) > _LONGEST or not _SIGNS.match(text):
        return None
    from ..molecules.reactants import reactant_set

    return reactant_set(text)
