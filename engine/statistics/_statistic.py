"""What a statistic is: what it takes, the columns that it gives, and how they are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from ..seams.columns import Column
from ..studies.pairs import Pairs
from ..studies.settings import ScoreSettings

Input: TypeAlias = Literal["pairs", "cells", "runs"]

LAST = 1_000
"""Place of a statistic that states none: after those that come with the program."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a statistic is computed from.

    Attributes
    ----------
    cells
        One row a cell, in order of ``cell`` of the answers: ``benchmark, model, condition, effort, arm``, the
        ``family`` that it is tested with, and what the statistic needs. A statistic of whole runs is given every
        column.
    floors
        One row a benchmark: `molaudit.engine.studies.floors_table.COLUMNS`.
    settings
        How is scored.
    notes
        What a reader must know is added here.
    """

    cells: pl.DataFrame
    floors: pl.DataFrame
    settings: ScoreSettings
    notes: list[str]
    met: Pairs | None

    @property
    def pairs(self) -> Pairs:
        """The answers that have met their labels."""
        if self.met is None:
            raise LookupError("a statistic with input='cells' is given no answers; state input='pairs'")
        return self.met


def always(_settings: ScoreSettings) -> bool:
    """A statistic that every scoring has."""
    return True


@dataclass(frozen=True, slots=True)
class Statistic:
    """Columns of the cells, or a table of a whole run.

    Attributes
    ----------
    name
        That of its file.
    meaning
        One line for people.
    input
        ``pairs``: computed from the answers that met labels, and other columns of the cells. ``cells``: from other
        columns of the cells alone. ``runs``: from all that a scoring has, when every cell is complete; it gives a
        table of its own, ``NAME.csv``, of any number of rows.
    columns
        What it gives. Those of ``pairs`` and ``cells`` stand in ``cells.csv``, one row a cell.
    compute
        Gives the columns and the inner ones, no other, of the stated types; else the scoring stops.
    needs
        Columns of other statistics that it is computed from; those that the settings leave out are absent.
    inner
        Columns that it gives to other statistics and that no table shows.
    order
        Place of its columns among those of the others.
    asked, when
        Whether the settings ask for it, and that in words.
    """

    name: str
    meaning: str
    input: Input
    columns: tuple[Column, ...]
    compute: Callable[[Given], pl.DataFrame]
    needs: tuple[str, ...] = ()
    inner: tuple[Column, ...] = ()
    order: int = LAST
    asked: Callable[[ScoreSettings], bool] = always
    when: str = ""
