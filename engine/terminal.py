"""Tables for a terminal and a notebook. Everything from outside is text: control characters and markup are inert."""

from __future__ import annotations

import html
from collections.abc import Sequence

import polars as pl
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from .inert import inert as inert  # noqa: PLC0414 - offered from here too

STYLES = {
    "flagged": "bold red",
    "clean": "green",
    "no-signal": "yellow",
    "untestable": "dim",
}

COLOURS = {"flagged": "#f4b6b0", "clean": "#cfe8cf", "no-signal": "#f3e6b3", "untestable": "#e6e6e6"}

CELL_TABLE = (
    *("benchmark", "model", "arm", "effort", "n_usable", "m1", "m2", "m3"),
    *("R12", "floor12", "p12", "R23", "floor23", "p23", "hit3", "verdict", "evidence", "cautions"),
)
NARROW_TABLE = ("model", "m1", "m2", "m3", "R12", "p12", "R23", "p23", "verdict")
PAIRWISE_COUNTS = {"m1": "m1_2", "m2": "m2_2", "m3": "m3_3"}
"""Counts of the protocol ``blinding`` that its rates are made of, shown in place of the nested ones."""
NAME_WIDTH = 32
ONE_LINE = len("untestable 100.0%")
TWO_LINES = len("untestable")
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
    for title, part in _maps(cells):
        for table in tables_of_map(part, title, console.width):
            console.print(table)
    for table in tables_of_cells(cells, wide=console.width >= WIDE):
        console.print(table)
    left_out = table_of_left_out(cells)
    if left_out is not None:
        console.print(left_out)


def _maps(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """One map for each arm and effort."""
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
    room = width - 4 - min(NAME_WIDTH, max(len(inert(model)) for model in models))
    one_line = [max(ONE_LINE, len(inert(name))) + 3 for name in benchmarks]
    if sum(one_line) <= room:
        return [_map_rows(cells, title, benchmarks, " ")]
    words = [len(word) for name in benchmarks for word in inert(name).split() if len(word) <= NAME_WIDTH / 2]
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
    table.add_column("model", max_width=NAME_WIDTH, overflow="fold")
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
    return Text(f"{verdict}{between}{_percent(row['hit3'])}", style=STYLES.get(verdict, ""))


def tables_of_cells(cells: pl.DataFrame, *, wide: bool) -> list[Table]:
    """The cells with the columns that a verdict rests on: in one table, or one a benchmark and the cautions apart."""
    if wide:
        wanted = _with_own_counts(cells, CELL_TABLE)
        shown = [name for name in wanted if cells[name].null_count() < cells.height]
        return [_cell_rows(cells, shown, "Cells")]
    parts = cells.partition_by("benchmark", "arm", "effort", maintain_order=True)
    narrow = _with_own_counts(cells, NARROW_TABLE)
    tables = []
    for part in parts:
        names = [part[name][0] for name in ("benchmark", "arm", "effort")]
        tables.append(
            _cell_rows(part, narrow, "Cells: " + inert(", ".join(n for n in names if n is not None)))
        )
    # That accuracy alone explains an R12 which nobody flags goes without saying; the tables on disk say it.
    needless = (pl.col("verdict") != "flagged") & (pl.col("cautions") == "skill")
    cautioned = cells.filter((pl.col("cautions") != "") & ~needless)
    if cautioned.height:
        tables.append(_cell_rows(cautioned, ("benchmark", "model", "cautions"), "Cautions"))
    return tables


def _with_own_counts(cells: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Name the counts that the rates beside them are made of."""
    if PAIRWISE_COUNTS["m1"] not in cells.columns:
        return list(names)
    own = [PAIRWISE_COUNTS.get(name, name) for name in names]
    own.insert(own.index("m3_3"), "m2_3")
    return own


def _cell_rows(cells: pl.DataFrame, shown: Sequence[str], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for name in shown:
        numeric = cells[name].dtype.is_numeric()
        table.add_column(
            name,
            justify="right" if numeric else "left",
            no_wrap=numeric or name == "verdict",
            max_width=NAME_WIDTH if name in ("benchmark", "model") else None,
            overflow="fold",
        )
    for row in cells.select(shown).iter_rows(named=True):
        table.add_row(*(_cell_text(name, value) for name, value in row.items()))
    return table


def _cell_text(name: str, value: object) -> Text:
    if value is None:
        return Text("-", style="dim")
    if name == "verdict":
        return Text(str(value), style=STYLES.get(str(value), ""))
    if isinstance(value, float):
        # The smallest double is 5e-324, so a p of 0 is one: the floor is 0.
        return Text(f"{value:.1e}" if name.startswith("p") and 0 < value < 1e-3 else f"{value:.3f}")
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


def plain_table(frame: pl.DataFrame, title: str) -> Table:
    """Any table as it is, numbers to four figures."""
    table = Table(title=title, title_justify="left")
    for name in frame.columns:
        numeric = frame[name].dtype.is_numeric()
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(_plain_text(value) for value in row))
    return table


def _plain_text(value: object) -> Text:
    if value is None:
        return Text("-", style="dim")
    return Text(f"{value:.4g}" if isinstance(value, float) else inert(value))


def table_of_left_out(cells: pl.DataFrame) -> Table | None:
    """How many answers did not count, by reason; None where all did."""
    columns = [name for name in cells.columns if name.startswith("left_out_")]
    totals = {name: int(cells[name].sum()) for name in columns}
    if not any(totals.values()):
        return None
    table = Table(title="Left out", title_justify="left")
    table.add_column("reason")
    table.add_column("answers", justify="right")
    table.add_column("meaning")
    for name, count in totals.items():
        if count:
            reason = name.removeprefix("left_out_")
            table.add_row(reason, str(count), MEANINGS.get(reason, ""))
    return table


MEANINGS = {
    "unmatched": "no label for this molecule, by id or by structure",
    "conflict": "the molecule has several different labels",
    "not_asked": "not asked yet, or waiting to be asked again",
    "failed": "the call failed: no reply, or none that could be read",
    "filtered": "the provider's filter cut the reply",
    "recitation": "the provider's filter saw a recitation",
    "empty": "no text, or a missing prediction",
    "refusal": "the model declined",
    "truncated": "the reply was cut before an answer",
    "range": "a range, not a value",
    "bound": "a bound, not a value",
    "uncertain": "a value with its own uncertainty",
    "ambiguous": "several readings, such as a decimal comma",
    "no_number": "no number that is an answer",
    "later_sample": "another sample of the molecule counts",
    "label_zero": "the label is zero and carries no figures",
    "label_short": "the label carries fewer than three figures",
    "answer_short": "the answer carries fewer figures than required",
}


def map_html(cells: pl.DataFrame) -> str:
    """Return the map as an HTML table; every text from outside is escaped."""
    parts = []
    for title, part in _maps(cells):
        benchmarks = part["benchmark"].unique(maintain_order=True).to_list()
        rows = {(row["model"], row["benchmark"]): row for row in part.iter_rows(named=True)}
        head = "".join(f"<th>{_html(name)}</th>" for name in benchmarks)
        body = []
        for model in part["model"].unique(maintain_order=True).to_list():
            tds = [_td(rows.get((model, name))) for name in benchmarks]
            body.append(f"<tr><th>{_html(model)}</th>{''.join(tds)}</tr>")
        parts.append(
            f"<table><caption>{_html(title)}</caption><thead><tr><th>model</th>{head}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table>"
        )
    return "".join(parts)


def _td(row: dict[str, object] | None) -> str:
    if row is None:
        return "<td>-</td>"
    verdict = str(row["verdict"])
    colour = COLOURS.get(verdict, "none")
    caution = f' title="{_html(row["cautions"])}"' if row["cautions"] else ""
    return (
        f'<td style="background:{colour};color:#111"{caution}>{_html(verdict)} {_percent(row["hit3"])}</td>'
    )


def _html(value: object) -> str:
    return html.escape(inert(value))


def _percent(value: object) -> str:
    return f"{value:.1%}" if isinstance(value, float) else "-"
