"""``columns.md``: every column of every table that a scoring or a run writes."""

from __future__ import annotations

from collections.abc import Iterable

from ..audit import attempt_columns
from ..seams.columns import Column, Type
from ..statistics import STATISTICS, Statistic
from ..studies import floors_table, joins, pair_table
from ..studies.counting import INDEX
from ._markdown import GENERATED, capital, table

_TYPES = {"String": "text", "Boolean": "true or false"}

_INTRODUCTION = """\
# Every column

What the tables of `molaudit score` and `molaudit run` hold. An empty field is a value that does not exist or is not
known, never zero. `number` is a 64-bit float, `whole number` an integer; shares lie between 0 and 1. Figures are
significant digits, counted from the first that is not zero. A usable answer is one
number, to a label with three figures. The sections of `cells.csv` are its statistics, each a file of
`engine/statistics`.
"""


def columns_page() -> str:
    """The page."""
    shown = sorted(STATISTICS, key=lambda one: (one.order, one.name))
    cells = [one for one in shown if one.input != "runs" and one.columns]
    parts = [
        GENERATED + "\n" + _INTRODUCTION,
        "## `cells.csv`, `cells.parquet`\n\nOne row a cell: what was asked of one model under one arm at one effort "
        "about one benchmark.\n\n" + _table(INDEX),
        *(_statistic(one) for one in cells),
        "## `pairs.parquet`\n\nOne row an answer.\n\n" + _table(pair_table.COLUMNS),
        "## `floors.csv`\n\nOne row a benchmark; every floor is empty below 20 labels with three figures.\n\n"
        + _table(floors_table.COLUMNS),
        "## `joins.csv`\n\nHow the answers met the labels: one row a benchmark, model and file of answers.\n\n"
        + _table(joins.COLUMNS),
        "## `attempts.parquet`\n\nOf a run: one row an attempt at a call.\n\n"
        + _table(attempt_columns.COLUMNS),
        *(_run_table(one) for one in shown if one.input == "runs"),
    ]
    return "\n".join(parts)


def _statistic(one: Statistic) -> str:
    when = f" Only with {one.when}." if one.when else ""
    return f"### `{one.name}`\n\n{capital(one.meaning)}.{when}\n\n{_table(one.columns)}"


def _run_table(one: Statistic) -> str:
    return f"## `{one.name}.csv`\n\n{capital(one.meaning)}.\n\n{_table(one.columns)}"


def _table(columns: Iterable[Column]) -> str:
    rows = ((f"`{column.name}`", type_name(column.type), column.meaning) for column in columns)
    return table(("column", "type", "meaning"), rows)


def type_name(type_: Type) -> str:
    """The word for a polars type."""
    name = str(type_() if isinstance(type_, type) else type_)
    if name.startswith("Float"):
        return "number"
    return "whole number" if name.startswith(("Int", "UInt")) else _TYPES.get(name, name)
