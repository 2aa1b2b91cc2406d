"""Compute the registered statistics, and hold them to what they say of themselves."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from ..errors import SettingsError
from ..seams.columns import schema
from ..studies.settings import ScoreSettings
from ._registry import cell_columns, ordered
from ._statistic import Given, Statistic


def compute(given: Given) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """Compute every statistic that the settings ask for.

    Parameters
    ----------
    given
        ``cells`` are the index of the cells (`molaudit.engine.studies.counting.cell_index`).

    Returns
    -------
    The cells with all columns, inner ones too; and the tables of whole runs, by name.

    Raises
    ------
    SettingsError
        A statistic does not give what it says; the message names it.
    """
    cells, tables = given.cells, {}
    index = cells.columns
    for one in ordered(given.settings):
        if one.input == "runs":
            tables[one.name] = checked(one, one.compute(replace(given, cells=cells)))
            continue
        own = cells.select(
            *index, *(name for name in one.needs if name in cells.columns and name not in index)
        )
        met = given.met if one.input == "pairs" else None
        found = checked(one, one.compute(replace(given, cells=own, met=met)))
        if found.height != cells.height:
            raise SettingsError(
                f"statistic {one.name!r}: gave {found.height} rows; allowed: one for each of {cells.height} cells"
            )
        cells = cells.hstack(found)
    return cells, tables


def shown(cells: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    """The columns that ``cells.csv`` has, in order."""
    return cells.select(column.name for column in cell_columns(settings))


def checked(one: Statistic, found: pl.DataFrame) -> pl.DataFrame:
    """The columns as they are stated, in that order; another set of them, or another type, is an error."""
    stated = schema((*one.columns, *one.inner))
    if set(found.columns) != set(stated):
        raise SettingsError(
            f"statistic {one.name!r}: gave the columns {', '.join(found.columns)}; it states {', '.join(stated)}"
        )
    for name, type_ in stated.items():
        if found.schema[name] != type_:
            raise SettingsError(
                f"statistic {one.name!r}: column {name!r} has the type {found.schema[name]}; it states {type_}"
            )
    return found.select(*stated)
