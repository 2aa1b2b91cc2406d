"""Counts of cells and floors of benchmarks, as `judge` and `limits` take them."""

from itertools import pairwise
from pathlib import Path

import polars as pl

from ..errors import TableError
from . import reading as tables
from .checks import number, reject, stripped, whole_numbers

COUNTS = ("n_usable", "m1", "m2", "m3")
FLOORS = ("floor12", "floor23", "floor_hit1", "floor_hit2", "floor_hit3")
_NAMES = ("benchmark", "model")
_ARM = ("arm", "condition", "effort")
_CELL_COLUMNS = tables.Columns(
    required=_NAMES + COUNTS, one_of=(_ARM,), optional=("family",), everything=True
)
_FLOOR_COLUMNS = tables.Columns(required=("benchmark",), one_of=(FLOORS,), everything=True)


def load_cells(path: str | Path) -> pl.DataFrame:
    """Read counts of cells: `benchmark, model, n_usable, m1, m2, m3`, and `arm` or `condition, effort`.

    The cells of a scored run are such a table. `family` is optional.

    Returns
    -------
    polars.DataFrame
        Every column of the input in its order, the four counts as Int64, the rest as text (null where empty).

    Raises
    ------
    TableError
        A count is not a whole number, counts do not nest (m3 <= m2 <= m1 <= n_usable), or a name is blank.
    """
    table, given = _read(path, _CELL_COLUMNS)
    names = (*_NAMES, *_ARM, "family")
    frame = table.frame.with_columns(stripped(name) for name in names)
    for name in (*_NAMES, *(["arm"] if "condition" not in given.columns else [])):
        reject(frame, pl.col(name).is_null(), name, table.path, "any name")
    for name in COUNTS:
        frame = whole_numbers(frame, name, table.path, required=True)
    for larger, smaller in pairwise(COUNTS):
        _nested(frame, larger, smaller, table.path)
    # An empty field of a CSV file is written as one again only when it is null.
    given = given.with_columns(pl.col(pl.String).replace("", None))
    return given.with_columns(frame[name] for name in (*names, *COUNTS) if name in given.columns)


def load_floors(path: str | Path) -> pl.DataFrame:
    """Read floors: `benchmark` and any of `FLOORS`, as fractions; blank means that there is no floor.

    Returns
    -------
    polars.DataFrame
        `benchmark`, and as Float64 those of `FLOORS` that the table has.

    Raises
    ------
    TableError
        A floor is not a fraction, or a benchmark is blank or occurs twice.
    """
    table, given = _read(path, _FLOOR_COLUMNS)
    frame, source = table.frame.with_columns(stripped("benchmark")), table.path
    reject(frame, pl.col("benchmark").is_null(), "benchmark", source, "any name")
    for name in FLOORS:
        allowed = "a fraction from 0 to 1 (14.7 % is 0.147), or nothing"
        frame = number(frame, name, source, allowed, most=1.0)
    first: dict[str, int] = {}
    for row, benchmark in frame.select("row", "benchmark").iter_rows():
        if first.setdefault(benchmark, row) != row:
            raise TableError(
                f"{source}, row {row}, column 'benchmark': {benchmark!r} came before in row {first[benchmark]}. "
                "Allowed: one row for each benchmark."
            )
    return frame.select("benchmark", *(name for name in FLOORS if name in given.columns))


def _read(path: str | Path, columns: tables.Columns) -> tuple[tables.Table, pl.DataFrame]:
    table = tables.read(path, columns)
    assert table.given is not None, "asked for by Columns.everything"
    return table, table.given


def _nested(frame: pl.DataFrame, larger: str, smaller: str, source: str) -> None:
    wrong = frame.filter(pl.col(smaller) > pl.col(larger))
    if wrong.height:
        row, most, found = wrong.select("row", larger, smaller).row(0)
        raise TableError(
            f"{source}, row {row}, column '{smaller}': found {found}, above {larger} = {most}. "
            "Allowed: m3 <= m2 <= m1 <= n_usable."
        )
