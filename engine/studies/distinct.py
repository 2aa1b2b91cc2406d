"""Columns as their distinct values and an index into them: work on text is done once a value, not once a row."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa


def distinct(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the distinct values in order of first appearance, and for each row the index of its value.

    Null is a value like any other. Arrow's dictionary took a third of the time of ``unique`` and a join back.
    """
    encoded = column.to_arrow().dictionary_encode(null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    values = pl.Series(column.name, encoded.dictionary, dtype=column.dtype)
    return values, pl.Series("index", encoded.indices).cast(pl.UInt32)


def numbered(frame: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """Number the distinct combinations of some columns from 0 in order of first appearance, one number a row."""
    number: pl.Series | None = None
    for name in names:
        # Most columns hold one value throughout; to see that costs a twentieth of encoding them.
        if frame[name].eq_missing(frame[name].first()).all():
            continue
        values, index = distinct(frame[name])
        index = index.cast(pl.Int64)
        # Renumbering at every step keeps the product below rows squared.
        number = index if number is None else distinct(number * values.len() + index)[1].cast(pl.Int64)
    if number is None:
        number = pl.repeat(0, frame.height, dtype=pl.Int64, eager=True)
    return number.alias("number")
