"""Tables for a terminal. Everything from outside is text: control characters and markup are inert."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ..studies.reasons import REASONS
from .fitted import LEAST_OF_A_NAME, MOST_OF_A_NAME, Column, FittedTable
from .inert import inert as inert  # noqa: PLC0414 - offered from here too

STYLES = {
    "flagged": "bold red",
    "clean": "green",
    "no-signal": "yellow",
    "untestable": "dim",
}

CELL_TABLE = (
    *("benchmark", "model", "arm", "effort", "verdict", "stands", "exact", "off_by_one", "hit3"),
    *("p12", "p23", "p_core", "p_near", "n_usable", "m1", "m2", "m3"),
    *("R12", "floor12", "R23", "floor23", "evidence"),
)
NARROW_TABLE = (
    *("model", "verdict", "stands", "exact", "off_by_one", "p12", "p23", "m1", "m2", "m3"),
    *("R12", "R23"),
)
HEADERS = {"off_by_one": "off by\none"}
STANDING = {True: "stands", False: "doubtful"}
"""What is said of a flag that survives the honest explanations, and of one that does not."""

PAIRWISE_COUNTS = {"m1": "m1_2", "m2": "m2_2", "m3": "m3_3"}
"""Counts of the protocol ``blinding`` that its rates are made of, shown in place of the nested ones."""
ONE_LINE = len("flagged 100.0% doubtful")
TWO_LINES = len("100.0% doubtful")
LEAST_P = 1e-300
"""Tails are exact down to here; what is smaller may have become 0."""

WIDE = 150
"""Columns of a terminal from which on the widest tables are readable."""


def tell(console: Console, text: str, style: str = "") -> None:
    """Print one line; a pipe gets it unbroken."""
    console.print(Text(inert(text), style=style), soft_wrap=True)


def say(console: Console, note: str) -> None:
    """Print what a reader must know about the input."""
    tell(console, f"note: {note}", "yellow")


def counted(number: int, what: str) -> str:
    """Return "1 cell", "2 cells"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def show_scores(console: Console, cells: pl.DataFrame, notes: tuple[str, ...]) -> None:
    """Print the map, the cells, what was left out and the notes. A run without benchmarks has no cells."""
    if cells.width:
        _show_cells(console, cells)
    for note in notes:
        say(console, note)


def _show_cells(console: Console, cells: pl.DataFrame) -> None:
    for title, part in maps(cells):
        console.print(*tables_of_map(part, title, console.width), sep="\n")
    console.print(*tables_of_cells(cells, wide=console.width >= WIDE), sep="\n")
    left_out = table_of_left_out(cells)
    if left_out is not None:
        console.print(left_out)


def maps(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return one map for each arm and effort, with its title."""
    parts = cells.partition_by("arm", "effort", maintain_order=True)
    titles = []
    for part in parts:
        named = [inert(part[name][0]) for name in ("arm", "effort") if part[name][0] is not None]
        titles.append("Contamination map" + (f" ({', '.join(named)})" if named else ""))
    return list(zip(titles, parts, strict=True))


def tables_of_map(cells: pl.DataFrame, title: str, width: int) -> list[Table]:
    """Models x benchmarks: verdict and the share right to three figures; several tables where one is too wide.

    A table that the terminal has no room for would cut the names of models until they are all alike.
    """
    benchmarks = cells["benchmark"].unique(maintain_order=True).to_list()
    models = cells["model"].unique(maintain_order=True).to_list()
    room = width - 4 - min(MOST_OF_A_NAME, max(len(inert(model)) for model in models))
    one_line = [max(ONE_LINE, len(inert(name))) + 3 for name in benchmarks]
    if sum(one_line) <= room:
        return [_map_rows(cells, title, benchmarks, " ")]
    words = [
        len(word) for name in benchmarks for word in inert(name).split() if len(word) <= MOST_OF_A_NAME / 2
    ]
    each = max(1, room // (max(TWO_LINES, *words, 0) + 3))
    parts = [benchmarks[start : start + each] for start in range(0, len(benchmarks), each)]
    if len(parts) == 1:
        return [_map_rows(cells, title, benchmarks, "\n")]
    return [
        _map_rows(cells, f"{title}, part {number} of {len(parts)}", part, "\n")
        for number, part in enumerate(parts, 1)
    ]


def _map_rows(cells: pl.DataFrame, title: str, benchmarks: list[str], between: str) -> Table:
    table = Table(title=title, title_justify="left")
    longest = max(len(inert(model)) for model in cells["model"].to_list())
    table.add_column(
        "model", min_width=min(longest, LEAST_OF_A_NAME), max_width=MOST_OF_A_NAME, overflow="fold"
    )
    for name in benchmarks:
        table.add_column(Text(inert(name), overflow="fold"), justify="center", min_width=TWO_LINES)
    rows = {(row["model"], row["benchmark"]): row for row in cells.iter_rows(named=True)}
    for model in cells["model"].unique(maintain_order=True).to_list():
        shown: list[RenderableType] = [Text(inert(model), overflow="fold")]
        for name in benchmarks:
            row = rows.get((model, name))
            shown.append(Text("-") if row is None else _verdict_text(row, between))
        table.add_row(*shown)
    return table


def _verdict_text(row: dict[str, object], between: str) -> Text:
    verdict = str(row["verdict"])
    share = " ".join(part for part in (percent(row["hit3"]), standing(row)) if part)
    return Text(f"{verdict}{between}{share}", style=STYLES.get(verdict, ""))


def standing(row: dict[str, object]) -> str:
    """Say whether a flag stands; nothing of what is not flagged."""
    stands = row["stands"]
    return STANDING[stands] if isinstance(stands, bool) else ""


def tables_of_cells(cells: pl.DataFrame, *, wide: bool) -> list[FittedTable]:
    """The cells with the columns that a verdict rests on, in one table or one a benchmark, and their cautions."""
    if wide:
        wanted = _with_own_counts(cells, CELL_TABLE)
        shown = [name for name in wanted if cells[name].null_count() < cells.height]
        return [_cell_rows(cells, shown, "Cells", 2), *_cautions(cells)]
    parts = cells.partition_by("benchmark", "arm", "effort", maintain_order=True)
    narrow = _with_own_counts(cells, NARROW_TABLE)
    tables = []
    for part in parts:
        names = [part[name][0] for name in ("benchmark", "arm", "effort")]
        tables.append(
            _cell_rows(part, narrow, "Cells: " + inert(", ".join(n for n in names if n is not None)), 1)
        )
    return tables + _cautions(cells)


def _cautions(cells: pl.DataFrame) -> list[FittedTable]:
    cautioned = cells.filter(pl.col("cautions") != "")
    return (
        [_cell_rows(cautioned, ("benchmark", "model", "cautions"), "Cautions", 2)] if cautioned.height else []
    )


def _with_own_counts(cells: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Name the counts that the rates beside them are made of."""
    if PAIRWISE_COUNTS["m1"] not in cells.columns:
        return list(names)
    own = [PAIRWISE_COUNTS.get(name, name) for name in names]
    own.insert(own.index("m3_3"), "m2_3")
    return own


def _cell_rows(cells: pl.DataFrame, shown: Sequence[str], title: str, keys: int) -> FittedTable:
    columns = []
    for name in shown:
        numeric, word = cells[name].dtype.is_numeric(), name in ("verdict", "stands")
        texts = [_cell_text(name, value) for value in cells[name].to_list()]
        columns.append(Column(HEADERS.get(name, name), texts, broken=not numeric and not word, words=word))
    return FittedTable(title, columns, keys, " (all are in cells.csv)")


def _cell_text(name: str, value: object) -> Text:
    if value is None:
        return Text("-", style="dim")
    if name == "verdict":
        return Text(str(value), style=STYLES.get(str(value), ""))
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, float):
        if name.startswith("p") and value < LEAST_P:
            return Text(f"<{LEAST_P:.0e}")
        return Text(f"{value:.1e}" if name.startswith("p") and value < 1e-3 else f"{value:.3f}")
    return Text(inert(value), overflow="fold")


def table_of_verdicts(judged: pl.DataFrame) -> Table:
    """How many cells of each family got which verdict."""
    family = next((name for name in ("family", "arm") if name in judged.columns), "condition, effort")
    if family not in judged.columns:
        parts = [pl.col(name).fill_null("-") for name in ("condition", "effort") if name in judged.columns]
        judged = judged.with_columns(pl.concat_str(parts, separator=", ").alias(family))
    counts = judged.group_by(family, "verdict", maintain_order=True).len()
    table = Table(title="Verdicts", title_justify="left")
    for name in (family, *STYLES, "cells"):
        table.add_column(name, justify="left" if name == family else "right")
    for group in counts[family].unique(maintain_order=True).to_list():
        part = dict(counts.filter(pl.col(family).eq_missing(group)).select("verdict", "len").iter_rows())
        shown = [Text(str(part.get(name, 0)), style=style) for name, style in STYLES.items()]
        table.add_row(Text(inert(group)), *shown, str(sum(part.values())))
    return table


def plain_table(frame: pl.DataFrame, title: str) -> FittedTable:
    """Any table as it is, numbers to four figures; the first column says what a row is about."""
    columns = [
        Column(
            inert(name),
            [_plain_text(value) for value in frame[name].to_list()],
            broken=not frame[name].dtype.is_numeric(),
        )
        for name in frame.columns
    ]
    return FittedTable(title, columns)


def _plain_text(value: object) -> Text:
    if value is None:
        return Text("-", style="dim")
    return Text(f"{value:.4g}" if isinstance(value, float) else inert(value))


def table_of_left_out(cells: pl.DataFrame) -> FittedTable | None:
    """How many answers did not count, by reason; None where all did."""
    columns = [name for name in cells.columns if name.startswith("left_out_")]
    totals = {name: int(cells[name].sum()) for name in columns}
    if not any(totals.values()):
        return None
    found = [(name.removeprefix("left_out_"), count) for name, count in totals.items() if count]
    return FittedTable(
        "Left out",
        [
            Column("reason", [Text(reason) for reason, _ in found], broken=True),
            Column("answers", [Text(str(count)) for _, count in found], broken=False),
            Column("meaning", [Text(REASONS.get(reason, "")) for reason, _ in found], broken=True),
        ],
    )


def percent(value: object) -> str:
    """Write a share, "-" where there is none."""
    return f"{value:.1%}" if isinstance(value, float) else "-"
