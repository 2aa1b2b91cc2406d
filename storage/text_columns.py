"""Columns of any type as text: the digits a person would see, and null for what is missing."""

import io
import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import polars as pl

from .errors import TableError


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
    raise TableError(
        f"{source}: column '{series.name}' holds {dtype}. Allowed: text, whole numbers, floats, decimals."
    )


def values_text(values: Iterable[Any], source: str, column: str) -> list[str | None]:
    """Python values (strings, numbers, numpy scalars, None, NaN, NA) as text; rows are numbered from 1."""
    texts = []
    for row, value in enumerate(values, 1):
        try:
            texts.append(_value_text(value))
        except (TypeError, ValueError):
            raise TableError(
                f"{source}, row {row}, column '{column}': found a {type(value).__name__}. "
                "Allowed: text, whole numbers, floats, decimals."
            ) from None
    return texts


def float_text(value: float) -> str | None:
    """The shortest writing of a float that reads back as the same float; None for NaN."""
    return None if math.isnan(value) else repr(value).removesuffix(".0")


def read_parquet(data: bytes, source: str) -> pl.DataFrame:
    """The rows of a Parquet file.

    Raises
    ------
    TableError
        The bytes are not a readable Parquet file.
    """
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        # A damaged page can make the reader panic instead of raise.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(f"{source}: not a readable Parquet file ({reason}).") from error


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
