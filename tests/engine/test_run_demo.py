"""`molaudit demo`: the second makes no calls, and nothing is left running or written elsewhere."""

import os
import subprocess
from pathlib import Path

import polars as pl
import pytest
from running_audits import environment, start

VERDICTS = {
    "reciter": "flagged",
    "reciter-10": "flagged",
    "skilled": "clean",
    "blind": "clean",
    "constant": "clean",
}


def servers_of(pid: int) -> list[str]:
    """Living processes that a process has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if f"\nPPid:\t{pid}\n" in text and "\nState:\tZ" not in text:
            found.append(status.parent.name)
    return found


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
        process = start(["demo", "--out", str(out)], cwd=here, env=given, stderr=subprocess.PIPE)
        text, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors
        assert errors == ""
        assert servers_of(process.pid) == []
        said.append(next(line for line in text.splitlines() if "calls made" in line))
    assert said[0].startswith("2500 calls made")
    assert said[1] == "0 calls made"
    cells = pl.read_csv(out / "cells.csv")
    assert dict(cells.select("model", "verdict").rows()) == VERDICTS
    assert list(here.iterdir()) == []
    assert {"cells.csv", "attempts.parquet", "run.json", "audit.toml"} <= set(os.listdir(out))
