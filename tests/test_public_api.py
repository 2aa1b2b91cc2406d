"""What ``import molaudit`` offers: a spelled-out signature, one set of defaults, frames and paths alike."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import molaudit
from molaudit.engine.commands import score as score_command
from molaudit.engine.report.terminal import show_scores
from molaudit.engine.studies.settings import CHOICES, ScoreSettings

ROOT = Path(__file__).resolve().parents[1]
QUICK: dict[str, Any] = {"repeats": 20, "resamples": 20}
LABELS = pl.DataFrame(
    {"molecule": [f"m{i}" for i in range(30)], "label": [f"{1.11 + 0.317 * i:.2f}" for i in range(30)]}
).with_columns(kind=pl.lit("measured"))
ANSWERS = LABELS.select(model=pl.lit("a model"), molecule="molecule", answer="label")

PROGRAM = """\
from pathlib import Path
from typing import assert_type

import polars as pl

import molaudit

frame = pl.DataFrame()
assert_type(molaudit.score(frame, "labels.csv", protocol="blinding", seed=1), molaudit.Scores)
assert_type(molaudit.score(["a.csv", Path("b.csv")], frame.lazy(), several_values=["bp"]).cells, pl.DataFrame)
assert_type(molaudit.run("audit.toml", yes=True), molaudit.AuditScores)
assert_type(molaudit.plan({"run": {}}).models, pl.DataFrame)


async def ask() -> molaudit.AuditScores:
    return await molaudit.arun(Path("audit.toml"), notify=print)
"""


def test_public_names_are_complete_and_star_import_works() -> None:
    names: dict[str, object] = {}
    exec("from molaudit import *", names)
    assert set(molaudit.__all__) == names.keys() - {"__builtins__"} == set(dir(molaudit))
    with pytest.raises(AttributeError, match="no attribute 'scroe'"):
        _ = molaudit.scroe  # type: ignore[attr-defined]


def test_settings_have_one_set_of_defaults() -> None:
    """The function, the dataclass behind it and the command line agree."""
    parser = argparse.ArgumentParser()
    score_command.configure(parser)
    command = vars(parser.parse_args(["a", "--labels", "l", "--out", "o"]))
    command["source_units"] = dict(command["source_units"])
    signature = inspect.signature(molaudit.score).parameters
    fields = {f.name for f in dataclasses.fields(ScoreSettings)}
    assert fields == set(signature) - {"answers", "labels"} == set(command) - {"answers", "labels", "out"}
    held = ScoreSettings()
    for name in fields:
        default = getattr(held, name)
        assert signature[name].default in (default, None if default == {} else default), name
        assert command[name] == (list(default) if isinstance(default, tuple) else default), name


def test_command_line_offers_the_allowed_choices() -> None:
    parser = argparse.ArgumentParser()
    score_command.configure(parser)
    offered = {action.dest: tuple(action.choices) for action in parser._actions if action.choices}
    assert offered == CHOICES


def test_paths_and_frames_of_any_kind_give_the_same_cells(tmp_path: Path) -> None:
    ANSWERS.write_csv(tmp_path / "a.csv")
    LABELS.write_csv(tmp_path / "labels.csv")
    first = molaudit.score(ANSWERS, LABELS, **QUICK).cells
    for answers, labels in (
        (ANSWERS.lazy(), LABELS.to_pandas()),
        (tmp_path / "a.csv", str(tmp_path / "labels.csv")),
        ([tmp_path / "a.csv"], LABELS),
    ):
        assert molaudit.score(answers, labels, **QUICK).cells.equals(first)


def test_notebook_shows_the_map_and_markup_stays_text() -> None:
    hostile = ANSWERS.with_columns(model=pl.lit("<script>alert(1)</script>\x1b[2J"))
    shown = molaudit.score(hostile, LABELS, **QUICK)._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "<table>" in shown
    assert "100.0%" in shown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_terminal_shows_every_model_whole_and_no_control_characters(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["a-long-name-of-a-model-mini", "a-long-name-of-a-model-nano", "[red]x\x1b[31m\u202e"]
    answers = pl.concat(ANSWERS.with_columns(model=pl.lit(name)) for name in names)
    many = [f"benchmark {i}" for i in range(5)]
    labels = pl.concat(LABELS.with_columns(benchmark=pl.lit(b)) for b in many)
    answers = pl.concat(answers.with_columns(benchmark=pl.lit(b)) for b in many)
    scores = molaudit.score(answers, labels, **QUICK)
    show_scores(Console(width=width, force_terminal=False), scores.cells, ("a note\x07",))
    shown = capsys.readouterr().out
    assert all(line == line.rstrip("\r") and len(line) <= width for line in shown.splitlines())
    assert not [letter for letter in shown if letter != "\n" and not letter.isprintable()]
    assert "note: a note\\x07" in shown
    if width >= 80:
        assert shown.count("a-long-name-of-a-model-nano") >= len(many) + 1
        assert shown.count("[red]x\\x1b[31m\\u202e") >= len(many) + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", None),
        ("molaudit.score(frame, frame, protocol='recal')", "Literal['recall', 'blinding']"),
        ("molaudit.score(frame, frame, sede=1)", '"sede"'),
        ("molaudit.score(1, frame)", '"int"'),
    ],
)
def test_type_checkers_see_the_settings(tmp_path: Path, line: str, said: str | None) -> None:
    linked = tmp_path / "linked" / "molaudit"
    linked.mkdir(parents=True)
    for room in ("engine", "kernels", "storage"):
        (linked / room).symlink_to(ROOT / room)
    for name in ("__init__.py", "py.typed"):
        (linked / name).symlink_to(ROOT / "engine/molaudit" / name)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + line + "\n")
    options = ["--strict", "--ignore-missing-imports", "--explicit-package-bases"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(ROOT / "build/mypy"), str(program)],
        env=os.environ | {"MYPYPATH": str(linked.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    # Errors inside the package are for scripts/check, which knows its configuration.
    about = [
        error for error in done.stdout.splitlines() if error.startswith(str(program)) and ": error:" in error
    ]
    assert "checked 1 source file" in done.stdout or "Success" in done.stdout, done.stderr
    assert len(about) == (0 if said is None else 1), about
    assert said is None or said in about[0]
