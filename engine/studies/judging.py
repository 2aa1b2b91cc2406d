"""Verdicts for a table of counts that somebody else made."""

from __future__ import annotations

import polars as pl

from ..errors import InputError
from .settings import Correction
from .verdicts import judge

ADDED = ("p12", "p23", "q12", "q23", "verdict", "evidence", "regime", "hit3", "hit3_upper")


def zero_floors(floors: pl.DataFrame) -> list[str]:
    """Say which rungs stay untested since their floor is 0: one agreement would make p 0 there."""
    return [
        f"{row['benchmark']}: {name} is 0, so {rung} is not tested: the floor was measured on too few labels"
        for row in floors.iter_rows(named=True)
        for name, rung in (("floor12", "R12"), ("floor23", "R23"))
        if row.get(name) == 0
    ]


def judge_counts(
    cells: pl.DataFrame, floors: pl.DataFrame, alpha: float, correction: Correction
) -> pl.DataFrame:
    """Return the table with `ADDED`, rows in order.

    Parameters
    ----------
    cells
        ``benchmark, model, n_usable, m1, m2, m3`` and ``arm``, or ``condition`` and ``effort`` as in the cells of a
        scored run; optional ``family``, the set of cells that are corrected together (default: the arm, or condition
        and effort).
    floors
        ``benchmark`` and ``floor12, floor23, floor_hit1``; a null floor makes a cell untestable, a floor of 0 leaves
        its rung untested, and without
        ``floor_hit1`` no cell can be called ``no-signal``.

    Raises
    ------
    InputError
        A benchmark has no row in the floors, or a needed floor column is missing.
    """
    for column in ("floor12", "floor23"):
        if column not in floors.columns:
            raise InputError(f"floors: column {column!r} is missing; found {', '.join(floors.columns)}")
    missing = sorted(set(cells["benchmark"].to_list()) - set(floors["benchmark"].to_list()))
    if missing:
        raise InputError(
            f"floors: no row for benchmark {', '.join(map(repr, missing))}; "
            f"found {', '.join(map(repr, floors['benchmark'].to_list()))}"
        )
    if "floor_hit1" not in floors.columns:
        floors = floors.with_columns(floor_hit1=pl.lit(None, dtype=pl.Float64))
    tests = cells.select("benchmark", "n_usable", "m1", "m2", "m3", family=_family(cells.columns)).join(
        floors.select("benchmark", "floor12", "floor23", "floor_hit1"),
        on="benchmark",
        how="left",
        maintain_order="left",
    )
    tests = tests.with_columns(
        hits12="m2", trials12="m1", hits23="m3", trials23="m2", hits3="m3", n_hit3="n_usable"
    )
    judged = judge(tests, alpha=alpha, correction=correction)
    return cells.with_columns(judged[name] for name in ADDED)


def _family(found: list[str]) -> pl.Expr:
    """Which cells are corrected together: as the table says, else those of an arm or condition, and of an effort.

    A scored run corrects the cells of one condition and effort together, whatever else it says of them.
    """
    named = [name for name in ("arm", "condition") if name in found]
    together = pl.coalesce(*named) if named else pl.lit(None, pl.String)
    if "effort" in found:
        together = pl.concat_str(together.fill_null(""), pl.col("effort").fill_null(""), separator="\x1f")
    return pl.coalesce("family", together) if "family" in found else together
