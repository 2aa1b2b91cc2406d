"""Many replies at once: each different text is read once, plain numbers by vectorised string functions."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ._helpers import read_many

_FIELDS: dict[str, pl.DataType | type[pl.DataType]] = {
    "text": pl.String,
    "digits": pl.String,
    "value": pl.Float64,
    "figures": pl.Int32,
    "stripped": pl.Int32,
    "rule": pl.String,
    "kind": pl.String,
    "flags": pl.List(pl.String),
    "candidates": pl.List(pl.String),
    "unit": pl.String,
    "low": pl.Float64,
    "high": pl.Float64,
}
SCHEMA = pl.Schema(_FIELDS)

_PLAIN = r"^[ \t\r\n]*[-+\x{2212}]?(?:[0-9]{1,15}(?:\.[0-9]{1,15})?|\.[0-9]{1,15})[ \t\r\n]*$"

_THOUSANDS_LIKE = r"^[ \t\r\n]*[-+\x{2212}]?[1-9][0-9]{0,2}\.[0-9]{3}[ \t\r\n]*$"


def parse_column(
    texts: pl.Series | Sequence[str | None],
    unit: str | None = None,
    names: Sequence[str] = (),
    *,
    approximate: bool = True,
    decimal_comma: bool = False,
) -> pl.DataFrame:
    """Read many replies.

    Parameters
    ----------
    texts : polars.Series of String, or sequence of str or None
        The replies.
    unit, names, approximate, decimal_comma
        As in `parse_number`; they hold for all replies.

    Returns
    -------
    polars.DataFrame
        One row for each reply, in order, with the columns of `SCHEMA`: ``text`` is the number as written, the others
        are the fields of `NumberAnswer`. ``value`` is the nearest double, null for all but points.
    """
    replies = pl.DataFrame({"reply": texts}, schema={"reply": pl.String})
    unique = replies.unique(maintain_order=False)
    is_plain = pl.col("reply").str.contains(_PLAIN)
    if decimal_comma:
        is_plain &= ~pl.col("reply").str.contains(_THOUSANDS_LIKE)
    plain = unique.filter(is_plain)
    other = unique.join(plain, on="reply", how="anti", nulls_equal=True)
    manner = {
        "unit": unit,
        "names": list(names),
        "approximate": approximate,
        "decimal_comma": decimal_comma,
    }
    rows = read_many(other["reply"].to_list(), manner)
    slow = pl.DataFrame(rows, schema=SCHEMA, orient="row").insert_column(0, other["reply"])
    return replies.join(
        pl.concat([_read_plain(plain), slow]), on="reply", how="left", nulls_equal=True, maintain_order="left"
    ).drop("reply")


def _read_plain(plain: pl.DataFrame) -> pl.DataFrame:
    """The same as `parse_number` for texts that are one plain number."""
    text = pl.col("reply").str.strip_chars(" \t\r\n")
    whole = pl.col("bare").str.extract(r"^0*([0-9]*)", 1)
    digits = pl.concat_str(
        pl.when(pl.col("text").str.contains(r"^[-\x{2212}]")).then(pl.lit("-")).otherwise(pl.lit("")),
        pl.when(whole == "").then(pl.lit("0")).otherwise(whole),
        pl.col("bare").str.extract(r"(\..*)$", 1).fill_null(""),
    )
    significant = pl.col("bare").str.replace(".", "", literal=True).str.strip_chars_start("0")
    stripped = significant.str.strip_chars_end("0").str.len_bytes().cast(pl.Int32)
    written = significant.str.len_bytes().cast(pl.Int32)
    pointed = pl.col("bare").str.contains(".", literal=True)
    return (
        plain.with_columns(text=text)
        .with_columns(bare=pl.col("text").str.strip_chars_start("-+\u2212"))
        .with_columns(digits=digits)
        .select(
            "reply",
            "text",
            "digits",
            value=pl.col("digits").cast(pl.Float64),
            figures=pl.when(pointed & (stripped > 0)).then(written).otherwise(stripped),
            stripped=stripped,
            rule=pl.lit("lone"),
            kind=pl.lit("point"),
            flags=pl.lit([], dtype=pl.List(pl.String)),
            candidates=pl.concat_list("digits"),
            unit=pl.lit(None, dtype=pl.String),
            low=pl.lit(None, dtype=pl.Float64),
            high=pl.lit(None, dtype=pl.Float64),
        )
    )
