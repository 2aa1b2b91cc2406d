"""CSV and TSV as text, with the line of the file on which each record starts.

Python's csv module in strict mode. It is the only reader at hand that counts physical lines across quoted newlines; a
million rows of three columns take 2.9 s of CPU. What has neither quotes nor gaps, `plain_delimited` cuts in a tenth
of that.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from ..errors import TableError
from .columns import Columns, Parsed, choose, shown
from .plain_delimited import columns as plain_columns
from .utf8 import utf8

if TYPE_CHECKING:
    from _csv import Reader

_BATCH = 50_000
_SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}


def read(data: bytes, delimiter: str, wanted: Columns, source: str) -> Parsed:
    """Read the bytes of a CSV or TSV file.

    Raises
    ------
    TableError
        Not UTF-8 or UTF-16 text, ragged, badly quoted, empty, or without the wanted columns.
    """
    data, notes = utf8(data, source)
    # Replies and runaway digits may be long; the module's limit of 131,072 characters is a process-wide setting.
    csv.field_size_limit(2**31 - 1)
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    records = _records(csv.reader(stream, delimiter=delimiter, strict=True), source)
    skipped = 0
    for _, header in records:
        if any(name.strip() for name in header):
            break
        skipped += 1
    else:
        raise TableError(f"{source}: the file is empty. Expected a line of column names and rows below it.")
    _check_separator(header, delimiter, source)
    found = choose(header, wanted, source)
    positions = found.positions
    kept = range(len(header)) if wanted.everything else sorted(positions.values())
    plain = None if skipped else plain_columns(data, delimiter, len(header))
    if plain is None:
        columns, rows, blank = _collect(records, len(header), kept, source)
    else:
        columns, rows, blank = {at: plain[at] for at in kept}, range(2, plain[0].len() + 2), 0
    names = [name.strip() for name in header]
    given = pl.DataFrame([columns[at].alias(names[at]) for at in kept]) if wanted.everything else None
    chosen = {name: columns[at].alias(name) for name, at in positions.items()}
    return Parsed(found, chosen, given, pl.Series("row", rows, dtype=pl.Int64), blank + skipped, notes)


def _records(reader: "Reader", source: str) -> Iterator[tuple[int, list[str]]]:
    last = 0
    try:
        for fields in reader:
            yield last + 1, fields
            last = reader.line_num
    except csv.Error as error:
        reason = str(error)
        if reason == "unexpected end of data":
            reason = "a quote is opened here and never closed"
        elif "expected after" in reason:
            reason = "text follows a closing quote; a quote inside a quoted field must be doubled"
        raise TableError(f"{source}, row {last + 1}: {reason}.") from None


def _collect(
    records: Iterator[tuple[int, list[str]]], width: int, kept: "range | list[int]", source: str
) -> tuple[dict[int, pl.Series], Sequence[int], int]:
    rows: list[int] = []
    batch: list[list[str]] = []
    parts: dict[int, list[pl.Series]] = {at: [] for at in kept}
    blank = 0

    def flush() -> None:
        for at in kept:
            parts[at].append(pl.Series("", [fields[at] for fields in batch], dtype=pl.String))
        batch.clear()

    for row, fields in records:
        if len(fields) != width or not any(fields):
            if not "".join(fields).strip():
                blank += 1
                continue
            raise TableError(_ragged(row, fields, width, source))
        rows.append(row)
        batch.append(fields)
        if len(batch) == _BATCH:
            flush()
    flush()
    return {at: pl.concat(pieces) for at, pieces in parts.items()}, rows, blank


def _ragged(row: int, fields: list[str], width: int, source: str) -> str:
    hint = " A field that holds the separator must be quoted." if len(fields) > width else ""
    counted = f"found {len(fields)} fields, the header has {width}"
    return f"{source}, row {row}: {counted}.{hint} The row begins {shown(fields, 3)}."


def _check_separator(header: list[str], delimiter: str, source: str) -> None:
    if len(header) > 1:
        return
    for other, word in _SEPARATORS.items():
        if other != delimiter and other in header[0]:
            raise TableError(
                f"{source}: fields seem to be separated by {word}; expected {_SEPARATORS[delimiter]}. "
                "Allowed: commas in .csv, tabs in .tsv."
            )
