"""`molaudit demo`: the second makes no calls, and nothing is left running or written elsewhere."""

import os
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from running_audits import environment, start

from molaudit.engine.audit import demo
from molaudit.engine.cli import main

VERDICTS = {
    "reciter": "flagged",
    "reciter-10": "flagged",
    "skilled": "clean",
    "blind": "clean",
    "constant": "clean",
}


def commands_of(session: int) -> list[str]:
    """Command lines of a session's living processes: unlike a parent, a session is for life."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, of_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(of_session) == session and state != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found


def serves(session: int) -> bool:
    return any("engine.simulated.server" in command for command in commands_of(session))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are counted in /proc")
def test_a_second_demo_makes_no_calls_and_leaves_no_server(tmp_path: Path) -> None:
    """From a folder that cannot be written, and without HOME."""
    here = tmp_path / "read-only"
    here.mkdir()
    here.chmod(0o555)
    out = tmp_path / "demo"
    given = {key: value for key, value in environment().items() if key != "HOME"}
    said = []
    for _ in range(2):
        # Files, for a server that is left running would keep a pipe open, and the test would wait for it.
        with (tmp_path / "said").open("w+") as stdout, (tmp_path / "errors").open("w+") as stderr:
            process = start(
                ["demo", "--out", str(out)],
                cwd=here,
                env=given,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            while not (served := serves(process.pid)) and process.poll() is None:
                time.sleep(0.02)
            assert served
            process.wait(600)
            assert commands_of(process.pid) == []
            stdout.seek(0)
            stderr.seek(0)
            text, errors = stdout.read(), stderr.read()
        assert all("numerical kernels" in line for line in errors.splitlines()), errors
        assert process.returncode == 0
        said.append(next(line for line in text.splitlines() if "calls made" in line))
    assert said[0].startswith("2500 calls made")
    assert said[1] == "0 calls made"
    cells = pl.read_csv(out / "cells.csv")
    assert dict(cells.select("model", "verdict").rows()) == VERDICTS
    assert list(here.iterdir()) == []
    assert {"cells.csv", "attempts.parquet", "run.json", "audit.toml"} <= set(os.listdir(out))


@pytest.mark.parametrize("text", ["[run]\nname = 'mine'\n", "", "# mine\n" + demo._AUDIT])
def test_settings_of_the_user_are_not_written_over(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit.toml"
    audit.write_text(text)
    assert main(["demo", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert str(audit) in said
    assert "--out" in said
    assert audit.read_text() == text
    assert list(tmp_path.iterdir()) == [audit]


def test_settings_that_cannot_be_looked_at_are_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "audit.toml").mkdir()
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert str(tmp_path / "audit.toml") in capsys.readouterr().err


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_settings_of_an_earlier_demo_are_replaced_whole(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who has the file open keeps the old one."""
    audit = tmp_path / "audit.toml"
    audit.write_text(demo._AUDIT.replace("\n", end), newline="")
    monkeypatch.setattr(demo, "show_plan", lambda audit, cache: None)
    monkeypatch.setattr(demo, "run_audit", lambda audit, options: 0)
    with audit.open(newline="") as before:
        assert main(["demo", "--out", str(tmp_path)]) == 0
        assert before.read() == demo._AUDIT.replace("\n", end)
    assert "http://127.0.0.1:" in audit.read_text()
    assert list(tmp_path.iterdir()) == [audit]
