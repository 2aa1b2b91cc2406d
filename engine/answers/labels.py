"""Labels as their source wrote them: text to value and figures, never through a float first.

The grammar is strict, for labels are typed data and not replies:

    label = [ sign ] ( digits [ "." [ digits ] ] | "." digits ) [ "e" [ sign ] digits ]

Anything else (a comma, a unit, a bound) is a problem of the file and is reported, not guessed. The grammar is that of
`molaudit.storage.tables.checks`, by which tables are read: what passes there is a label here, with the same value.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

import polars as pl

from molaudit.storage.tables.checks import NUMBER

from ..errors import InputError

MOST_FIGURES = 12
"""More significant digits than these are artefacts of a float: "-2.1799999999999997" was -2.18."""

MISSING = "missing"
NOT_A_NUMBER = "not a number"
NOT_FINITE = "not finite"
ZERO = "zero"

SCHEMA = pl.Schema(
    {
        "text": pl.String,
        "digits": pl.String,
        "value": pl.Float64,
        "stripped": pl.Int32,
        "written": pl.Int32,
        "problem": pl.String,
    }
)

# Takes apart what `NUMBER` has accepted: sign, digits before the point, the point, digits behind, sign and exponent.
_PARTS = r"^([-+]?)0*([0-9]*)(\.?)([0-9]*)(?:[eE]([-+]?)0*([0-9]+))?$"
_LONGEST_EXPONENT = 6
"""A number with a longer exponent is infinite or zero as a double, so 12 of its digits say no more than all."""
_NOT_FINITE_WORD = r"(?i)^[-+]?(?:nan|inf|infinity|∞)$"
_MOST_PLACES = 25
_ROUNDING = Context(prec=MOST_FIGURES, rounding=ROUND_HALF_EVEN)


def clean_digits(digits: str) -> str:
    """Round decimal text of more than 12 significant digits to 12, and drop the zeros that this leaves.

    >>> clean_digits("-2.1799999999999997"), clean_digits("2.50")
    ('-2.18', '2.50')
    """
    mantissa = digits.lstrip("+-").lower().partition("e")[0].replace(".", "").lstrip("0")
    if len(mantissa) <= MOST_FIGURES:
        return digits
    if len(digits.lower().partition("e")[2].lstrip("+-0")) > _LONGEST_EXPONENT:
        return digits
    rounded = _ROUNDING.plus(Decimal(digits))
    if not rounded:
        return digits
    form = "f" if abs(rounded.adjusted()) < _MOST_PLACES else "e"
    return format(rounded.normalize(_ROUNDING), form).replace("e+", "e")


def read_labels(labels: pl.Series) -> pl.DataFrame:
    """Read a column of label texts.

    Parameters
    ----------
    labels : polars.Series of String
        Labels as written in the source; the Unicode minus is accepted.

    Returns
    -------
    polars.DataFrame
        One row for each label, in order, with the columns of `SCHEMA`. ``digits`` is the cleaned decimal text,
        ``value`` its nearest double, ``stripped`` and ``written`` its figures without and with trailing zeros behind
        a point. ``problem`` is null, or ``missing``, ``not a number``, ``not finite`` or ``zero``; with a problem
        other than ``zero``, ``value`` is null.

    Raises
    ------
    InputError
        The column is not text: a number column has already lost its trailing zeros.
    """
    if labels.dtype == pl.Null:
        labels = labels.cast(pl.String)
    if labels.dtype != pl.String:
        raise InputError(
            f"labels must be text, not {labels.dtype}: a number has lost its trailing zeros. "
            'Read the column as text, for example pl.read_csv(path, schema_overrides={"label": pl.String}).'
        )
    texts = pl.DataFrame({"text": labels.rename("text")})
    read = _judge(_measure(_split(texts.unique())))
    return texts.join(read, on="text", how="left", nulls_equal=True, maintain_order="left").select(
        SCHEMA.names()
    )


def _split(texts: pl.DataFrame) -> pl.DataFrame:
    """Sign, digits before and after the point, exponent; and the text of more than 12 digits made shorter."""
    plain = pl.col("text").str.strip_chars().str.replace_all("\u2212", "-", literal=True)
    frame = texts.with_columns(plain=plain).with_columns(
        significant=pl.col("plain").str.extract(r"^[-+]?([0-9.]*)", 1).str.replace(".", "", literal=True)
        .str.strip_chars_start("0").str.len_bytes()
    )  # fmt: skip
    long = frame.filter((pl.col("significant") > MOST_FIGURES) & pl.col("plain").str.contains(NUMBER)).select(
        "text", cleaned=pl.col("plain").map_elements(clean_digits, return_dtype=pl.String)
    )
    frame = frame.join(long, on="text", how="left", nulls_equal=True).with_columns(
        plain=pl.coalesce("cleaned", "plain")
    )
    accepted = pl.when(pl.col("plain").str.contains(NUMBER)).then("plain")
    parts = accepted.str.extract_groups(_PARTS)
    names = ("sign", "whole", "point", "fraction", "below", "exponent")
    return frame.with_columns(parts.struct.rename_fields(list(names)).alias("parts")).unnest("parts")


def _measure(frame: pl.DataFrame) -> pl.DataFrame:
    figures = (pl.col("whole") + pl.col("fraction")).str.strip_chars_start("0")
    stripped = figures.str.strip_chars_end("0").str.len_bytes().cast(pl.Int32)
    has_digits = pl.col("plain").str.contains(NUMBER)
    return frame.with_columns(
        stripped=stripped.fill_null(0),
        written=pl.when((pl.col("fraction") != "") & (stripped > 0))
        .then(figures.str.len_bytes().cast(pl.Int32))
        .otherwise(stripped)
        .fill_null(0),
        digits=pl.when(has_digits).then(
            pl.concat_str(
                pl.when(pl.col("sign") == "-").then(pl.lit("-")).otherwise(pl.lit("")),
                pl.when(pl.col("whole") == "").then(pl.lit("0")).otherwise("whole"),
                pl.when(pl.col("fraction") == "").then(pl.lit("")).otherwise(pl.lit(".") + pl.col("fraction")),
                pl.when(pl.col("exponent").is_null())
                .then(pl.lit(""))
                .otherwise(
                    pl.lit("e")
                    + pl.when(pl.col("below") == "-").then(pl.lit("-")).otherwise(pl.lit(""))
                    + pl.col("exponent")
                ),
            )
        ),
    )  # fmt: skip


def _judge(frame: pl.DataFrame) -> pl.DataFrame:
    value = pl.col("digits").cast(pl.Float64, strict=False)
    # A double that is zero though the text is not has no figures to compare either.
    problem = (
        pl.when(pl.col("plain").is_null() | (pl.col("plain") == ""))
        .then(pl.lit(MISSING))
        .when(pl.col("plain").str.contains(_NOT_FINITE_WORD) | value.is_infinite())
        .then(pl.lit(NOT_FINITE))
        .when(value.is_null())
        .then(pl.lit(NOT_A_NUMBER))
        .when(value == 0)
        .then(pl.lit(ZERO))
    )
    frame = frame.with_columns(problem=problem)
    known = pl.col("problem").is_null() | (pl.col("problem") == ZERO)
    kept = pl.col("problem").is_null()
    return frame.select(
        "text",
        digits=pl.when(known).then("digits"),
        value=pl.when(known).then(value),
        stripped=pl.when(kept).then("stripped").otherwise(0),
        written=pl.when(kept).then("written").otherwise(0),
        problem="problem",
    )
