"""``molaudit pairs`` from the outside: files in, files out, faults in one message."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from molaudit.engine import cli
from molaudit.engine.diagnostic.columns import COLUMNS

BACE = """smiles,class
CCCCCCCCc1ccccc1O,1

CCCCCCCCc1ccccc1N,0
CCCCCCCCc1ccccc1,1
"""
ODOR = """smiles,descriptors
CC[C@@H](C)C(=O)O,cheesy;sweaty
CC[C@H](C)C(=O)O,fruity;sweet
"""
AUDIT = """
[run]
seed = 3

[[task]]
name = "inhibitors"
kind = "bace"
file = "bace.csv"
draw = "all"
tanimoto = 0.6

[[task]]
kind = "chirality-odor"
files = ["odor.csv"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bace.csv").write_text(BACE)
    (tmp_path / "odor.csv").write_text(ODOR)
    (tmp_path / "audit.toml").write_text(AUDIT)
    return tmp_path


def run(folder: Path, *more: str) -> int:
    return cli.main(["pairs", str(folder / "audit.toml"), "--out", str(folder / "out"), *more])


def test_pairs_funnel_and_drawings_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    table = pl.read_parquet(folder / "out" / "pairs.parquet")
    assert table.columns == list(COLUMNS)
    assert table["task"].unique(maintain_order=True).to_list() == ["inhibitors", "chirality-odor"]
    as_text = pl.read_csv(folder / "out" / "pairs.csv", infer_schema=False)
    assert as_text.columns == table.columns
    assert as_text["description"].to_list() == table["description"].to_list()
    funnel = pl.read_csv(folder / "out" / "funnel.csv")
    assert funnel.columns == ["task", "step", "count"]
    assert funnel.filter(task="inhibitors", step="records")["count"].item() == 3
    drawings = {path.relative_to(folder / "out" / "drawings") for path in (folder / "out").rglob("*.svg")}
    assert drawings == {Path(row["task"]) / f"{row['sample']}.svg" for row in table.iter_rows(named=True)}
    said = json.loads((folder / "out" / "pairs.json").read_text())
    assert said["seed"] == 3
    assert set(said["inputs"]) == {str(folder / "bace.csv"), str(folder / "odor.csv")}
    assert said["tasks"][0]["thresholds"] == {"tanimoto": 0.6, "heavy_atoms": 3, "fragment": 4}
    shown = capsys.readouterr().out
    assert f"inhibitors: {table.filter(task='inhibitors').height} samples" in shown
    assert "1 blank line skipped" in shown


def test_one_task_alone_and_no_drawings(folder: Path) -> None:
    assert run(folder, "--task", "chirality-odor", "--no-drawings") == 0
    table = pl.read_parquet(folder / "out" / "pairs.parquet")
    assert table["kind"].unique().to_list() == ["chirality-odor"]
    # Two sets of two descriptors: each is the other's target, so none is disjoint from both.
    assert table["false_label"].to_list() == [None, None]
    assert not (folder / "out" / "drawings").exists()


def test_same_files_give_the_same_bytes(folder: Path) -> None:
    assert run(folder) == 0
    first = (folder / "out" / "pairs.csv").read_bytes()
    assert run(folder) == 0
    assert (folder / "out" / "pairs.csv").read_bytes() == first


@pytest.mark.parametrize(
    ("change", "more", "message"),
    [
        (("", ""), ("--task", "bace"), "--task: found 'bace'; "),
        (('file = "bace.csv"', 'file = "bcae.csv"'), (), "Did you mean bace.csv"),
        (('"bace"\nfile', '"hiv"\nfile'), (), "column HIV_active is missing"),
        (("tanimoto = 0.6", "tanimoto = 6"), (), "tanimoto = 6"),
    ],
)
def test_fault_is_one_message_and_nothing_is_written(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, str],
    more: tuple[str, ...],
    message: str,
) -> None:
    (folder / "audit.toml").write_text(AUDIT.replace(*change))
    assert run(folder, *more) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert not list((folder / "out").rglob("*")) if (folder / "out").exists() else True


def test_bad_label_is_told_with_file_and_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bace.csv").write_text(BACE.replace("O,1", "O,maybe"))
    assert run(folder) == 2
    assert f"{folder / 'bace.csv'}, row 2: class = 'maybe'; allowed: 0 and 1" in capsys.readouterr().err


def test_a_paraphrase_is_kept_only_if_the_edit_reads_back_from_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--no-drawings", "--task", "inhibitors") == 0
    ours = pl.read_parquet(folder / "out" / "pairs.parquet")
    rows = ours.head(2).rows(named=True)
    right = (
        f"In {rows[0]['edit_mapped']} , exchange ({rows[0]['edit_removed']}) for ({rows[0]['edit_added']})."
    )
    wrong = (
        f"In {rows[1]['edit_mapped']} , exchange ({rows[1]['edit_added']}) for ({rows[1]['edit_removed']})."
    )
    table = pl.DataFrame({"sample": [one["sample"] for one in rows], "text": [right, wrong]})
    table.write_csv(folder / "words.csv")
    said = ("--no-drawings", "--task", "inhibitors", "--paraphrases", str(folder / "words.csv"))
    assert run(folder, *said) == 0
    assert "1 of 2 paraphrases kept" in " ".join(capsys.readouterr().out.split())
    found = pl.read_parquet(folder / "out" / "pairs.parquet")
    assert found["description"].to_list() == [right, *ours["description"].to_list()[1:]]
    assert found["description_style"][0] == "paraphrase of " + ours["description_style"][0]
    assert found.drop("description", "description_style").equals(
        ours.drop("description", "description_style")
    )


def test_a_paraphrase_of_no_pair_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "words.csv").write_text("sample,text\nnobody,words\n")
    assert run(folder, "--no-drawings", "--paraphrases", str(folder / "words.csv")) == 2
    assert "words.csv, row 2: no pair has the sample 'nobody'" in capsys.readouterr().err
