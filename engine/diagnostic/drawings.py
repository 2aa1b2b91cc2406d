"""A drawing for every sample of a pairs table."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from ..molecules.drawings import component_drawing, drawing
from ..molecules.edits import REPLACEMENT, STATED, Edit
from . import formulations

_ODD = re.compile(r"[^\w.+-]", re.ASCII)


def drawings(pairs: pl.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Yield task, name of the file and SVG for every sample that can be drawn."""
    taken: set[tuple[str, str]] = set()
    for row in pairs.iter_rows(named=True):
        edit = edit_of(row)
        picture = None
        if edit.kind == REPLACEMENT:
            kind, before = formulations.named(edit.removed)
            picture = component_drawing(before.smiles, formulations.named(edit.added)[1].smiles, kind)
        elif edit.kind != STATED:
            picture = drawing(edit)
        if picture is not None:
            stem = _ODD.sub("_", row["sample"])[:120] or "_"
            name, more = stem, 1
            while (row["task"], name.casefold()) in taken:
                more += 1
                name = f"{stem}-{more}"
            taken.add((row["task"], name.casefold()))
            yield row["task"], f"{name}.svg", picture


def edit_of(row: dict[str, str | None]) -> Edit:
    """The edit of a row of a pairs table."""
    return Edit(
        kind=row["edit"] or "",
        mapped=row["edit_mapped"] or "",
        removed=row["edit_removed"] or "",
        added=row["edit_added"] or "",
        core=row["edit_core"] or "",
    )
