"""``molaudit read``: a reply, a table, a body; what it prints, writes and refuses."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from shared_data import DATA, needs_data

import molaudit
from molaudit.engine import cli, models


def _read(*arguments: object) -> int:
    return cli.main(["read", *map(str, arguments)])


def _lines(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    shown = capsys.readouterr().out
    return {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[1] for line in shown.splitlines()}


def test_a_reply_is_shown_with_its_number_rule_candidates_and_flags(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _read("--text", "Benzene has \u22121.64.\n**Predicted logS: \u2248 \u22123.10**") == 0
    shown = _lines(capsys)
    assert shown["number"] == "-3.10"
    assert shown["written"] == "\u22123.10"
    assert shown["rule"].startswith("answer-line: ")
    assert shown["others"] == "-1.64"
    assert shown["figures"] == "3 written, 2 without trailing zeros"


def test_every_flag_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    _read("--text", "Final answer: -2.8\nFinal answer: about -3.15 kJ/mol", "--unit", "kcal/mol")
    flags = [line for line in capsys.readouterr().out.splitlines() if line.startswith("flags")]
    assert [line.split()[1] for line in flags] == ["approximate:", "unit-mismatch:", "others:", "several:"]


def test_a_reply_comes_from_a_file_or_from_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reply.txt").write_text("<think>maybe 2</think>\nAnswer: -3.05", encoding="utf-8")
    assert _read(tmp_path / "reply.txt") == 0
    assert _lines(capsys)["number"] == "-3.05"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("Antwort: \u22123,05".encode())))
    assert _read("-", "--decimal-comma") == 0
    assert _lines(capsys)["number"] == "-3.05"


def test_a_decimal_comma_is_ambiguous_and_the_way_on_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert _read("--text", "Antwort: 3,18") == 0
    shown = capsys.readouterr().out
    assert "ambiguous" in shown
    assert "--decimal-comma" in shown


def test_hostile_text_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    _read("--text", "\x1b[2J\u202e1\u2009234\x07,5\x9b31m and 3\x1b]0;x\x07,7")
    shown = capsys.readouterr().out
    assert all(letter == "\n" or letter.isprintable() for letter in shown)


def test_a_table_gets_its_readings_beside_its_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "reply": ["Answer: \u22123.10", "=1+1 or 2.5", "about 2.5"],
            "n": ["1", "2", "3"],
        }
    ).write_csv(tmp_path / "replies.csv")
    assert _read(tmp_path / "replies.csv", "--column", "reply", "--out", tmp_path / "out.csv") == 0
    written = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert written.columns == ["id", "reply", "n", "kind", "value", "digits", "rule", "flags"]
    assert written["kind"].to_list() == ["point", "ambiguous", "point"]
    assert written["digits"].to_list() == ["-3.10", None, "2.5"]
    assert written["flags"].to_list()[2] == "approximate"
    assert written["reply"][1].startswith("'="), "a spreadsheet would run it"
    assert "3 replies written" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [".tsv", ".jsonl", ".parquet"])
def test_tables_of_other_kinds_are_read(tmp_path: Path, kind: str) -> None:
    frame = pl.DataFrame({"text": ["Answer: -3.10", "x"]})
    path = tmp_path / f"replies{kind}"
    if kind == ".parquet":
        frame.write_parquet(path)
    elif kind == ".jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t")
    assert _read(path, "--column", "text", "--out", tmp_path / "out.parquet") == 0
    assert pl.read_parquet(tmp_path / "out.parquet")["value"].to_list() == [-3.1, None]


@needs_data
def test_the_fixture_of_replies_goes_through_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixture = DATA / "fixtures/reply_texts.csv"
    assert _read(fixture, "--column", "text", "--out", tmp_path / "out.csv") == 0
    assert "column 'kind' of the input is written as 'input_kind'" in capsys.readouterr().out
    with fixture.open(newline="", encoding="utf-8") as stream:
        expected = list(csv.DictReader(stream))
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        found = list(csv.DictReader(stream))
    for want, got in zip(expected, found, strict=True):
        assert (got["id"], got["kind"]) == (want["id"], want["kind"])
        assert (float(got["value"]) if got["value"] else None) == (
            float(want["value"]) if want["value"] else None
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["t.csv"], "name the column that holds the replies (--column NAME --out TABLE)"),
        (["t.csv", "--column", "text"], "name the table to write (--out TABLE.csv)"),
        (["t.csv", "--column", "txt", "--out", "o.csv"], "Did you mean 'txt' by 'text'?"),
        (["t.csv", "--column", "text", "--out", "o.pdf"], "unknown kind of table. Allowed: .csv, .parquet."),
        (["t.csv", "--column", "text", "--out", "t.csv/o.csv"], "cannot be written"),
        (["nothing.txt"], "no such file"),
        (["r.bin"], "is not UTF-8"),
        (["r.txt", "--out", "o.csv"], "one reply is shown, not written"),
        (["--text", "5", "--column", "text"], "--text is one reply"),
        (
            ["twice.csv", "--column", "text", "--out", "o.csv"],
            "columns 'kind' and 'input_kind' are there already",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_message(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("id,text\n1,5\n")
    Path("twice.csv").write_text("text,kind,input_kind\n5,a,b\n")
    Path("r.bin").write_bytes(b"\xff\x01")
    Path("r.txt").write_text("5")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert _read(*arguments) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.startswith("molaudit read: ")
    assert "Traceback" not in shown.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_bodies_are_handed_to_their_decoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Path, dict[str, Any]]] = []

    def run(path: Path, **options: Any) -> int:
        asked.append((path, options))
        return 0

    stub = SimpleNamespace(run=run)
    monkeypatch.setitem(sys.modules, "molaudit.engine.models.bodies", stub)
    monkeypatch.setattr(models, "bodies", stub, raising=False)
    body, many = tmp_path / "b.json", tmp_path / "b.jsonl"
    assert _read(body, "--dialect", "openai-chat", "--status", "429") == 0
    assert _read(many, "--out", "o.csv") == 0
    assert asked == [
        (body, {"dialect": "openai-chat", "status": 429, "out": None}),
        (many, {"dialect": None, "status": 200, "out": Path("o.csv")}),
    ]


def test_the_public_function_gives_the_same_reading() -> None:
    answer = molaudit.read("Answer: 3,18 kJ/mol", unit="kcal/mol", decimal_comma=True)
    assert (answer.digits, answer.unit) == ("3.18", "kJ/mol")
    assert "unit-mismatch" in answer.flags
