"""Results of a run as files: CSV, Parquet and JSON for other programs. A file is whole or absent, never half."""

import io
import json
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from .errors import StorageError, reason

# What a spreadsheet may take for a formula (OWASP, "CSV Injection"), the full-width forms included. Text that is a
# plain number stays as it is: -3.05 must remain a number for whoever reads the file.
_FORMULA = "^[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_NUMBER = r"^[+\-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?$"


def write_csv(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as UTF-8 CSV with LF line ends.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, which spreadsheets hide. Lists are
    joined by "; ". Null is an empty field.

    Raises
    ------
    StorageError
        The file cannot be written; what stood there before is untouched.
    """
    safe = _safe(frame)
    replace(path, safe.write_csv)


def write_parquet(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as Parquet, values as they are.

    Raises
    ------
    StorageError
        The file cannot be written; what stood there before is untouched.
    """
    replace(path, frame.write_parquet)


def write_json(content: Any, path: str | Path) -> None:
    """Write JSON with an indent of two; NaN and infinity are refused, for JSON has none.

    Raises
    ------
    StorageError
        The file cannot be written, or `content` is not JSON; what stood there before is untouched.
    """
    try:
        text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise StorageError(f"{path}: cannot be written as JSON ({error}).") from error
    replace(path, lambda stream: stream.write(text.encode()))


def write_text(text: str, path: str | Path) -> None:
    """Write text as UTF-8.

    Raises
    ------
    StorageError
        The file cannot be written; what stood there before is untouched.
    """
    replace(path, lambda stream: stream.write(text.encode()))


def write_table(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame as the kind of file that the name asks for: `.csv` or `.parquet`.

    Raises
    ------
    StorageError
        The name asks for another kind, or the file cannot be written.
    """
    table_writer(path)(frame, path)


def table_writer(path: str | Path) -> Callable[[pl.DataFrame, str | Path], None]:
    """Choose the function that writes the kind of table a name asks for; ask before work that may be lost.

    Raises
    ------
    StorageError
        The name asks for another kind than `.csv` or `.parquet`.
    """
    kinds = {".csv": write_csv, ".parquet": write_parquet}
    write = kinds.get(Path(path).suffix.lower())
    if write is None:
        raise StorageError(f"{path}: unknown kind of table. Allowed: {', '.join(kinds)}.")
    return write


def replace(path: str | Path, write: Callable[[io.BufferedWriter], object]) -> None:
    """Write a file beside its place and move it there once it is whole; folders are made as needed.

    Raises
    ------
    StorageError
        The file cannot be written; what stood there before is untouched.
    """
    target = Path(path)
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise StorageError(
            f"{path}: cannot be written ({reason(error, target.parent)}). Name a folder that can be written to."
        ) from error
    finally:
        # Nothing is left after a move; after a failure or Ctrl-C the unfinished file goes.
        with suppress(OSError, ValueError):
            beside.unlink(missing_ok=True)


def _escape(text: pl.Series) -> pl.Series:
    runs = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    return pl.select(pl.when(runs).then("'" + text).otherwise(text)).to_series().alias(text.name)


def _safe(frame: pl.DataFrame) -> pl.DataFrame:
    columns = []
    for series in frame:
        if isinstance(series.dtype, pl.List):
            text = series.cast(pl.List(pl.String)).list.join("; ")
        elif series.dtype in (pl.Categorical, pl.Enum):
            text = series.cast(pl.String)
        else:
            text = series
        columns.append(_escape(text) if text.dtype == pl.String else text)
    names = _escape(pl.Series(frame.columns, dtype=pl.String)).to_list()
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])
