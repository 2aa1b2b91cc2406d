"""CSV and TSV without a quote or a stray line end, which is most of what programs write: a tenth of the time.

In such text a line is a record, so columns are cut by polars, and line numbers are counted. Whatever is not plainly
of this kind is left to the careful reader of `delimited`, whose result is the same.
"""

from __future__ import annotations

import io

import numpy as np
import polars as pl

_WORTH_FROM = 64 * 1024
"""Bytes. Below it the careful reader takes no time either."""


def columns(data: bytes, delimiter: str, width: int) -> list[pl.Series] | None:
    """Cut the lines below the header into columns of text.

    Parameters
    ----------
    data
        UTF-8 text from its first byte on, the header in its first line.
    delimiter, width
        What separates the fields, and how many the header has.

    Returns
    -------
    One series a column, as written; None where the text is not of the plain kind: quotes, other line ends than LF, a
    line with more or fewer fields, a blank line.
    """
    if len(data) < _WORTH_FROM or width < 2 or any(mark in data for mark in (b'"', b"\r", b"\0")):
        return None
    first = data.find(b"\n") + 1
    if first == 0 or first == len(data) or not _is_even(data[first:], delimiter, width):
        return None
    try:
        frame = pl.read_csv(
            io.BytesIO(data),
            has_header=False,
            skip_rows=1,
            separator=delimiter,
            quote_char=None,
            infer_schema=False,
            schema={str(at): pl.String() for at in range(width)},
        )
    except pl.exceptions.PolarsError:
        return None
    # A field without a letter is missing to polars, whatever it is told; nothing else is.
    frame = frame.with_columns(pl.all().fill_null(""))
    empty = frame.select(pl.all_horizontal(pl.all().str.strip_chars() == "").any()).item()
    return None if empty else frame.get_columns()


def _is_even(body: bytes, delimiter: str, width: int) -> bool:
    """Whether every line has the same number of fields."""
    text = np.frombuffer(body if body.endswith(b"\n") else body + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    marks = np.flatnonzero(text == ord(delimiter))
    if marks.size != ends.size * (width - 1):
        return False
    # Line i has the marks from number i (width - 1) on: the first of them lies within it, and so does the last.
    starts = np.concatenate([[0], ends[:-1] + 1])
    return bool((marks[:: width - 1] >= starts).all() and (marks[width - 2 :: width - 1] < ends).all())
