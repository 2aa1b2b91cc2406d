"""What a terminal of any width shows of the cells."""

import io
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from molaudit.engine.report.notebook import map_html
from molaudit.engine.report.terminal import plain_table, show_scores, table_of_left_out, tables_of_cells

NAMES = ("a-model-with-quite-a-long-name-2026-11-30", "reciter", "honest")


def cells(**changed: Any) -> pl.DataFrame:
    columns = {
        "benchmark": "crc-boiling-points",
        "model": list(NAMES),
        "condition": "zero_shot",
        "arm": "zero_shot",
        "effort": "minimum",
        "verdict": ["flagged", "flagged", "clean"],
        "stands": [True, False, None],
        "exact": [234, 20, 4],
        "off_by_one": [9, 18, 7],
        "cautions": ["", "skill R12; resolution", ""],
        "evidence": "both",
        "left_out_label_short": [94, 94, 94],
        **dict.fromkeys(("n_usable", "m1", "m2", "m3"), 405),
        **dict.fromkeys(("R12", "R23", "hit3", "floor12", "floor23"), 0.5),
        **dict.fromkeys(("p12", "p23", "p_core", "p_near"), 1.6e-97),
    }
    frame = pl.DataFrame(
        {name: value for name, value in (columns | changed).items() if isinstance(value, list)}
    )
    return frame.with_columns(
        pl.lit(value).alias(name)
        for name, value in (columns | changed).items()
        if not isinstance(value, list)
    )


def shown(*renderables: Any, width: int = 80) -> str:
    written = io.StringIO()
    console = Console(width=width, file=written)
    for each in renderables:
        console.print(each)
    return written.getvalue()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 150, 250])
def test_the_name_of_the_model_is_readable_at_every_width(width: int) -> None:
    for wide in (False, True):
        (table, *_) = tables_of_cells(cells(), wide=wide)
        written = shown(table, width=width)
        assert "reciter" in written
        # Folded or not, all of a long name is there.
        inside = [line.split("│") for line in written.splitlines() if "│" in line]
        folded = "".join(part[2 if wide else 1].strip() for part in inside[:4])
        assert NAMES[0].startswith(folded[:12])
        assert max(map(len, written.splitlines())) <= max(width, 40)


def test_columns_go_from_the_right_and_are_named() -> None:
    (table, *_) = tables_of_cells(cells(), wide=False)
    narrow, wide = shown(table, width=60), shown(table, width=200)
    assert "R23" not in narrow.split("not shown")[0]
    assert "not shown for want of width:" in narrow
    assert "R12, R23 (all are in cells.csv)" in " ".join(narrow.split())
    assert "not shown" not in wide
    for line in (narrow, wide):
        assert "verdict" in line.split("not shown")[0]


def test_verdict_whether_it_stands_exact_and_off_by_one_come_first() -> None:
    (table, *_) = tables_of_cells(cells(), wide=False)
    (row,) = [line for line in shown(table).splitlines() if line.startswith("│ reciter")]
    assert [part.strip() for part in row.strip("│").split("│")][:5] == [
        "reciter",
        "flagged",
        "no",
        "20",
        "18",
    ]


def test_only_cells_with_a_caution_are_among_the_cautions() -> None:
    for wide in (False, True):
        (*_, cautions) = tables_of_cells(cells(), wide=wide)
        written = shown(cautions)
        assert "skill R12; resolution" in written
        assert "honest" not in written
    assert len(tables_of_cells(cells(cautions=""), wide=True)) == 1


@pytest.mark.parametrize("width", [50, 80, 150])
def test_the_map_says_which_flags_stand(width: int) -> None:
    written = io.StringIO()
    show_scores(Console(width=width, file=written), cells(), ())
    text = written.getvalue().split("Cells")[0]
    assert text.count("stands") == 1
    assert text.count("doubtful") == 1
    assert "clean" in text


def test_the_notebook_says_exact_and_off_by_one() -> None:
    html = map_html(cells())
    assert "flagged stands 50.0%" in html
    assert "flagged doubtful 50.0%" in html
    assert "clean 50.0%" in html
    assert "234 exact, 9 off by one" in html


@pytest.mark.parametrize("width", [40, 60])
def test_other_tables_keep_their_first_column_too(width: int) -> None:
    many = pl.DataFrame({"benchmark": ["freesolv"], **{f"column{i}": [0.123456 * i] for i in range(12)}})
    assert "freesolv" in shown(plain_table(many, "Floors"), width=width)
    left_out = table_of_left_out(cells())
    assert "label_short" in shown(left_out, width=width)


def test_an_empty_table_is_shown() -> None:
    assert "benchmark" in shown(plain_table(pl.DataFrame({"benchmark": []}), "Floors"))
