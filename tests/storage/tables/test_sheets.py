"""Spreadsheets: text stays as it was written, numbers are floats and that is said."""

from __future__ import annotations

import io
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import Workbook

from molaudit.storage.errors import TableError
from molaudit.storage.tables import imports


def workbook(folder: Path, *sheets: tuple[str, list[list[Any]]], name: str = "lab.xlsx") -> Path:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    path = folder / name
    book.save(path)
    return path


HEAD = ["Compound ID", "smiles", "label"]


def test_text_keeps_its_zeros_and_numbers_are_said_to_lose_them(tmp_path: Path) -> None:
    rows = [HEAD, ["a", "CO", "2.50"], [17, "CC", 2.5], [None, None, None], ["c", "CCC", -1e-7]]
    path = workbook(tmp_path, ("data", rows))
    found = imports.load_labels(path)
    assert found.frame.select("row", "benchmark", "molecule", "label").rows() == [
        (2, "lab", "a", "2.50"),
        (3, "lab", "17", "2.5"),
        (5, "lab", "c", "-1e-07"),
    ]
    assert found.left_out == {"blank line": 1}
    assert (
        f"{path}, sheet 'data', column 'label': 2 of 3 cells are numbers and not text; a number does not keep zeros "
        "written at its end (2.50)."
    ) in found.notes


def test_labels_of_text_alone_are_not_warned_of(tmp_path: Path) -> None:
    found = imports.load_labels(workbook(tmp_path, ("data", [HEAD, [1, "CO", "2.50"]])))
    assert found.frame["label"].to_list() == ["2.50"]
    assert not [note for note in found.notes if "numbers" in note]


def test_the_first_sheet_that_holds_anything_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    rows = [[], ["", "molecule", "label"], ["", "a", "1.23"]]
    path = workbook(tmp_path, ("empty", []), ("data", rows), ("more", [["x"]]))
    found = imports.load_labels(path)
    assert found.frame.select("row", "molecule", "label").rows() == [(3, "a", "1.23")]
    assert f"{path}: sheet 'data' is read; not read: more." in found.notes


def test_answers_are_read_from_sheets_too(tmp_path: Path) -> None:
    rows = [["model", "molecule", "prediction", "sample"], ["m", 1, "2.50", 0], ["m", 2, 3, 0.0]]
    found = imports.load_answers(workbook(tmp_path, ("data", rows), name="ans.xlsx"))
    assert found.frame.select("molecule", "prediction", "sample").rows() == [("1", "2.50", 0), ("2", "3", 0)]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [HEAD, ["a", "CO", date(2026, 3, 5)]],
            "row 2, column 'label': found a date (2026-03-05). Allowed: text, a",
        ),
        ([["molecule", "value"], ["a", 1]], "column label is missing"),
        ([HEAD], "column names and no rows"),
        ([], "the workbook is empty"),
    ],
)
def test_sheets_that_cannot_be_used_are_refused(tmp_path: Path, rows: list[list[Any]], says: str) -> None:
    path = workbook(tmp_path, ("data", rows))
    with pytest.raises(TableError) as caught:
        imports.load_labels(path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def other_archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", "no sheet")
    return stream.getvalue()


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"molecule,label\na,1\n", other_archive()])
@pytest.mark.parametrize("name", ["x.xlsx", "x.xls", "x.ods"])
def test_bytes_that_are_no_workbook_are_refused(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match="not a readable spreadsheet"):
        imports.load_labels(tmp_path / name)


def test_cells_of_score_in_a_sheet_are_judged_as_given(tmp_path: Path) -> None:
    rows = [
        ["benchmark", "model", "arm", "n_usable", "m1", "m2", "m3", "note"],
        ["b", "m", "x", 20, 10, 4, 0, 1.5],
    ]
    found = imports.load_cells(workbook(tmp_path, ("cells", rows)))
    assert found.row(0) == ("b", "m", "x", 20, 10, 4, 0, "1.5")
    assert found.schema["m1"] == pl.Int64
