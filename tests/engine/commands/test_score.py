"""The scoring commands as a stranger meets them: files by hand in, files and a message out, never a traceback."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from shared_data import DATA, needs_data

import molaudit
from molaudit.engine import cli
from molaudit.engine.errors import SettingsError

MOLECULES = [f"mol{i}" for i in range(40)]
LABELS = [f"{1.11 + 0.317 * i:.2f}" for i in range(40)]
QUICK = ["--repeats", "20", "--resamples", "20"]
ISSUED = (  # as promised to whoever reads the files
    "benchmark, model, condition, effort, n_asked, n_pred, n_usable, m1, m2, m3, h1, h2, h3, R12, R12_low, R12_high, "
    "R23, R23_low, R23_high, hit3, hit3_low, hit3_high, floor12, floor23, p12, p23, q12, q23, verdict, evidence, "
    "regime, hit3_upper, p12_matched, p23_matched, p12_skill, p23_skill, exact, off_by_one, p_core, p_near, n_near, "
    "stands, hit3_if_missing_wrong, hit3_if_missing_right, n_approximate, n_distinct, top_share, cautions, mae, "
    "medae, rmse, pearson, spearman"
)

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command in a folder with good answers and labels; return exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    Path("ans.csv").write_text(table("model,molecule,answer", [("m", *row) for row in rows()]))
    Path("lab.csv").write_text(table("molecule,label", rows()))

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = cli.main(list(arguments))
        except SystemExit as end:
            code = int(str(end.code))
        out, err = capsys.readouterr()
        assert not [letter for letter in out + err if letter != "\n" and not letter.isprintable()]
        return code, out, err

    return run


def rows() -> list[tuple[str, str]]:
    return list(zip(MOLECULES, LABELS, strict=True))


def table(head: str, body: list[tuple[str, ...]], separator: str = ",") -> str:
    return "\n".join([head.replace(",", separator), *(separator.join(row) for row in body)]) + "\n"


def score(say: Say, answers: str = "ans.csv", labels: str = "lab.csv", *more: str) -> tuple[int, str, str]:
    return say("score", answers, "--labels", labels, "--out", "out", *QUICK, *more)


def test_output_has_every_promised_column_and_file(say: Say) -> None:
    code, out, _ = score(
        say, "ans.csv", "lab.csv", "--protocol", "blinding", "--samples", "pool", "--seed", "7"
    )
    assert code == 0
    cells = pl.read_parquet("out/cells.parquet")
    errors = [
        f"{m}{end}" for m in ("mae", "medae", "rmse", "pearson", "spearman") for end in ("_low", "_high")
    ]
    blinding = ["match3", "total3", "m1_2", "m2_2", "m2_3", "m3_3"]
    assert not {*re.findall(r"\w+", ISSUED), *errors, *blinding} - set(cells.columns)
    assert pl.read_csv("out/cells.csv").columns == cells.columns
    pairs = pl.read_parquet("out/pairs.parquet")
    assert not {"text", "value", "depth", "left_out", "answer_code3", "label_code1"} - set(pairs.columns)
    assert pairs.height == len(MOLECULES)
    run = json.loads(Path("out/run.json").read_text())
    assert (run["seed"], run["settings"]["protocol"], run["settings"]["samples"]) == (7, "blinding", "pool")
    assert set(run["inputs"]) == {"ans.csv", "lab.csv"}
    assert pl.read_csv("out/floors.csv").columns[:3] == ["benchmark", "n_label", "mode12"]
    assert "1 cell written to out" in out


def test_same_seed_gives_the_same_bytes_on_one_thread(say: Say) -> None:
    def files(folder: str, threads: str) -> dict[str, bytes]:
        arguments = ["score", "ans.csv", "--labels", "lab.csv", "--out", folder, *QUICK, "--seed", "3"]
        subprocess.run(
            [sys.executable, "-m", "molaudit", *arguments],
            check=True,
            capture_output=True,
            env=os.environ | {"NUMBA_NUM_THREADS": threads},
        )
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}

    assert files("one", "1") == files("two", "2")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "", "a.csv: the file is empty"),
        ("a.csv", "model,molecule,answer\n", "a.csv: the file has column names and no rows"),
        ("a.csv", "model,answer\nm,1\n", "none of the columns molecule, smiles is there"),
        ("a.csv", "model,molecul,answer\nm,mol0,1\n", "Did you mean 'molecule' by 'molecul'"),
        ("a.csv", "model;molecule;answer\nm;mol0;1\n", "separated by semicolons"),
        ("a.csv", "model,molecule,answer\nm,mol0,1,2\n", "a.csv, row 2: found 4 fields"),
        ("a.csv", b"model,molecule,answer\nm,mol0,1\nm,caf\xe9,1\n", "a.csv, row 3: byte 0xe9"),
        ("a.csv", "model,molecule,answer,sample\nm,mol0,1,x\n", "a.csv, row 2, column 'sample': found 'x'"),
        ("a.csv", "model,molecule,answer\nm,nowhere,1\n", "a.csv, row 2: no answer meets a label"),
        ("a.csv", "model,molecule,answer,benchmark\nm,mol0,1,A\nm,mol1,1,B\n", "no benchmark in common"),
        ("a.csv", "model,molecule,answer\n,mol0,1\n", "no usable answer (no model: 1)"),
        ("a.jsonl", '{"model": "m"\n', "a.jsonl, row 1: not valid JSON"),
        ("a.parquet", "PAR1", "a.parquet: not a readable Parquet file"),
        ("a.xlsx", b"PK\x03\x04", "a.xlsx: not a readable spreadsheet"),
        ("a.json", "{}", "a.json: not an Inspect log"),
        ("\x1b[31m.csv", "", "\\x1b[31m.csv: the file is empty"),
    ],
)
def test_unusable_answers_are_one_message(say: Say, name: str, content: str | bytes, said: str) -> None:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, _, err = score(say, name)
    assert code == 2
    assert said in err
    assert err.startswith("molaudit score: ")
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("molecule,label,unit\nmol0,1.23,K\nmol1,1.24,C\n", "labels.csv, row 3, column 'unit': found 'C'"),
        ("molecule,Value\nmol0,1\n", "Is 'Value' meant to be 'label'"),
        ('molecule,label\nmol0,"1,23"\n', "if it is a decimal comma, say --decimal-comma"),
        ("molecule,label\nmol0,n/a\n", "no usable label (label is not a number: 1)"),
        (
            "molecule,label,benchmark\nmol0,1,A\nmol1,1,B\n",
            "name no benchmark, and the labels hold 2: 'A', 'B'",
        ),
        ("molecule,label,kind\nmol0,1,guessed\n", "row 2, column 'kind': found 'guessed'"),
    ],
)
def test_unusable_labels_are_one_message(say: Say, content: str, said: str) -> None:
    Path("labels.csv").write_text(content)
    code, _, err = score(say, "ans.csv", "labels.csv")
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    "write",
    [
        lambda text: ("a.csv", b"\xef\xbb\xbf" + text.encode()),
        lambda text: ("a.csv", text.replace("\n", "\r\n\r\n").encode()),
        lambda text: ("a.tsv", text.replace(",", "\t").encode()),
        lambda text: ("a.csv", text.encode("utf-16")),
        lambda text: ("a.csv", text.replace(",1", ",+1").encode()),
    ],
    ids=["BOM", "blank lines", "TSV", "UTF-16", "signs"],
)
def test_other_writings_of_the_same_answers_give_the_same_counts(
    say: Say, write: Callable[[str], tuple[str, bytes]]
) -> None:
    score(say)
    counts = ["model", "n_asked", "n_pred", "n_usable", "m1", "m2", "m3"]
    expected = pl.read_parquet("out/cells.parquet").select(counts)
    name, content = write(Path("ans.csv").read_text())
    Path(name).write_bytes(content)
    assert score(say, name)[0] == 0
    assert pl.read_parquet("out/cells.parquet").select(counts).equals(expected)


def test_what_is_left_out_is_counted_in_cells_and_shown(say: Say) -> None:
    replies = ["no idea", "", "between 1 and 2", "-3,05", "1.43"]
    body = [("m", m, f'"{a}"') for m, a in zip(MOLECULES, replies, strict=False)]
    Path("a.csv").write_text(
        table("model,molecule,answer", [*body, ("m", "nowhere", "1"), ("", "mol0", "1")])
    )
    Path("l.csv").write_text(table("molecule,label", [*rows(), ("mol4", "9.99"), ("mol5", "n/a")]))
    code, out, _ = score(say, "a.csv", "l.csv")
    assert code == 0
    cell = pl.read_parquet("out/cells.parquet").row(0, named=True)
    lost = {k.removeprefix("left_out_"): v for k, v in cell.items() if k.startswith("left_out_") and v}
    assert lost == {"no_number": 1, "empty": 1, "range": 1, "ambiguous": 1, "conflict": 1, "unmatched": 1}
    assert all(reason in out for reason in lost)
    left_out = json.loads(Path("out/run.json").read_text())["rows_left_out"]
    assert left_out == {"no model": 1, "label is not a number": 1}
    assert "a.csv, row 8: left out (no model)" in out


def test_few_labels_and_unreadable_samples_are_untestable_not_errors(say: Say) -> None:
    Path("l.csv").write_text(table("molecule,label", rows()[:12]))
    Path("a.csv").write_text(table("model,molecule,answer", [("m", m, "no idea") for m in MOLECULES[:12]]))
    for answers in ("ans.csv", "a.csv"):
        assert score(say, answers, "l.csv")[0] == 0
        assert pl.read_parquet("out/cells.parquet")["verdict"].to_list() == ["untestable"]


def test_formulas_and_escapes_in_names_are_inert(say: Say) -> None:
    names = ["=cmd|' /C calc'!A0", "\x1b[2J", "[bold]x[/] [/y]", "a\u202eb"]
    body = [(f'"{name}"', *row) for name in names for row in rows()]
    Path("a.csv").write_text(table("model,molecule,answer", body))
    code, out, _ = score(say, "a.csv")
    assert code == 0
    assert "[bold]x[/] [/y]" in out
    assert pl.read_csv("out/cells.csv")["model"][0] == "'" + names[0]
    assert pl.read_parquet("out/cells.parquet")["model"].to_list() == names


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_said_before_the_work(say: Say, folder: str) -> None:
    Path("file").write_text("kept")
    code, _, err = score(say, "missing.csv", "lab.csv", "--out", folder)
    assert code == 2
    assert f"--out {folder}" in err
    assert Path("file").read_text() == "kept"


def test_floors_feed_judge_and_limits(say: Say) -> None:
    score(say)
    assert say("floors", "lab.csv", "--out", "floors.csv", "--repeats", "20")[0] == 0
    assert pl.read_csv("floors.csv").equals(pl.read_csv("out/floors.csv"))
    cells = pl.read_csv("out/cells.csv").select(
        "benchmark", "model", "n_usable", "m1", "m2", "m3", arm=pl.lit("x")
    )
    cells.write_csv("cells.csv")
    assert say("judge", "cells.csv", "--floors", "floors.csv", "--out", "judged")[0] == 0
    added = ["p12", "p23", "q12", "q23", "verdict", "evidence", "regime", "hit3", "hit3_upper"]
    judged = pl.read_csv("judged/judged.csv")
    assert judged.columns == [*cells.columns, *added]
    assert judged.select(added).equals(pl.read_csv("out/cells.csv").select(added))
    assert say("limits", "--floors", "floors.csv", "--n", "15,30", "--out", "limits.parquet")[0] == 0
    limits = pl.read_parquet("limits.parquet")
    assert limits.columns == ["benchmark", "stat", "n", "floor", "k_min"]
    assert limits["stat"].unique().sort().to_list() == ["R12", "R23", "hit1", "hit3"]
    pl.read_csv("floors.csv").select("benchmark", "floor12", "floor23").write_csv("few.csv")
    code, out, _ = say("judge", "cells.csv", "--floors", "few.csv", "--out", "judged")
    assert code == 0
    assert "few.csv has no floor_hit1" in out


def test_judge_reads_the_cells_that_score_wrote(say: Say) -> None:
    # Two conditions and two efforts: verdicts depend on which cells are corrected together.
    body = [
        (model, molecule, label if int(molecule[3:]) % step else "9.99", condition, effort)
        for model, step in (("m", 3), ("n", 2))
        for condition, effort in (("plain", "low"), ("plain", ""), ("blind", "low"))
        for molecule, label in rows()
    ]
    Path("ans.csv").write_text(table("model,molecule,answer,condition,effort", body))
    assert score(say)[0] == 0
    for kind in ("csv", "parquet"):
        code, _, err = say("judge", f"out/cells.{kind}", "--floors", "out/floors.csv", "--out", "judged")
        assert (code, err) == (0, "")
        judged, scored = pl.read_csv("judged/judged.csv"), pl.read_csv("out/cells.csv")
        assert judged.height == 6
        same = [
            "benchmark",
            "model",
            "condition",
            "effort",
            "p12",
            "p23",
            "q12",
            "q23",
            "verdict",
            "evidence",
        ]
        assert judged.select(same).equals(scored.select(same))


WRONG_TABLES = [
    (
        "lab;el.csv",
        "molecule;label\nmol0;1.23\n",
        "molaudit score: lab;el.csv: fields seem to be separated by semicolons; expected commas. Allowed: commas in "
        ".csv, tabs in .tsv.\n",
    ),
    (
        "commas.csv",
        'molecule,label\nmol0,"1,23"\nmol1,"1,54"\n',
        "molaudit score: commas.csv: no usable label (label is not a number: 2). commas.csv, column 'label', rows 2 "
        "and 3: '1,23' has a comma; if it is a decimal comma, say --decimal-comma.\n",
    ),
    (
        "names.csv",
        "id,value\nmol0,1.23\n",
        "molaudit score: names.csv: column label is missing; none of the columns molecule, smiles is there. Needed: "
        "label, and at least one of molecule, smiles. Found: id, value. Is 'value' meant to be 'label'? Then rename "
        "it. Is 'id' meant to be 'molecule'? Then rename it.\n",
    ),
    (
        "twice.csv",
        "molecule,label,label\nmol0,1.23,1.24\n",
        "molaudit score: twice.csv: column 'label' occurs 2 times. Each name may occur once.\n",
    ),
    (
        "ragged.csv",
        "molecule,label\n2,4-dinitrophenol,1.23\n",
        "molaudit score: ragged.csv, row 2: found 3 fields, the header has 2. A field that holds the separator must "
        "be quoted. The row begins '2', '4-dinitrophenol', '1.23'.\n",
    ),
    (
        "numbers.csv",
        "molecule,smiles,label\nmol0,CCO,1.23\nmol1,CCC,n/a\nmol2,CCCC,> 5\n",
        None,
    ),
    (
        "unit.csv",
        "molecule,label,unit\nmol0,1.23,K\nmol1,1.54,C\n",
        "molaudit score: unit.csv, row 3, column 'unit': found 'C', but benchmark 'unit' has 'K' in unit.csv, row 2. "
        "Allowed: one unit for each benchmark.\n",
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "message"), WRONG_TABLES, ids=[name for name, _, _ in WRONG_TABLES]
)
def test_typical_mistakes_in_tables_are_said_whole(
    say: Say, name: str, content: str, message: str | None
) -> None:
    Path(name).write_text(content)
    code, out, err = score(say, "ans.csv", name)
    if message is None:
        # Some rows are of use: what is not is counted, and named.
        assert (code, err) == (0, "")
        noted = " ".join(out.split())
        assert "numbers.csv, rows 3 and 4: left out (label is not a number)." in noted
        left_out = json.loads(Path("out/run.json").read_text())["rows_left_out"]
        assert left_out == {"label is not a number": 2}
    else:
        assert (code, err) == (2, message)


@pytest.mark.parametrize("command", [["floors", "lab.csv"], ["limits", "--floors", "missing.csv"]])
def test_a_name_without_a_known_kind_is_refused_before_the_work(say: Say, command: list[str]) -> None:
    code, _, err = say(*command, "--out", "table.txt")
    assert code == 2
    assert "table.txt: unknown kind of table. Allowed: .csv, .parquet" in err


@needs_data
def test_published_map_comes_out_of_judge(say: Say) -> None:
    folder = DATA / "published/recall"
    published = pl.read_csv(folder / "cells.csv").rename({"dataset": "benchmark"})
    published.write_csv("cells.csv")
    pl.read_csv(folder / "label_floor.csv").select(
        benchmark="dataset",
        floor12=pl.col("mode_R12") / 100,
        floor23=pl.col("mode_R23") / 100,
        floor_hit1=pl.col("floor_hit1") / 100,
    ).write_csv("floors.csv")
    assert say("judge", "cells.csv", "--floors", "floors.csv", "--out", "judged")[0] == 0
    judged = pl.read_csv("judged/judged.csv")
    assert judged["regime"].to_list() == published["regime"].to_list()
    flagged = judged.filter(pl.col("verdict") == "flagged")["arm"].value_counts()
    assert dict(flagged.iter_rows()) == {"t1024": 89, "reg": 47, "t1024r": 12}


def in_another_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "molaudit", *arguments],
        capture_output=True,
        encoding="ascii",
        env=os.environ | environment,
        check=False,
    )


def test_ascii_terminals_of_80_columns_show_everything(say: Say) -> None:
    name = "a-model-with-a-very-long-name-\u00e9-mini"
    body = [(name, *row) for row in rows()]
    Path("a.csv").write_text(table("model,molecule,answer", body), encoding="utf-8")
    options = {"PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    done = in_another_process("score", "a.csv", "--labels", "lab.csv", "--out", "out", *QUICK, **options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "flagged" in done.stdout
    done = in_another_process("floors", "lab.csv", "--out", "f.csv", "--repeats", "20", **options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "floor_hit1" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_output_to_a_full_disk_is_one_message(say: Say) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "molaudit", "floors", "lab.csv", "--out", "f.csv", "--repeats", "20"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "molaudit floors: cannot write: No space left on device"
    assert "Traceback" not in done.stderr


def test_kind_of_the_power_file_is_refused_before_the_simulation(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(*_: object, **__: object) -> None:
        raise AssertionError("the work that would be lost has begun")

    monkeypatch.setattr("molaudit.engine.studies.power.power_tables", simulate)
    code, _, err = say("power", "lab.csv", "--out", "power.xlsx")
    assert code == 2
    assert err == "molaudit power: power.xlsx: unknown kind of table. Allowed: .csv, .parquet.\n"


def test_largest_seed_is_a_seed(say: Say) -> None:
    code, _, err = score(say, "ans.csv", "lab.csv", "--seed", str(2**63 - 1))
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [("repeats", 10**20), ("repeats", 2.5), ("repeats", math.nan), ("repeats", None), ("resamples", 10**20),
     ("resamples", True), ("seed", 1.5), ("seed", "1"), ("alpha", "x"), ("alpha", math.nan)],
)  # fmt: skip
def test_settings_of_a_wrong_kind_are_refused_by_the_api(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"{name}: found .*; allowed: a (whole )?number"):
        molaudit.score(pl.DataFrame(), pl.DataFrame(), **{name: value})


def test_seed_beyond_the_kernels_is_refused_by_the_api() -> None:
    with pytest.raises(SettingsError, match=r"seed: found 10+; allowed: a whole number from 0 to 2\^63 - 1"):
        molaudit.score(pl.DataFrame(), pl.DataFrame(), seed=10**30)


def test_approximate_answers_count_unless_they_are_to_be_left_out() -> None:
    labels = pl.DataFrame({"molecule": ["a", "b", "c"], "label": ["-3.18", "1.25", "2.34"]})
    answers = pl.DataFrame(
        {"model": "m", "molecule": ["a", "b", "c"], "answer": ["about -3.18", "1.25 ± 0.2", "2.34"]}
    )
    counted = molaudit.score(answers, labels)
    assert counted.cells["n_usable"].item() == 3
    assert ["approximate" in flags.split("; ") for flags in counted.pairs["flags"]] == [True, True, False]
    left_out = molaudit.score(answers, labels, approximate="leave-out")
    assert left_out.cells.select("n_usable", "left_out_uncertain").row(0) == (1, 2)


def test_a_decimal_comma_is_read_where_it_is_declared_and_named_where_it_is_not() -> None:
    labels = pl.DataFrame({"molecule": ["a", "b"], "label": ["-3.18", "1.25"]})
    answers = pl.DataFrame({"model": "m", "molecule": ["a", "b"], "answer": ["Antwort: -3,18", "1.25"]})
    plain = molaudit.score(answers, labels)
    assert plain.cells.select("n_usable", "left_out_ambiguous").row(0) == (1, 1)
    assert any("--decimal-comma" in note and "'-3,18'" in note for note in plain.notes)
    declared = molaudit.score(answers, labels, decimal_comma=True)
    assert declared.cells.select("n_usable", "m3").row(0) == (2, 2)
    assert not any("--decimal-comma" in note for note in declared.notes)
