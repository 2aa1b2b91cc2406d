"""The retrieval audit: from answers and labels to the judged cells (METHOD 1.1 to 1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from ..statistics import Given
from ..statistics._running import compute, shown
from .counting import cell_index
from .floors_table import floors_table
from .pair_table import pair_table
from .pairs import pair
from .settings import ScoreSettings
from .verdicts import operating_levels


@dataclass(frozen=True, slots=True)
class Scored:
    """``cells``: one row a cell. ``pairs``: one row an answer. ``floors``: one row a benchmark.

    ``joins``: how the answers met the labels. ``operating_level``: the largest p called, by family. ``tables``: of
    statistics of whole runs, by their name.
    """

    cells: pl.DataFrame
    pairs: pl.DataFrame
    floors: pl.DataFrame
    notes: tuple[str, ...]
    operating_level: Mapping[str, float]
    joins: pl.DataFrame
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


def score_frames(answers: pl.DataFrame, labels: pl.DataFrame, settings: ScoreSettings) -> Scored:
    """Score answers against labels by every statistic of `molaudit.engine.statistics`.

    Parameters
    ----------
    answers, labels
        Frames of `molaudit.storage.tables.imports`.
    settings
        How to score.

    Raises
    ------
    InputError
        Nothing can be compared; the message names the file and the way on.
    SettingsError
        A statistic is not what it says of itself.
    """
    met = pair(answers, labels, settings)
    index = cell_index(met.frame)
    asked = index["benchmark"].unique(maintain_order=True).to_list()
    known = met.labels["benchmark"].unique().to_list()
    floors = floors_table(
        met.labels,
        repeats=settings.repeats,
        seed=settings.seed,
        only=[name for name in asked if name in known],
    )
    notes = list(met.notes)
    given = Given(index, floors, settings, notes, met)
    cells, tables = compute(given)
    return Scored(
        cells=shown(cells, settings),
        pairs=pair_table(met),
        floors=floors,
        notes=tuple(notes),
        operating_level=operating_levels(cells, settings.alpha),
        joins=met.joins,
        tables=tables,
    )
