"""A user's own pairs: any source, edit and target, structures and formulations alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import polars as pl

from molaudit.storage.tables.reading import Columns

from ..errors import InputError
from ..molecules.edits import REPLACEMENT, STATED, Edit
from ..molecules.execution import verify
from ..molecules.locating import located, structure
from ..molecules.reactants import reactant_set, similarity_rows
from ..molecules.standard import fingerprints
from . import descriptions, formulations
from .building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order, TaskPairs
from .draws import capped, drawn
from .false_labels import false_reactants, false_sets, false_yield, inverted, shown_yield
from .odor_tables import as_text, descriptors, sets_of
from .samples import finished

KIND = "pairs"
COLUMNS = Columns(
    required=("source", "target", "source_label", "target_label"),
    optional=("sample", "edit", "group", "false_label", "class"),
)
DEFAULTS: Mapping[str, float] = {"fragment": 4, "consistent": 0.5, "consistent_points": 15}
"""Heavy atoms of a fragment; least similarity of consistent reactant sets; most points between consistent numbers."""
OPTIONS: tuple[str, ...] = ("labels",)
BALANCED = True
LABELS = ("binary", "set", "reactants", "percent")
STYLE = f"{KIND}/1"


@dataclass(frozen=True, slots=True)
class _Row:
    """One row that could be used, with what the user stated in it."""

    candidate: Candidate
    sample: str | None
    false: str | None
    reaction_class: str | None


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make pairs of a table with ``source, target, source_label, target_label`` and, if wanted, more.

    ``labels`` says what the labels are: ``binary`` (0 and 1), ``set`` (separated by semicolons), ``reactants``
    (dotted SMILES) or ``percent``; groups and false labels follow it, unless ``group`` and ``false_label`` are given.
    Source and target are structures, or formulations as `formulations.written` writes them. An ``edit`` in the
    words of `descriptions` is done and must give the target; one in other words is used as it stands, unverified;
    where there is none it is located, and a pair without one is left out and counted. ``class`` is the reaction
    class for false reactants; without it no class is excluded.
    """
    kind = order.options.get("labels")
    if kind not in LABELS:
        raise InputError(f"task {order.name!r}: labels = {kind!r}; allowed: {', '.join(LABELS)}")
    table = pl.concat(frames)
    funnel, notes = Funnel(), list[str]()
    funnel.count("records", table.height)
    refused: Counter[str] = Counter()
    rows = []
    for record, row in enumerate(table.iter_rows(named=True), 1):
        outcome = _row(row, record, kind, order)
        if isinstance(outcome, str):
            refused[outcome] += 1
        else:
            rows.append(outcome)
    for reason, number in refused.most_common():
        notes.append(f"{number} pairs left out: {reason}")
    funnel.count("targets", len(rows))
    funnel.count("verified", sum(one.candidate.edit.kind != STATED for one in rows))
    candidates = [one.candidate for one in rows]
    funnel.groups(candidates)
    of_candidate = {id(one.candidate): one for one in rows}
    chosen = [of_candidate[id(one)] for one in drawn(capped(candidates, order), order)]
    samples = [one.candidate for one in chosen]
    false = _FALSE[kind](chosen, order)
    names = [one.sample or f"{order.name}-{one.candidate.source_record}" for one in chosen]
    _distinct(names)
    return finished(
        KIND, order, samples, [one.false or made for one, made in zip(chosen, false, strict=True)], funnel, notes,
        shown=shown_yield if kind == "percent" else str, names=names,
    )  # fmt: skip


def _row(row: Mapping[str, str | None], record: int, kind: str, order: Order) -> _Row | str:
    source, target = ((row[name] or "").strip() for name in ("source", "target"))
    if not source or not target:
        return "no source or no target"
    labels = [
        _READ[kind](row[name] or "", f"row {row['row']}: {name}") for name in ("source_label", "target_label")
    ]
    ours, theirs = structure(source), structure(target)
    if ours and theirs:
        source, target = ours, theirs
    if source == target:
        return "source and target are the same"
    edit = _edit(
        source, target, (row["edit"] or "").strip(), bool(ours and theirs), int(order.thresholds["fragment"])
    )
    if isinstance(edit, str):
        return edit
    group = (row["group"] or "").strip() or _GROUP[kind](labels[0], labels[1], order.thresholds)
    if group not in (CONSISTENT, INCONSISTENT):
        raise InputError(f"row {row['row']}: group = {group!r}; allowed: {CONSISTENT}, {INCONSISTENT}")
    false = row["false_label"]
    if false is not None and false.strip():
        false = _READ[kind](false, f"row {row['row']}: false_label")
        if false == labels[0]:
            raise InputError(f"row {row['row']}: false_label = {false!r} is the source's true label")
    candidate = Candidate(source, target, record, record, edit, labels[0], labels[1], group)
    return _Row(candidate, (row["sample"] or "").strip() or None, false or None, row["class"])


def _edit(source: str, target: str, words: str, structures: bool, most_heavy: int) -> Edit | str:
    """Take the user's edit, done if it can be read; else find one."""
    if words:
        for style in descriptions.STYLES:
            edit = descriptions.read(words, style)
            if edit is not None:
                return _done(edit, source, target)
        return Edit(STATED, "", "", words)
    if structures:
        return located(source, target, most_heavy)
    before, after = formulations.read(source), formulations.read(target)
    if before is None or after is None:
        return "neither structures nor formulations, and no edit given"
    if list(before) != list(after):
        return "formulations with other kinds of components"
    changed = [kind for kind in before if before[kind] != after[kind]]
    if len(changed) != 1:
        return "formulations that differ in several components"
    return formulations.replacement(before, changed[0], after[changed[0]])


def _done(edit: Edit, source: str, target: str) -> Edit | str:
    if edit.kind == REPLACEMENT:
        return (
            edit
            if edit.mapped == source and formulations.execute(edit) == target
            else "the edit gives no target"
        )
    reason = verify(edit, source, target)
    return edit if reason is None else f"the edit, when done: {reason}"


def _binary(text: str, where: str) -> str:
    if text.strip() not in ("0", "1"):
        raise InputError(f"{where} = {text!r}; allowed: 0 and 1")
    return text.strip()


def _set(text: str, where: str) -> str:
    found = as_text(descriptors(text, {}))
    if not found:
        raise InputError(f"{where} is empty; needed: one descriptor or more, separated by semicolons")
    return found


def _reactants(text: str, where: str) -> str:
    found = reactant_set(text)
    if found is None:
        raise InputError(f"{where} = {text!r}; needed: reactants as dotted SMILES")
    return found


def _percent(text: str, where: str) -> str:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value <= 100:
        raise InputError(f"{where} = {text!r}; allowed: a number from 0 to 100")
    return text.strip()


_READ: Mapping[str, Callable[[str, str], str]] = {
    "binary": _binary, "set": _set, "reactants": _reactants, "percent": _percent,
}  # fmt: skip


def _equal(one: str, other: str, limits: Mapping[str, float]) -> str:  # noqa: ARG001
    return CONSISTENT if one == other else INCONSISTENT


def _overlap(one: str, other: str, limits: Mapping[str, float]) -> str:  # noqa: ARG001
    return CONSISTENT if set(one.split(";")) & set(other.split(";")) else INCONSISTENT


def _alike(one: str, other: str, limits: Mapping[str, float]) -> str:
    found = similarity_rows(fingerprints([one, other]))[0, 1]
    return CONSISTENT if found >= limits["consistent"] else INCONSISTENT


def _close(one: str, other: str, limits: Mapping[str, float]) -> str:
    difference = abs(Decimal(one) - Decimal(other))
    return CONSISTENT if difference <= Decimal(repr(limits["consistent_points"])) else INCONSISTENT


_GROUP: Mapping[str, Callable[[str, str, Mapping[str, float]], str]] = {
    "binary": _equal, "set": _overlap, "reactants": _alike, "percent": _close,
}  # fmt: skip


def _false_binary(rows: Sequence[_Row], order: Order) -> list[str | None]:  # noqa: ARG001
    return [inverted(one.candidate.source_label) for one in rows]


def _false_sets(rows: Sequence[_Row], order: Order) -> list[str | None]:
    found = false_sets(*sets_of([one.candidate for one in rows]), order.rng("false label"))
    return [None if one is None else as_text(one) for one in found]


def _false_reactants(rows: Sequence[_Row], order: Order) -> list[str | None]:  # noqa: ARG001
    sets = list(dict.fromkeys(one.candidate.source_label for one in rows))
    classes: dict[str, set[str | None]] = {}
    for one in rows:
        classes.setdefault(one.candidate.source_label, set()).add(one.reaction_class)
    found: list[str | None] = []
    bits = fingerprints([*sets, *(one.candidate.target_label for one in rows)])
    for place, one in enumerate(rows):
        own = sets.index(one.candidate.source_label)
        alike = similarity_rows(bits, [own, len(sets) + place])[:, : len(sets)]
        known = one.reaction_class is not None
        allowed = np.array([not known or one.reaction_class not in classes[each] for each in sets])
        at = false_reactants(alike[0], alike[1], allowed)
        found.append(None if at is None else sets[at])
    return found


def _false_percent(rows: Sequence[_Row], order: Order) -> list[str | None]:  # noqa: ARG001
    return [false_yield(one.candidate.source_label, one.candidate.target_label) for one in rows]


_FALSE: Mapping[str, Callable[[Sequence[_Row], Order], list[str | None]]] = {
    "binary": _false_binary, "set": _false_sets, "reactants": _false_reactants, "percent": _false_percent,
}  # fmt: skip


def _distinct(names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"sample = {twice[0]!r} stands in several rows; give each a name of its own")
