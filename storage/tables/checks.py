"""Checks on columns of text that answers, labels and counts share. An error names file, row, column and rule."""

from collections.abc import Sequence

import polars as pl

from ..errors import TableError

# ASCII digits only: other scripts' digits are for the reply parser, a table column should not need them.
NUMBER = r"^[+\-\x{2212}]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+\-\x{2212}]?[0-9]+)?$"
DECIMAL_COMMA = r"^[+\-\x{2212}]?[0-9]*,[0-9]+([eE][+\-\x{2212}]?[0-9]+)?$"
# A spreadsheet or a data frame with gaps writes 12 as 12.0. Fifteen digits are exact in every program.
_WHOLE = r"^[0-9]{1,15}(\.0+)?$"
_WHOLE_FLOAT = r"^[0-9]{1,15}\.0+$"
# Characters of format (soft hyphen, zero-width space and joiners, marks of direction, byte order mark): copied from
# web pages and documents, seen by nobody, and enough to make one molecule two.
_INVISIBLE = r"\p{Cf}"


def stripped(name: str) -> pl.Expr:
    """A text column without outer white space; null where nothing is left."""
    text = pl.col(name).str.strip_chars()
    return pl.when(text.str.len_bytes() > 0).then(text).alias(name)


def plain_number(name: str) -> pl.Expr:
    """A stripped number with an ASCII minus; null where the text is no finite number. Digits stay as written."""
    text = pl.col(name).str.replace_all("\u2212", "-", literal=True)
    finite = pl.col(name).str.contains(NUMBER) & text.cast(pl.Float64, strict=False).is_finite()
    return pl.when(finite).then(text).alias(name)


def reject(frame: pl.DataFrame, bad: pl.Expr, column: str, source: str, allowed: str) -> None:
    """Raise for the first row where `bad` holds.

    Raises
    ------
    TableError
        Such a row exists.
    """
    wrong = frame.filter(bad)
    if wrong.height:
        row, value = wrong.select("row", column).row(0)
        found = "nothing" if value is None else repr(str(value)[:60])
        more = f" ({wrong.height - 1} more such rows)" if wrong.height > 1 else ""
        raise TableError(f"{source}, row {row}, column '{column}': found {found}. Allowed: {allowed}.{more}")


def whole_numbers(frame: pl.DataFrame, column: str, source: str, *, required: bool = False) -> pl.DataFrame:
    """Turn a text column into Int64; blank becomes null.

    Raises
    ------
    TableError
        A value is not a whole number of at least 0, or is blank where one is required.
    """
    frame = frame.with_columns(stripped(column))
    allowed = "a whole number, 0 or more" + ("" if required else ", or nothing")
    bad = ~pl.col(column).str.contains(_WHOLE)
    reject(frame, bad.fill_null(required), column, source, allowed)
    return frame.with_columns(pl.col(column).str.extract("^([0-9]+)", 1).cast(pl.Int64))


def number(
    frame: pl.DataFrame, column: str, source: str, allowed: str, most: float = float("inf")
) -> pl.DataFrame:
    """Turn a text column into Float64; blank becomes null.

    Raises
    ------
    TableError
        A value is not a number from 0 to `most`.
    """
    frame = frame.with_columns(stripped(column)).with_columns(
        plain_number(column).cast(pl.Float64).alias("_number")
    )
    outside = pl.col("_number").is_null() | (pl.col("_number") < 0) | (pl.col("_number") > most)
    reject(frame, pl.col(column).is_not_null() & outside, column, source, allowed)
    return frame.with_columns(pl.col("_number").alias(column)).drop("_number")


def rows_named(rows: Sequence[int], most: int = 3) -> str:
    """ "row 4", "rows 4, 7 and 9", "rows 4, 7, 9 and 12 more"."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if len(rows) <= most:
        return f"rows {', '.join(str(row) for row in rows[:-1])} and {rows[-1]}"
    return f"rows {', '.join(str(row) for row in rows[:most])} and {len(rows) - most} more"


def drop(
    frame: pl.DataFrame, bad: pl.Expr, reason: str, source: str, notes: list[str], left_out: dict[str, int]
) -> pl.DataFrame:
    """Leave out the rows where `bad` holds: counted under `reason`, the first ones named in a note."""
    bad = bad.fill_null(False)
    rows = frame.filter(bad)["row"].to_list()
    if not rows:
        return frame
    left_out[reason] = left_out.get(reason, 0) + len(rows)
    notes.append(f"{source}, {rows_named(rows)}: left out ({reason}).")
    return frame.filter(~bad)


def identify(frame: pl.DataFrame, source: str, notes: list[str]) -> pl.DataFrame:
    """Bring `molecule` and `smiles` into one writing; a molecule without a name goes by its SMILES.

    White space and invisible characters go, an id that a spreadsheet or data frame made of a whole number ("17.0") is
    the whole number again, and letters with accents are composed, so that one name has one writing.
    """
    for name in ("molecule", "smiles"):
        frame = without_invisible(frame, name, source, notes)
    frame = frame.with_columns(stripped("molecule"), stripped("smiles"))
    if not _is_ascii(frame["molecule"]):
        frame = frame.with_columns(pl.col("molecule").str.normalize("NFC"))
    floats = pl.col("molecule").str.contains(_WHOLE_FLOAT)
    counted = frame.select(floats.sum()).item()
    if counted:
        notes.append(
            f"{source}, column 'molecule': {counted} ids such as '17.0' are read as the whole number."
        )
    whole = pl.when(floats).then(pl.col("molecule").str.extract("^([0-9]+)", 1)).otherwise("molecule")
    return frame.with_columns(whole.alias("molecule")).with_columns(
        pl.coalesce("molecule", "smiles").alias("molecule")
    )


def without_invisible(frame: pl.DataFrame, column: str, source: str, notes: list[str]) -> pl.DataFrame:
    """Take characters of no width out of a text column; a note counts the rows."""
    if _is_ascii(frame[column]):
        return frame
    found = frame.filter(pl.col(column).str.contains(_INVISIBLE))["row"].to_list()
    if not found:
        return frame
    notes.append(
        f"{source}, column '{column}', {rows_named(found)}: invisible characters (such as zero-width spaces) "
        "taken out."
    )
    return frame.with_columns(pl.col(column).str.replace_all(_INVISIBLE, ""))


def _is_ascii(text: pl.Series) -> bool:
    """Whether no letter takes more than a byte; asked first, for it takes a tenth of the time of a pattern."""
    return text.str.len_bytes().sum() == text.str.len_chars().sum()
