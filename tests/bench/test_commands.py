"""What ``molaudit bench`` names can be run, and prints what it says."""

from __future__ import annotations

import argparse
import io
import json
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from molaudit.bench import cold, engine, score, score_stages
from molaudit.bench.engine_runs import Measured
from molaudit.engine import cli
from molaudit.engine.commands import bench


def choices() -> list[str]:
    parser = argparse.ArgumentParser()
    bench.configure(parser)
    return [str(one) for action in parser._actions if action.dest == "what" for one in action.choices or ()]


@pytest.mark.parametrize("what", choices())
def test_every_bench_that_the_command_names_can_be_called_by_it(what: str) -> None:
    assert list(signature(import_module(f"molaudit.bench.{what}").run).parameters) == [
        "quick",
        "out",
        "console",
    ]


def test_the_engine_bench_runs_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        engine, "measure", lambda quick, **_: ([], ["no task was measured"]) if quick else None
    )
    assert cli.main(["bench", "engine", "--quick", "--out", str(tmp_path)]) == 0
    assert "no task was measured" in capsys.readouterr().out
    assert json.loads((tmp_path / "engine.json").read_text())["notes"] == ["no task was measured"]


def test_cold_and_warm_starts_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = []

    def demo(command: list[str], folder: Path, _timeout_s: float) -> Measured:
        import os

        folders.append(os.environ["MOLAUDIT_CACHE_DIR"])
        return Measured(0, 11.0 if len(folders) == 1 else 4.0, 20.0, 10**8, "", "")

    monkeypatch.setattr(cold, "measure", demo)
    shown = io.StringIO()
    rows = cold.run(quick=True, out=tmp_path, console=Console(file=shown, width=80))
    assert [(row["start"], row["seconds"]) for row in rows] == [("cold", 11.0), ("warm", 4.0)]
    assert len(set(folders)) == 1
    assert "11.0" in shown.getvalue()
    assert json.loads((tmp_path / "cold.json").read_text())["rows"] == rows


def test_scoring_is_timed_by_stages_that_make_up_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score, "MOLECULES", 60)
    monkeypatch.setattr(score, "MODELS", 40)
    monkeypatch.setattr(score, "ANSWERS", 20 * 54 * 5 * 4)
    shown = io.StringIO()
    rows: list[dict[str, Any]] = score.run(quick=True, out=tmp_path, console=Console(file=shown, width=80))
    assert [row["answers"] for row in rows] == [2 * 60, 54 * 5 * 4]
    for row in rows:
        assert set(row["stages"]) == {stage for stage, _, _ in score_stages.STAGES} | {"start and all else"}
        assert all(seconds >= 0 for seconds in row["stages"].values())
    assert "the whole command" in shown.getvalue()


def test_answers_of_a_night_are_short_texts_and_some_are_missing() -> None:
    answers, labels = score.overnight(3, 500)
    assert answers.height == 1500
    assert labels.schema == {"molecule": pl.String, "label": pl.String}
    assert answers["answer"].str.len_chars().max() <= 6  # type: ignore[operator]
    assert 0 < answers.filter(pl.col("answer") == "").height < 60


def test_a_stage_within_another_is_taken_off_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(100))
    monkeypatch.setattr(score_stages.time, "perf_counter", lambda: float(next(now)))
    clock = score_stages.Clock()
    inner = clock.timed("inner", lambda: None)
    clock.timed("outer", lambda: (inner(), inner()))()
    assert clock.seconds == {"inner": 2.0, "outer": 3.0}
