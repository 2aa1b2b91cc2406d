"""Child processes: told and heard in lines of JSON, and gone when they should be."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from molaudit.engine.processes import children

ECHO = """
import json, os, sys
print("printed by a start-up file")
print('["no message"]')
for line in sys.stdin:
    print(json.dumps({"told": json.loads(line), "arguments": sys.argv[1:], "known": sorted(os.environ)}), flush=True)
"""


@pytest.fixture
def echo(tmp_path: Path) -> dict[str, str]:
    """The environment in which a program `echo_lines` is found."""
    (tmp_path / "echo_lines.py").write_text(ECHO)
    return {**os.environ, "PYTHONPATH": str(tmp_path), "SOME_KEY": "sk-test-1"}


def test_what_is_told_is_heard_and_other_output_is_passed_over(echo: dict[str, str]) -> None:
    child = children.start("echo_lines", "a", "b", environment=echo)
    try:
        assert children.tell(child, children.line({"x": "é"}))
        found = next(children.messages(child, 60))
        assert (found["told"], found["arguments"]) == ({"x": "é"}, ["a", "b"])
    finally:
        children.end(child)


def test_a_child_that_ends_with_its_input_is_given_the_time(echo: dict[str, str]) -> None:
    child = children.start("echo_lines", environment=echo)
    children.end(child, 60.0)
    assert child.returncode == 0


def test_a_child_that_does_not_end_is_ended(tmp_path: Path) -> None:
    (tmp_path / "sleep_on.py").write_text("import time; time.sleep(600)")
    child = children.start("sleep_on", environment={**os.environ, "PYTHONPATH": str(tmp_path)})
    begin = time.monotonic()
    assert list(children.messages(child, 0.05)) == []
    children.end(child, 0.05)
    assert child.returncode == -9
    assert time.monotonic() - begin < 60


def test_a_child_that_has_died_takes_nothing_and_says_nothing(tmp_path: Path) -> None:
    child = children.start("no_such_program", environment={**os.environ, "PYTHONPATH": str(tmp_path)})
    child.wait()
    assert not children.tell(child, children.line("anything"))
    assert list(children.messages(child, 60)) == []
    children.end(child, 1.0)
    assert child.returncode == 1


def test_hidden_variables_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-test-1")
    monkeypatch.setenv("OTHER", "1")
    found = children.environment_without(["SOME_KEY"])
    assert "SOME_KEY" not in found
    assert found["OTHER"] == "1"


def test_nothing_in_the_current_folder_passes_for_a_library(
    tmp_path: Path, echo: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "json.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(here)
    child = children.start("echo_lines", environment=echo)
    children.end(child, 60.0)
    assert child.returncode == 0


def test_a_program_that_cannot_be_started_is_an_os_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(OSError, match="nothing"):
        children.start("echo_lines")
