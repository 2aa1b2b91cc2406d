"""Edits in words: deterministic English from the verified edit, and words back to the edit.

A description is a template of a style with its fields filled in. Every task has a style of its own, with a version
that is stored beside the text: who changes a template gives it a new version, so that a stored text can always be
told from one that would be written today. Reading is the template turned round; what is read must be what would be
written for the edit so found, word for word, names of fragments included. A model's paraphrase is free in its words,
but must keep every SMILES of the description and say the edit in one of the ways that `recover` knows; it is used
only if the edit that is recovered is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from ..molecules.edits import ENANTIOMER, REPLACEMENT, SATURATION, SINGLE_SITE, STATED, SUBSTRUCTURE, Edit
from . import formulations

_TAKEN = "the {removed_name} ({removed}){whose}"
_SITE = (
    "In the source {noun}, written with atom map numbers as {mapped}, atom 1 ({site}) is the site of the change. "
    f"There, {{verb}} {_TAKEN} {{link}} {{article}} {{added_name}} ({{added}}). "
    "{rest}"
)
_SATURATED = (
    "In the source {noun}, written with atom map numbers as {mapped}, hydrogenate the double bond between the "
    "carbon atoms 1 and 2 to a single bond. New stereocentres are left open. {rest}"
)
_MIRRORED = (
    "In the source {noun}, written with atom map numbers as {mapped}, invert the configuration of every tetrahedral "
    "stereocentre ({atoms}). {rest}"
)
_EXCHANGED = (
    "In the source {noun}, written with atom map numbers as {mapped}, take out {gone} and put in {put}; the number "
    "of a dummy atom is that of the atom it is bonded to. {rest}"
)
_OF_A_REACTION = "In the source reaction, {mapped}, replace the {removed} by the {added}. "
_COMPONENT = f"{_OF_A_REACTION}Everything else stays the same: {{kept}}."

_REST = "All other atoms, bonds and configurations stay as they are."

STYLES: Mapping[str, Mapping[str, str]] = {
    "bace/1": {"noun": "inhibitor candidate", "verb": "replace", "link": "by", "rest": _REST},
    "hiv/1": {"noun": "screened compound", "verb": "exchange", "link": "for", "rest": _REST},
    "retrosynthesis/1": {
        "noun": "product", "verb": "replace", "link": "with",
        "rest": "The rest of the product stays as it is, stereochemistry included.",
    },
    "structural-odor/1": {
        "noun": "odorant", "verb": "replace", "link": "by",
        "rest": "The rest of the odorant stays as it is, stereochemistry included.",
    },
    "chirality-odor/1": {
        "noun": "odorant", "verb": "replace", "link": "by",
        "rest": "Connectivity and double-bond geometry stay as they are.",
    },
    "pairs/1": {"noun": "structure", "verb": "replace", "link": "by", "rest": _REST},
    "yield/1": {},
}  # fmt: skip
"""Style and version to its words. What differs between tasks is style; what is said is the same."""

_TEMPLATES = {
    SINGLE_SITE: _SITE,
    SATURATION: _SATURATED,
    ENANTIOMER: _MIRRORED,
    SUBSTRUCTURE: _EXCHANGED,
    REPLACEMENT: _COMPONENT,
}
_FIELD = re.compile(r"\{(\w+)\}")
_TOKEN = {"mapped": r"\S+", "removed": r"\S+", "added": r"\S+", "put": r"\S+"}
_WHOSE = ", whose first atom is atom 2,"


def describe(edit: Edit, style: str) -> str:
    """Write an edit in words; what a user stated is repeated as it is.

    Raises
    ------
    KeyError
        No such style.
    """
    if edit.kind == STATED:
        return edit.added
    words = {**STYLES[style], **_fields(edit)}
    return _TEMPLATES[edit.kind].format(**words)


def read(text: str, style: str) -> Edit | None:
    """Read a description back to its edit; None unless it is, word for word, what `describe` writes for it.

    The core, which is not said in words, is left empty.
    """
    for kind in _TEMPLATES:
        match = _pattern(style, kind).fullmatch(text)
        if match is None:
            continue
        try:
            edit = _edit(kind, match.groupdict())
            if describe(edit, style) == text:
                return edit
        except (StopIteration, AttributeError, KeyError):
            # SMILES that are none, or map numbers that no atom has: not a description of ours.
            continue
    return None


def recover(text: str, style: str, edit: Edit) -> bool:
    """Whether an edit can be recovered from words that are not ours: a paraphrase may be used only then.

    The source must stand in it with its map numbers. For an exchange both fragments, and no others, must stand in
    brackets, and the direction must be said: "replace the methyl group (*C) by ...", "exchange ... for ...",
    "... is replaced by ...", "remove ... and attach ...", "... in place of ...". What is not surely the same is
    refused: our own words are then used. Formulations are not paraphrased.
    """
    found = read(text, style)
    if found is not None:
        return same(found, edit)
    source = re.search(rf"(?<!\S){re.escape(edit.mapped)}(?=[\s,;:.]|$)", text)
    if edit.kind not in _SAID or source is None:
        return False
    rest = text[: source.start()] + text[source.end() :]
    return _SAID[edit.kind](rest, edit)


def same(one: Edit | None, other: Edit) -> bool:
    """Whether two edits say the same; the core is a consequence of the rest."""
    return one is not None and (one.kind, one.mapped, one.removed, one.added) == (
        other.kind, other.mapped, other.removed, other.added,
    )  # fmt: skip


def _exchange_said(text: str, edit: Edit) -> bool:
    fragments = set(re.findall(r"\((\*\S*)\)(?=[\s,;:.]|$)", text))
    if fragments != {edit.removed, edit.added}:
        return False
    return _direction(text, edit.removed, edit.added) and not _direction(text, edit.added, edit.removed)


def _direction(text: str, gone: str, new: str) -> bool:
    a, b = re.escape(f"({gone})"), re.escape(f"({new})")
    gap, near = r"[^.]{0,120}?", r"[^()]{0,120}?"
    ways = (
        rf"\b(?:replac|exchang|swap|chang|convert|turn)\w*\b{near}{a}{near}\b(?:by|with|for|to|into)\b{near}{b}",
        rf"{a}{near}\b(?:replaced|exchanged|swapped|changed|converted|turned)\b{near}{b}",
        rf"\b(?:remov|delet|tak|strip)\w*\b{near}{a}{gap}\b(?:attach|add|put|introduc|install)\w*\b{near}{b}",
        rf"{b}{near}\bin (?:place|stead) of\b{near}{a}",
    )
    return any(re.search(way, text, re.IGNORECASE) for way in ways)


def _hydrogenation_said(text: str, edit: Edit) -> bool:  # noqa: ARG001
    return re.search(r"\b(?:hydrogenat|saturat)", text, re.IGNORECASE) is not None and not _denied(text)


def _inversion_said(text: str, edit: Edit) -> bool:  # noqa: ARG001
    every = re.search(r"\b(?:every|each|all)\b|\benantiomer|\bmirror image", text, re.IGNORECASE)
    inverted = re.search(r"\binver(?:t|sion)|\benantiomer|\bmirror image", text, re.IGNORECASE)
    return every is not None and inverted is not None and not _denied(text)


def _denied(text: str) -> bool:
    return re.search(r"\b(?:do not|don't|not|never|except)\b", text, re.IGNORECASE) is not None


_SAID: Mapping[str, Callable[[str, Edit], bool]] = {
    SINGLE_SITE: _exchange_said,
    SATURATION: _hydrogenation_said,
    ENANTIOMER: _inversion_said,
}


def _fields(edit: Edit) -> dict[str, str]:
    from ..molecules.fragment_names import atom_word, fragment_name

    if edit.kind == SINGLE_SITE:
        added = fragment_name(edit.added)
        return {
            "mapped": edit.mapped,
            "site": atom_word(edit.mapped, 1),
            "removed": edit.removed,
            "removed_name": fragment_name(edit.removed),
            "whose": _WHOSE if ":2]" in edit.mapped else "",
            "article": "an" if added[0] in "aeiou" else "a",
            "added": edit.added,
            "added_name": added,
        }
    if edit.kind == SATURATION:
        return {"mapped": edit.mapped}
    if edit.kind == ENANTIOMER:
        count = len(re.findall(r":\d+\]", edit.mapped))
        return {"mapped": edit.mapped, "atoms": _atoms([str(n) for n in range(1, count + 1)])}
    if edit.kind == SUBSTRUCTURE:
        numbers = [n for n in edit.removed.split(",") if n]
        return {
            "mapped": edit.mapped,
            "gone": _atoms(numbers) if numbers else "nothing",
            "put": edit.added or "nothing",
        }
    source = formulations.read(edit.mapped) or {}
    kind, new = formulations.named(edit.added)
    return {
        "mapped": edit.mapped,
        "removed": formulations.spoken(kind, source[kind]),
        "added": formulations.spoken(kind, new),
        "kept": ", ".join(f"{name} {one.name}" for name, one in source.items() if name != kind),
    }


def _atoms(numbers: list[str]) -> str:
    if len(numbers) == 1:
        return f"atom {numbers[0]}"
    return f"atoms {', '.join(numbers[:-1])} and {numbers[-1]}"


def _edit(kind: str, found: Mapping[str, str]) -> Edit:
    if kind == SATURATION:
        return Edit(kind, found["mapped"], "C=C", "CC")
    if kind == ENANTIOMER:
        return Edit(kind, found["mapped"])
    if kind == SUBSTRUCTURE:
        put = "" if found["put"] == "nothing" else found["put"]
        return Edit(kind, found["mapped"], ",".join(re.findall(r"\d+", found["gone"])), put)
    if kind == REPLACEMENT:
        return _component_edit(found)
    return Edit(kind, found["mapped"], found["removed"], found["added"])


def _component_edit(found: Mapping[str, str]) -> Edit:
    source = formulations.read(found["mapped"]) or {}
    for name, one in source.items():
        if formulations.spoken(name, one) == found["removed"] and found["added"].startswith(f"{name} "):
            new = formulations.heard(found["added"].removeprefix(f"{name} "))
            return formulations.replacement(source, name, new)
    raise KeyError(found["removed"])


@cache
def _pattern(style: str, kind: str) -> re.Pattern[str]:
    """Turn a template round: fixed words as they are, fields as groups, a field that comes again the same."""
    template = _TEMPLATES[kind]
    parts, seen, at = [], set[str](), 0
    for field in _FIELD.finditer(template):
        name = field.group(1)
        parts.append(re.escape(template[at : field.start()]))
        at = field.end()
        if name in STYLES[style]:
            parts.append(re.escape(STYLES[style][name]))
        elif name in seen:
            parts.append(f"(?P={name})")
        else:
            seen.add(name)
            token = ".+" if kind == REPLACEMENT else _TOKEN.get(name, r"[^()]*?")
            parts.append(f"(?P<{name}>{token})")
    return re.compile("".join(parts) + re.escape(template[at:]))
