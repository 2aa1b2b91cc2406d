"""A table that fits its terminal: columns go from the right, never those that say what a row is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

MOST_OF_A_NAME = 32
LEAST_OF_A_NAME = 12
LEAST_OF_A_TEXT = 18
_BETWEEN = 3  # a border and a space on both sides
_EDGE = 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column of texts. ``broken``: they may go on in the next line, as numbers may not. ``words``: left-aligned."""

    header: str
    cells: Sequence[Text]
    broken: bool
    words: bool = False

    @property
    def natural(self) -> int:
        """Width at which nothing is broken."""
        lines = [Text(line) for line in self.header.split("\n")]
        return max(text.cell_len for text in (*lines, *self.cells))


@dataclass(frozen=True, slots=True)
class FittedTable:
    """Columns of which the first ``keys`` are always shown; the names of those left out stand below."""

    title: str
    columns: Sequence[Column]
    keys: int = 1
    where_else: str = field(default="")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Give the terminal what it has room for."""
        least = self._least(options.max_width)
        shown = self._room_for(options.max_width, least)
        table = Table(title=self.title, title_justify="left")
        for at, column in enumerate(self.columns[:shown]):
            table.add_column(
                column.header,
                justify="left" if column.broken or column.words else "right",
                no_wrap=not column.broken,
                overflow="fold",
                min_width=least[at],
                max_width=MOST_OF_A_NAME if at < self.keys else None,
            )
        for row in zip(*(column.cells for column in self.columns[:shown]), strict=True):
            table.add_row(*row)
        yield table
        if shown < len(self.columns):
            hidden = ", ".join(column.header.replace("\n", " ") for column in self.columns[shown:])
            yield Text(f"not shown for want of width: {hidden}{self.where_else}", style="dim")

    def _least(self, width: int) -> list[int]:
        """Return the width that each column must have; names are broken only where nothing else would be shown."""
        least = [
            min(column.natural, LEAST_OF_A_TEXT) if column.broken else column.natural
            for column in self.columns
        ]
        whole = [min(column.natural, MOST_OF_A_NAME) for column in self.columns[: self.keys]]
        beside = sum(least[self.keys : self.keys + 1])
        if sum(whole) + beside + _BETWEEN * (self.keys + 1) + _EDGE <= width:
            return whole + least[self.keys :]
        return [min(name, LEAST_OF_A_NAME) for name in whole] + least[self.keys :]

    def _room_for(self, width: int, least: list[int]) -> int:
        used, shown = _EDGE, 0
        for at, needed in enumerate(least):
            used += needed + _BETWEEN
            if used > width and at >= self.keys:
                break
            shown += 1
        return shown
