"""Published labels: one row a molecule and benchmark, the value as text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import TableError
from . import reading as tables
from .checks import (
    DECIMAL_COMMA,
    drop,
    identify,
    number,
    plain_number,
    reject,
    rows_named,
    stripped,
    without_invisible,
)

COLUMNS = tables.Columns(
    required=("label",),
    one_of=(("molecule", "smiles"),),
    optional=("benchmark", "kind", "unit", "uncertainty"),
)
SCHEMA = {
    "file": pl.String,
    "row": pl.Int64,
    "benchmark": pl.String,
    "molecule": pl.String,
    "smiles": pl.String,
    "label": pl.String,
    "kind": pl.String,
    "unit": pl.String,
    "uncertainty": pl.Float64,
    "conflict": pl.Boolean,
    "shared_id": pl.Boolean,
}
KINDS = ("measured", "computed")


@dataclass(frozen=True)
class Labels:
    """Labels that can be compared with.

    Attributes
    ----------
    frame
        Columns of `SCHEMA`. `label` is the text of the file without outer white space. `conflict`: the
        benchmark gives this molecule id different values (they belong to the floor and cannot be scored).
        `shared_id`: the id stands for more than one SMILES, so only the structure tells which one is meant.
    files
        The files read, for their digests.
    notes
        Sentences for the report.
    left_out
        Number of records left out, by reason.
    """

    frame: pl.DataFrame
    files: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def load_labels(path: str | Path | Sequence[str | Path], *, decimal_comma: bool = False) -> Labels:
    """Read labels from one table (CSV, TSV, JSON, Parquet, spreadsheet) or several; its name names the benchmark.

    With ``decimal_comma`` a label of "-3,10" is -3.10.

    Raises
    ------
    TableError
        Something cannot be used; the message names the file, and the row and column where there is one.
    """
    named = [path] if isinstance(path, str | Path) else list(path)
    if not named:
        raise TableError("No file of labels was given.")
    return _joined([tables.read(each, COLUMNS) for each in named], decimal_comma)


def labels_from_frame(frame: Any, *, decimal_comma: bool = False) -> Labels:
    """Labels from a polars or pandas frame; without a `benchmark` column the benchmark is called "labels".

    With ``decimal_comma`` a label of "-3,10" is -3.10.

    Raises
    ------
    TableError
        Something cannot be used; the message names the record, counted from 1, and the column.
    """
    return _joined([tables.from_frame(frame, COLUMNS)], decimal_comma)


def _joined(parts: list[tables.Table], decimal_comma: bool) -> Labels:
    frame, notes, left_out = tables.joined(parts, partial(_checked, decimal_comma=decimal_comma))
    paths = ", ".join(part.path for part in parts)
    if not frame.height:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in left_out.items())
        asked = next((f" {note}" for note in notes if "--decimal-comma" in note), "")
        raise TableError(f"{paths}: no usable label ({reasons}).{asked}")
    _one_value_each(frame, "unit")
    _one_value_each(frame, "kind")
    frame = _judged(frame, paths, notes, left_out)
    frame = frame.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    return Labels(frame, tables.files_of(parts), notes, left_out)


def _checked(
    table: tables.Table, notes: list[str], left_out: dict[str, int], decimal_comma: bool
) -> pl.DataFrame:
    source = table.path
    if "label" in table.floats:
        notes.append(
            f"{source}: the labels are floats; zeros written at the end of a number (2.50) are lost."
        )
    default = "labels" if source == tables.FRAME else tables.stem(source)
    frame = identify(table.frame, source, notes)
    frame = without_invisible(frame, "label", source, notes).with_columns(
        stripped("benchmark").fill_null(default),
        stripped("label"),
        stripped("unit"),
        stripped("kind").str.to_lowercase(),
    )
    reject(frame, ~pl.col("kind").is_in(KINDS), "kind", source, f"{' or '.join(KINDS)}, or nothing")
    frame = number(frame, "uncertainty", source, "a number, 0 or more, or nothing")
    frame = drop(frame, pl.col("molecule").is_null(), "no molecule", source, notes, left_out)
    frame = drop(frame, pl.col("label").is_null(), "no label", source, notes, left_out)
    frame = _with_points(frame, source, notes, left_out, decimal_comma and "label" not in table.floats)
    frame = frame.with_columns(plain_number("label").cast(pl.Float64).alias("value"))
    frame = drop(frame, pl.col("value").is_null(), "label is not a number", source, notes, left_out)
    return frame.with_columns(pl.lit(source).alias("file"))


def _with_points(
    frame: pl.DataFrame, source: str, notes: list[str], left_out: dict[str, int], decimal_comma: bool
) -> pl.DataFrame:
    """Turn decimal commas into points where that was asked for, and say where it should be.

    A table whose labels have no comma at all is one that writes points: the option may be for the replies alone.
    """
    if decimal_comma and frame["label"].str.contains(",", literal=True).any():
        pointed = pl.col("label").str.contains(".", literal=True)
        frame = drop(frame, pointed, "label has a point under --decimal-comma", source, notes, left_out)
        one = pl.col("label").str.replace(",", ".", literal=True)
        return frame.with_columns(one.alias("label"))
    commas = frame.filter(pl.col("label").str.contains(DECIMAL_COMMA))
    if commas.height and not decimal_comma:
        notes.append(
            f"{source}, column 'label', {rows_named(commas['row'].to_list())}: {commas['label'][0]!r} has a comma; "
            "if it is a decimal comma, say --decimal-comma."
        )
    return frame


def _one_value_each(frame: pl.DataFrame, column: str) -> None:
    """Digits in two units, or of two kinds, must not share a floor."""
    firsts = frame.filter(pl.col(column).is_not_null()).unique(
        ["benchmark", column], keep="first", maintain_order=True
    )
    for _, found in firsts.group_by("benchmark", maintain_order=True):
        if found.height > 1:
            (file, row, benchmark, one), (file2, row2, _, two) = found.select(
                "file", "row", "benchmark", column
            ).rows()[:2]
            raise TableError(
                f"{file2}, row {row2}, column '{column}': found {two!r}, but benchmark {benchmark!r} has {one!r} in "
                f"{file}, row {row}. Allowed: one {column} for each benchmark."
            )


def _judged(frame: pl.DataFrame, source: str, notes: list[str], left_out: dict[str, int]) -> pl.DataFrame:
    again = ~pl.struct("benchmark", "molecule", "smiles", "value").is_first_distinct()
    frame = drop(frame, again, "same label again", source, notes, left_out)
    ids = ["benchmark", "molecule"]
    frame = frame.with_columns(
        (pl.col("value").n_unique().over(ids) > 1).alias("conflict"),
        (pl.col("smiles").drop_nulls().n_unique().over(ids) > 1).alias("shared_id"),
    )
    for column, what in (
        (
            "conflict",
            "different labels (all kept for the floors; not scored unless several values are declared)",
        ),
        ("shared_id", "different structures"),
    ):
        found = frame.filter(column)
        if found.height:
            notes.append(
                f"{source}: molecule ids with {what}: {found.n_unique(ids)}, "
                f"first {found['molecule'][0]!r} in row {found['row'][0]}."
            )
    return frame
