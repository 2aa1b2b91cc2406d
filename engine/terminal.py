"""Tables for a terminal and a notebook. Everything from outside is text: control characters and markup are inert."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence

import polars as pl
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

STYLES = {
    "flagged": "bold red",
    "clean": "green",
    "no-signal": "yellow",
    "untestable": "dim",
}

COLOURS = {"flagged": "#f4b6b0", "clean": "#cfe8cf", "no-signal": "#f3e6b3", "untestable": "#e6e6e6"}

CELL_TABLE = (
    *("benchmark", "model", "condition", "effort", "n_usable", "m1", "m2", "m3"),
    *("R12", "floor12", "p12", "R23", "floor23", "p23", "hit3", "verdict", "evidence", "cautions"),
)
NARROW_TABLE = ("model", "m1", "m2", "m3", "R12", "p12", "R23", "p23", "verdict")
WIDE = 150
"""Columns of a terminal from which on the whole cell table is readable."""


def inert(value: object) -> str:
    """Return text with control and format characters shown as escapes, so that it cannot drive a terminal."""
    return "".join(
        letter if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else repr(letter)[1:-1]
        for letter in str(value)
    )


def show_scores(console: Console, cells: pl.DataFrame, notes: tuple[str, ...]) -> None:
    """Print the map, the cells, what was left out and the notes."""
    for title, part in _maps(cells):
        console.print(table_of_map(part, title))
    for table in tables_of_cells(cells, wide=console.width >= WIDE):
        console.print(table)
    left_out = table_of_left_out(cells)
    if left_out is not None:
        console.print(left_out)
    for note in notes:
        console.print(Text(f"note: {inert(note)}", style="yellow"))


def _maps(cells: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """One map for each condition and effort."""
    parts = cells.partition_by("condition", "effort", maintain_order=True)
    titles = []
    for part in parts:
        named = [inert(part[name][0]) for name in ("condition", "effort") if part[name][0] is not None]
        titles.append("Contamination map" + (f" ({', '.join(named)})" if named else ""))
    return list(zip(titles, parts, strict=True))


def table_of_map(cells: pl.DataFrame, title: str) -> Table:
    """Models x benchmarks: verdict and the share right to three figures."""
    benchmarks = cells["benchmark"].unique(maintain_order=True).to_list()
    table = Table(title=title, title_justify="left")
    table.add_column("model")
    for name in benchmarks:
        table.add_column(Text(inert(name)), justify="center")
    rows = {(row["model"], row["benchmark"]): row for row in cells.iter_rows(named=True)}
    for model in cells["model"].unique(maintain_order=True).to_list():
        shown: list[RenderableType] = [Text(inert(model))]
        for name in benchmarks:
            row = rows.get((model, name))
            shown.append(Text("-") if row is None else _verdict_text(row))
        table.add_row(*shown)
    return table


def _verdict_text(row: dict[str, object]) -> Text:
    verdict = str(row["verdict"])
    return Text(f"{verdict} {_percent(row['hit3'])}", style=STYLES.get(verdict, ""))


def tables_of_cells(cells: pl.DataFrame, *, wide: bool) -> list[Table]:
    """The cells with the columns that a verdict rests on: in one table, or one a benchmark and the cautions apart."""
    if wide:
        shown = [name for name in CELL_TABLE if cells[name].null_count() < cells.height]
        return [_cell_rows(cells, shown, "Cells")]
    parts = cells.partition_by("benchmark", "condition", "effort", maintain_order=True)
    tables = []
    for part in parts:
        names = [part[name][0] for name in ("benchmark", "condition", "effort")]
        tables.append(
            _cell_rows(part, NARROW_TABLE, "Cells: " + inert(", ".join(n for n in names if n is not None)))
        )
    cautioned = cells.filter(pl.col("cautions") != "")
    if cautioned.height:
        tables.append(_cell_rows(cautioned, ("benchmark", "model", "cautions"), "Cautions"))
    return tables


def _cell_rows(cells: pl.DataFrame, shown: Sequence[str], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for name in shown:
        numeric = cells[name].dtype.is_numeric()
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric or name == "verdict")
    for row in cells.select(shown).iter_rows(named=True):
        table.add_row(*(_cell_text(name, value) for name, value in row.items()))
    return table


def _cell_text(name: str, value: object) -> Text:
    if value is None:
        return Text("-", style="dim")
    if name == "verdict":
        return Text(str(value), style=STYLES.get(str(value), ""))
    if isinstance(value, float):
        return Text(f"{value:.1e}" if name.startswith("p") and value < 1e-3 else f"{value:.3f}")
    return Text(inert(value))


def table_of_verdicts(judged: pl.DataFrame) -> Table:
    """How many cells of each family got which verdict."""
    family = "family" if "family" in judged.columns else "arm"
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
        table.add_column(name, justify="right" if frame[name].dtype.is_numeric() else "left")
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
    "not_asked": "the run ended before this call was made",
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
