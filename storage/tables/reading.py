"""Tables of users, read as text with the row numbers that a person would see.

Labels and answers are compared digit by digit, so nothing here turns a written number into a float: what stood in
the file comes out. Only columns that were floats in their file (Parquet, data frames) are written out anew.
"""

import difflib
import functools
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import TableError
from . import delimited, json_lines, sheets
from .columns import Columns, Parsed, choose, shown
from .text_columns import arrow_text, pandas_text, read_parquet, series_text

__all__ = ["KINDS", "Columns", "Table", "digest", "from_frame", "read", "read_bytes", "stem"]

FRAME = "<frame>"
KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    **dict.fromkeys(sheets.SUFFIXES, "sheet"),
}
_FLOAT = re.compile("(half)?float|double", re.IGNORECASE)
_ALLOWED = f".csv, .tsv, .jsonl, .ndjson, .json (each also with .gz), .parquet, {', '.join(sheets.SUFFIXES)}"


@dataclass(frozen=True)
class Table:
    """A table from outside.

    Attributes
    ----------
    frame
        `row` (Int64: line of the file for text formats, record number otherwise, from 1) and every wanted column as
        String; a column that is absent is all null.
    path
        The file as the caller named it, or "<frame>".
    notes
        Sentences for the report: what was ignored or converted.
    left_out
        Number of records left out, by reason.
    floats
        Wanted columns that held floats, so that zeros once written at the end of a number are lost.
    given
        With `Columns.everything`: all columns of the input, as text, in their order.
    """

    frame: pl.DataFrame
    path: str
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    floats: tuple[str, ...] = ()
    given: pl.DataFrame | None = None


def read(path: str | Path, columns: Columns) -> Table:
    """Read a CSV, TSV, JSON Lines, JSON, Parquet or spreadsheet file as text.

    Raises
    ------
    TableError
        The file is missing or unreadable, its kind is unknown, or its contents cannot be used; the message names the
        file, and the row and column where there is one.
    """
    source = str(path)
    kind = _kind(Path(path))
    data = read_bytes(path)
    if not data:
        raise TableError(f"{source}: the file is empty.")
    if kind == "parquet":
        table = read_parquet(data, source)
        typed = [(field.name, field.type) for field in table.schema]
        return _typed(
            typed,
            lambda at: arrow_text(table.column(at), typed[at][0], source),
            table.num_rows,
            columns,
            source,
        )
    if kind == "sheet":
        return _table(sheets.read(data, columns, source), columns, source)
    if kind == "json":
        return _table(json_lines.read_list(data, columns, source), columns, source)
    if kind == "jsonl":
        return _table(json_lines.read(data, columns, source), columns, source)
    return _table(delimited.read(data, "\t" if kind == "tsv" else ",", columns, source), columns, source)


def joined(
    tables: Sequence[Table], checked: Callable[[Table, list[str], dict[str, int]], pl.DataFrame]
) -> tuple[pl.DataFrame, list[str], dict[str, int]]:
    """Check each table and put them together, with what was noted of them and left out of them, by reason."""
    notes: list[str] = []
    left_out: dict[str, int] = {}
    frames = []
    for table in tables:
        notes.extend(table.notes)
        for reason, count in table.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + count
        frames.append(checked(table, notes, left_out))
    return pl.concat(frames), notes, left_out


def files_of(tables: Sequence[Table]) -> tuple[str, ...]:
    """The files that tables came from; frames have none."""
    return tuple(table.path for table in tables if table.path != FRAME)


def from_frame(frame: Any, columns: Columns) -> Table:
    """Take a polars or pandas frame (its index is ignored) through the same checks as a file.

    Raises
    ------
    TableError
        Not a frame, or columns are missing or hold no text or numbers.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        held = frame
        typed = list(held.schema.items())
        return _typed(typed, lambda at: series_text(held.to_series(at), FRAME), held.height, columns, FRAME)
    # By name, so that pandas is neither needed nor imported here.
    if type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns"):
        found = [(str(name), dtype) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)]
        return _typed(
            found, lambda at: pandas_text(frame.iloc[:, at], found[at][0], FRAME), len(frame), columns, FRAME
        )
    raise TableError(
        f"{FRAME}: found a {type(frame).__name__}. Allowed: a polars or pandas data frame, or a path."
    )


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, decompressed when its name ends in .gz.

    Raises
    ------
    TableError
        The file cannot be read or decompressed.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise TableError(f"{path}: no such file.{_similar(Path(path))}") from None
    except IsADirectoryError:
        raise TableError(f"{path}: this is a folder. Expected a file: {_ALLOWED}.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TableError(f"{path}: cannot be read ({reason}).") from None
    if Path(path).suffix.lower() != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path}: not a readable gzip file ({error}).") from None


def digest(path: str | Path) -> str:
    """BLAKE2b (256 bits, hex) of the bytes of a file, as `b2sum -l 256` prints it.

    Raises
    ------
    TableError
        The file cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, functools.partial(hashlib.blake2b, digest_size=32)).hexdigest()
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read ({error}).") from None


def stem(path: str | Path) -> str:
    """The name of a file without folder, kind and compression: `data/esol.csv.gz` is `esol`."""
    name = Path(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return Path(name).stem


def _kind(path: Path) -> str:
    name = path.name.lower()
    zipped = name.endswith(".gz")
    kind = KINDS.get(Path(name.removesuffix(".gz")).suffix)
    if kind and not (zipped and kind in ("parquet", "sheet")):
        return kind
    if path.is_dir():
        raise TableError(f"{path}: this is a folder. Expected a file: {_ALLOWED}.")
    raise TableError(f"{path}: unknown kind of table. Allowed: {_ALLOWED}.")


def _similar(path: Path) -> str:
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def _table(parsed: Parsed, columns: Columns, source: str) -> Table:
    height = len(parsed.rows)
    if not height:
        raise TableError(f"{source}: the file has column names and no rows.")
    wanted = [
        parsed.chosen[name]
        if name in parsed.chosen
        else pl.Series(name, [None], dtype=pl.String).new_from_index(0, height)
        for name in columns.names
    ]
    notes = [*parsed.notes, *parsed.columns.notes]
    extra = parsed.columns.ignored
    if extra and not columns.everything:
        notes.append(f"{source}: ignored column{'s' if len(extra) > 1 else ''} {shown(extra)}.")
    left_out = {}
    if parsed.blank:
        left_out["blank line"] = parsed.blank
        notes.append(f"{source}: {parsed.blank} blank line{'s' if parsed.blank > 1 else ''} skipped.")
    return Table(pl.DataFrame([parsed.rows, *wanted]), source, notes, left_out, parsed.floats, parsed.given)


def _typed(
    named: list[tuple[str, Any]],
    text_at: Callable[[int], pl.Series],
    height: int,
    columns: Columns,
    source: str,
) -> Table:
    """Columns of any type, given by name and type; only those that are wanted are turned into text."""
    names = [name.strip() for name, _ in named]
    found = choose(names, columns, source)
    positions = found.positions
    chosen = {name: text_at(at).alias(name) for name, at in positions.items()}
    given = None
    if columns.everything:
        given = pl.DataFrame([text_at(at).alias(name) for at, name in enumerate(names)])
    rows = pl.Series("row", range(1, height + 1), dtype=pl.Int64)
    floats = tuple(name for name, at in positions.items() if _FLOAT.match(str(named[at][1])))
    return _table(Parsed(found, chosen, given, rows, floats=floats), columns, source)
