"""Samples as the rows of the pairs table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from ..molecules.edits import STATED
from .building import Candidate, Funnel, Order, TaskPairs
from .columns import SCHEMA
from .descriptions import describe
from .draws import clusters

NO_FALSE_LABEL = "drawn_without_false_label"


def finished(
    kind: str,
    order: Order,
    drawn: Sequence[Candidate],
    false_labels: Sequence[str | None],
    funnel: Funnel,
    notes: Sequence[str] = (),
    *,
    shown: Callable[[str], str] = str,
    names: Sequence[str] | None = None,
) -> TaskPairs:
    """Number, describe and lay out the drawn samples; the last steps of the funnel are theirs.

    ``shown`` turns a source's label into what C2 shows; ``names`` are samples' names, where a user gave them.
    """
    style = f"{kind}/1"
    numbers = clusters(drawn)
    rows = []
    for place, (one, cluster, false) in enumerate(zip(drawn, numbers, false_labels, strict=True)):
        own = f"{order.name}-{one.source_record}-{one.target_record}"
        rows.append(
            {
                "task": order.name,
                "kind": kind,
                "sample": own if names is None else names[place],
                "cluster": cluster,
                "group": one.group or None,
                "source": one.source,
                "target": one.target,
                "source_record": one.source_record,
                "target_record": one.target_record,
                "similarity": one.similarity,
                "edit": one.edit.kind,
                "edit_mapped": one.edit.mapped or None,
                "edit_removed": one.edit.removed or None,
                "edit_added": one.edit.added or None,
                "edit_core": one.edit.core or None,
                "verified": one.edit.kind != STATED,
                "description": describe(one.edit, style),
                "description_style": style if one.edit.kind != STATED else None,
                "source_label": one.source_label,
                "target_label": one.target_label,
                "false_label": false,
                "source_label_shown": shown(one.source_label),
            }
        )
    funnel.count("drawn", len(rows))
    funnel.count(NO_FALSE_LABEL, sum(false is None for false in false_labels))
    steps = pl.DataFrame(
        {
            "task": [order.name] * len(funnel.steps),
            "step": list(funnel.steps),
            "count": pl.Series(list(funnel.steps.values()), dtype=pl.Int64),
        }
    )
    return TaskPairs(pl.DataFrame(rows, schema=SCHEMA), steps, tuple(notes))
