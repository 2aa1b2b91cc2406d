"""What a narrow terminal shows of the cells."""

import io

import polars as pl
from rich.console import Console

from molaudit.engine.terminal import tables_of_cells


def shown(cells: pl.DataFrame) -> str:
    written = io.StringIO()
    console = Console(width=80, file=written)
    for table in tables_of_cells(cells, wide=False):
        console.print(table)
    return written.getvalue()


def test_skill_is_shown_where_it_weakens_a_flag() -> None:
    cells = pl.DataFrame(
        [
            ("predictor", "flagged", "skill"),
            ("recalled", "flagged", ""),
            ("honest", "clean", "skill"),
            ("constant", "clean", "skill; few answers"),
        ],
        schema=["model", "verdict", "cautions"],
        orient="row",
    ).with_columns(
        benchmark=pl.lit("b"),
        condition=pl.lit(None, pl.String),
        effort=pl.lit(None, pl.String),
        **{name: pl.lit(20) for name in ("m1", "m2", "m3")},
        **{name: pl.lit(0.5) for name in ("R12", "p12", "R23", "p23")},
    )
    _, cautions = shown(cells).split("Cautions")
    assert "predictor" in cautions
    assert "skill; few answers" in cautions
    assert "honest" not in cautions
    assert "recalled" not in cautions
