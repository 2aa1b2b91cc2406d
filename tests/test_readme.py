"""The README names every command and public name, and its two commands are the ones that are promised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import molaudit
from molaudit.engine import cli

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_is_in_the_readme(name: str) -> None:
    # A row of the table may name several: `molaudit plan`, `run`, `status`.
    rows = [line for line in README.splitlines() if line.startswith("| `molaudit ")]
    assert any(re.search(rf"`(?:molaudit )?{name}\b", row) for row in rows)


@pytest.mark.parametrize(
    "name", [name for name in molaudit.__all__ if not isinstance(getattr(molaudit, name), type)]
)
def test_every_public_function_is_in_the_readme(name: str) -> None:
    assert f"molaudit.{name}(" in README


@pytest.mark.parametrize("name", ["cells", "pairs", "write"])
def test_what_a_scoring_gives_is_in_the_readme(name: str) -> None:
    assert hasattr(molaudit.Scores, name)
    assert f"scores.{name}" in README


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m venv .venv && . .venv/bin/activate && pip install . && molaudit demo",
        "python3 -m venv .venv && . .venv/bin/activate && pip install '.[test]' && python -m pytest",
    ],
)
def test_the_two_commands_stand_there_to_be_copied(command: str) -> None:
    assert command in README.splitlines()
