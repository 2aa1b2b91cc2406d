"""Columns of any type as text: the digits a person would see, and null for what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl

from ..errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

# Loading pyarrow takes 0.09 s, a fifth of a run that finds all in its cache; only Parquet files need it.

_ALLOWED = "Allowed: text, whole numbers, floats, decimals."


def text_series(name: str, values: Iterable[str | None]) -> pl.Series:
    """A String column of Python strings; halves of surrogate pairs, which no file can hold, become U+FFFD."""
    listed = list(values)
    try:
        return pl.Series(name, listed, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series(name, [value and mended(value) for value in listed], dtype=pl.String)


def mended(text: str) -> str:
    """The text with lone halves of surrogate pairs replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def series_text(series: pl.Series, source: str) -> pl.Series:
    """A polars column as text.

    Floats get their shortest writing (so 5.0 is "5": a float does not know how many zeros were written), NaN becomes
    null, decimals keep their zeros.

    Raises
    ------
    TableError
        The column holds lists, structures, times or bytes.
    """
    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype == pl.Object:
        return text_series(series.name, values_text(series.to_list(), source, series.name))
    if dtype.is_float():
        return series.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    if dtype.is_integer() or dtype.is_decimal() or dtype in (pl.Boolean, pl.Null, pl.Categorical, pl.Enum):
        return series.cast(pl.String)
    raise TableError(f"{source}: column '{series.name}' holds {dtype}. {_ALLOWED}")


def values_text(values: Iterable[Any], source: str, column: str) -> list[str | None]:
    """Python values (strings, numbers, numpy scalars, None, NaN, NA) as text; rows are numbered from 1."""
    texts = []
    for row, value in enumerate(values, 1):
        try:
            texts.append(_value_text(value))
        except (TypeError, ValueError):
            raise TableError(
                f"{source}, row {row}, column '{column}': found a value of type {type(value).__name__}. {_ALLOWED}"
            ) from None
    return texts


def float_text(value: float) -> str | None:
    """The shortest writing of a float that reads back as the same float; None for NaN."""
    return None if math.isnan(value) else repr(value).removesuffix(".0")


def read_parquet(data: bytes, source: str) -> pa.Table:
    """The rows of a Parquet file, every value checked.

    Raises
    ------
    TableError
        The bytes are not a readable Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Not by polars: its reader (2.1) ended the whole process on one of a few hundred damaged files.
    try:
        table = pq.read_table(pa.BufferReader(data))
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{source}: not a readable Parquet file ({reason}).") from error
    return table


def arrow_text(column: pa.ChunkedArray, name: str, source: str) -> pl.Series:
    """An Arrow column as text, under the rules of `series_text`.

    Raises
    ------
    TableError
        The column holds lists, structures, times or bytes.
    """
    import pyarrow as pa

    if pa.types.is_nested(column.type) or pa.types.is_temporal(column.type):
        raise TableError(f"{source}: column '{name}' holds {column.type}. {_ALLOWED}")
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series_text(series.alias(name), source)


def pandas_text(column: Any, name: str, source: str) -> pl.Series:
    """A pandas column as text, under the rules of `series_text`.

    Raises
    ------
    TableError
        A value is neither text nor a number.
    """
    if column.dtype.kind in "iuf" and type(column.dtype).__module__.startswith("numpy"):
        return series_text(pl.Series(name, column.to_numpy()), source)
    return text_series(name, values_text(column.tolist(), source, name))


def _value_text(value: Any) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if type(value).__module__ == "numpy":
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value)
    if isinstance(value, int):
        return str(value)
    raise TypeError(type(value).__name__)
