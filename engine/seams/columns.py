"""What a column of a table is: the one place from which code and documentation take its name, type and meaning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

Type: TypeAlias = "pl.DataType | type[pl.DataType]"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its polars type, and what a value says, in one line for people."""

    name: str
    type: Type
    meaning: str


def schema(columns: Iterable[Column]) -> dict[str, Type]:
    """The columns as a schema of polars."""
    return {column.name: column.type for column in columns}


def typed(type_: Type, **meanings: str) -> tuple[Column, ...]:
    """Columns of one type, by name."""
    return tuple(Column(name, type_, meaning) for name, meaning in meanings.items())
