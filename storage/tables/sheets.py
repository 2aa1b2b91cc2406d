"""Spreadsheets as text: what a cell holds as text stays as it was written; a number is a float and says no more.

A sheet stores 2.50 as the number 2.5, and how many decimals it shows is a matter of format. Only cells of text keep
their zeros, so how many of the wanted cells were numbers is noted.
"""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import polars as pl

from ..errors import TableError
from .columns import Columns, Parsed, choose, shown
from .text_columns import float_text, text_series

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

    Cell = int | float | str | bool | time | date | datetime | timedelta

SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods")


def read(data: bytes, wanted: Columns, source: str) -> Parsed:
    """Read the first sheet of a workbook that holds anything; its first row that is not empty names the columns.

    Raises
    ------
    TableError
        The bytes are no workbook, it is empty, a wanted cell is no text or number, or wanted columns are missing.
    """
    name, cells, notes = _first_sheet(_opened(data, source), source)
    filled = [(row, values) for row, values in enumerate(cells, 1) if any(_given(value) for value in values)]
    (_, header), body = filled[0], filled[1:]
    names = [str(_text(value) or "") for value in header]
    while names and not names[-1].strip():
        names.pop()
    found = choose(names, wanted, source)
    chosen = {}
    for column, at in found.positions.items():
        place = f"{source}, sheet {name!r}, row {{row}}, column '{column}'"
        chosen[column] = text_series(column, (_checked(values[at], place, row) for row, values in body))
        numbers = sum(
            isinstance(values[at], float) and not isinstance(values[at], bool) for _, values in body
        )
        if numbers and column in ("label", "prediction"):
            notes.append(
                f"{source}, sheet {name!r}, column '{column}': {numbers} of {len(body)} cells are numbers and not "
                "text; a number does not keep zeros written at its end (2.50)."
            )
    given = None
    if wanted.everything:
        given = pl.DataFrame(
            [text_series(each, (_text(values[at]) for _, values in body)) for at, each in enumerate(names)]
        )
    rows = pl.Series("row", [row for row, _ in body], dtype=pl.Int64)
    blank = (body[-1][0] if body else filled[0][0]) - filled[0][0] - len(body)
    return Parsed(found, chosen, given, rows, blank, notes)


def _opened(data: bytes, source: str) -> CalamineWorkbook:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError:
        raise TableError(f"{source}: the workbook is locked by a password. Save it without one.") from None
    except (CalamineError, OSError, ValueError) as error:
        raise TableError(f"{source}: not a readable spreadsheet ({error}).") from None


def _first_sheet(book: CalamineWorkbook, source: str) -> tuple[str, list[list[Cell]], list[str]]:
    from python_calamine import CalamineError

    filled: list[tuple[str, list[list[Cell]]]] = []
    for name in book.sheet_names:
        try:
            cells = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        except (CalamineError, OSError, ValueError) as error:
            raise TableError(f"{source}, sheet {name!r}: cannot be read ({error}).") from None
        if any(_given(value) for values in cells for value in values):
            filled.append((name, cells))
    if not filled:
        raise TableError(
            f"{source}: the workbook is empty. Expected a row of column names and rows below it."
        )
    others = [name for name, _ in filled[1:]]
    notes = [f"{source}: sheet {filled[0][0]!r} is read; not read: {shown(others)}."] if others else []
    return *filled[0], notes


def _given(value: Cell) -> bool:
    return value.strip() != "" if isinstance(value, str) else True


def _text(value: Cell) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return str(value) if value != "" else None


def _checked(value: Cell, place: str, row: int) -> str | None:
    if isinstance(value, str | int | float):
        return _text(value)
    raise TableError(
        f"{place.format(row=row)}: found a {type(value).__name__} ({value}). Allowed: text, a number. "
        "A spreadsheet may have turned a number into a date: format the column as text and write it again."
    )
