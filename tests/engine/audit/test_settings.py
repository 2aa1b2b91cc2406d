"""Whatever is wrong with the settings is one clear message and exit code 2, before a call is made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running_audits import MOLAUDIT, Audit

from molaudit.engine.cli import main

NOWHERE = "http://127.0.0.1:9/v1"
OWN = '\n[[benchmark]]\nfile = "own.csv"\nproperty = "boiling point"\nunit = "K"\n'

WRONG = {
    "unknown key": ({"run": "colour = 3"}, ("run", "unknown key 'colour'", "allowed")),
    "unknown key of an endpoint": ({"endpoint": "rpm = 3"}, ('endpoint "local"', "'rpm'", "requests_per_minute")),
    "unknown effort": ({"efforts": ["minimum", "heroic"]}, ("reciter", "heroic", "minimum")),
    "unknown benchmark": ({"more": '\n[[benchmark]]\nuse = "esoll"\n'}, ("esoll", "crc-boiling-points")),
    "unknown condition": ({"run": 'conditions = ["psychic"]'}, ("conditions", "psychic", "zero_shot")),
    "no unit": ({"more": '\n[[benchmark]]\nfile = "own.csv"\nproperty = "p"\n'}, ("own.csv", "unit")),
    "unit that is no text": ({"more": OWN.replace('"K"', "7")}, ("own.csv", "unit", "text")),
    "missing file": ({"more": OWN}, ("own.csv",)),
    "variable not set": ({"endpoint": 'api_key_env = "MOLAUDIT_NO_SUCH_KEY"'}, ("MOLAUDIT_NO_SUCH_KEY", "not set")),
    "a key in the settings": ({"endpoint": 'api_key_env = "sk-test-SECRET123"'}, ("secret key", "NAME")),
    "a key twice": ({"model": 'endpoint = "other"'}, ("audit.toml", "TOML")),
    "no TOML": ({"run": "molecules = = 3"}, ("audit.toml", "TOML")),
    "unknown price with a budget": (
        {"url": "https://h.example/v1", "run": "budget_usd = 1.0", "model": 'like = "no-such-family"'},
        ("price", "budget_usd"),
    ),
    "model twice": ({"models": ("reciter", "reciter")}, ("two models", "reciter")),
    "no molecules": ({"molecules": 0}, ("molecules", "0")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_setting_is_one_message_and_exit_code_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields, words = WRONG[name]
    audit = Audit(tmp_path, **{"url": NOWHERE, **fields})  # type: ignore[arg-type]
    assert audit.make() == 2
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if line]
    assert len(lines) == 1
    assert lines[0].startswith("molaudit run: ")
    assert not [word for word in words if word not in lines[0]]
    assert "SECRET123" not in shown.err + shown.out
    assert not audit.journal.exists()
    assert not audit.out.exists()


@pytest.mark.parametrize("command", ["plan", "run", "status", "report"])
def test_a_missing_audit_file_is_named(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "none.toml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_said_before_a_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = Audit(tmp_path, NOWHERE)
    audit.out.write_text("a file stands here")
    assert audit.make() == 2
    assert "--out" in capsys.readouterr().err


def test_the_process_itself_ends_with_2_and_without_a_traceback(tmp_path: Path) -> None:
    audit = Audit(tmp_path, NOWHERE, endpoint='api_key_env = "MOLAUDIT_NO_SUCH_KEY"')
    ended = subprocess.run(
        [*MOLAUDIT, *audit.options], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 2
    assert "MOLAUDIT_NO_SUCH_KEY" in ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout


def test_a_plan_needs_no_key_and_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit = Audit(tmp_path, NOWHERE, endpoint='api_key_env = "MOLAUDIT_NO_SUCH_KEY"')
    assert main(["plan", str(audit.path)]) == 0
    assert "reciter" in capsys.readouterr().out
    assert sorted(os.listdir(tmp_path)) == ["audit.toml"]


def test_a_plan_fits_80_columns(tmp_path: Path) -> None:
    names = ("reciter", "claude-opus-4-5-20251101-with-a-long-name-of-sixty-four-letters-in-all")
    audit = Audit(
        tmp_path, NOWHERE, models=names, molecules=500, efforts=["minimum", "standard"],
        model='efforts.minimum = {}\nefforts.standard = { reasoning_effort = "medium" }\nmax_output_tokens = 64000',
    )  # fmt: skip
    shown = subprocess.run(
        [sys.executable, "-m", "molaudit", "plan", str(audit.path)],
        capture_output=True, text=True, timeout=120, check=True, env={**os.environ, "COLUMNS": "80"},
    ).stdout  # fmt: skip
    assert max(map(len, shown.splitlines())) <= 80
    assert "2,000" in shown
    assert "128,000,000" in shown
    assert "…" not in shown
