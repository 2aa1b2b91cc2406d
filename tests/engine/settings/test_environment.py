"""Broken environments: one clear line or the default, never a traceback, nothing left behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from running_audits import MOLAUDIT, server

from molaudit.engine.errors import SettingsError
from molaudit.engine.settings import environment

AUDIT = """\
[run]
molecules = 5
[[endpoint]]
name = "far"
base_url = "https://models.invalid/v1"
[[model]]
id = "reciter"
endpoint = "far"
[[benchmark]]
use = "crc-boiling-points"
"""


def asked(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SSL_", "NUMBA_"))}
    return subprocess.run(
        [*MOLAUDIT, *arguments],
        cwd=folder, env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "audit.toml").write_text(AUDIT)
    (tmp_path / "answers.csv").write_text("model,molecule,answer\nm,a,1.23\nm,b,2.34\n")
    (tmp_path / "labels.csv").write_text("molecule,label\na,1.23\nb,2.35\n")
    return tmp_path


FILES = {"answers.csv", "audit.toml", "labels.csv"}
SCORE = ("score", "answers.csv", "--labels", "labels.csv", "--out", "results/of/today")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("SSL_CERT_FILE", "none.pem",
         "the environment variable SSL_CERT_FILE names 'none.pem', which is no file that can be read; unset it, or "
         "set it to a file of certificates"),
        ("SSL_CERT_DIR", "none",
         "the environment variable SSL_CERT_DIR names 'none', which is no folder that can be read; unset it, or set "
         "it to a folder of certificates"),
    ],
)  # fmt: skip
def test_certificates_that_are_not_there_are_said_before_a_call(
    variable: str, value: str, said: str, folder: Path
) -> None:
    ended = asked(folder, "run", "audit.toml", "--yes", **{variable: value})
    assert ended.returncode == 2
    assert ended.stderr == f"molaudit run: {said}\n"
    assert {path.name for path in folder.iterdir()} == FILES


def test_a_file_that_holds_no_certificates_is_said(folder: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        environment.check_certificates({"SSL_CERT_FILE": str(folder / "labels.csv")})
    said = str(caught.value)
    assert said.startswith(
        f"the environment variable SSL_CERT_FILE names '{folder}/labels.csv', which holds no cert"
    )
    assert said.endswith("; unset it, or set it to a file that does")


def test_certificates_matter_only_where_a_connection_needs_them(folder: Path) -> None:
    with server() as url:
        (folder / "audit.toml").write_text(AUDIT.replace("https://models.invalid/v1", url))
        ended = asked(folder, "run", "audit.toml", SSL_CERT_FILE="none.pem")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("NUMBA_DISABLE_JIT", "1",
         "the environment variable NUMBA_DISABLE_JIT is '1': the kernels only work compiled; unset "
         "it or set it to 0"),
        ("NUMBA_NUM_THREADS", "0",
         "the environment variable NUMBA_NUM_THREADS is '0'; allowed: a whole number from 1, or unset it"),
        ("NUMBA_NUM_THREADS", "-3",
         "the environment variable NUMBA_NUM_THREADS is '-3'; allowed: a whole number from 1, or unset it"),
        ("POLARS_MAX_THREADS", "0",
         "the environment variable POLARS_MAX_THREADS is '0'; allowed: a whole number from 1, or unset it"),
    ],
)  # fmt: skip
def test_what_the_kernels_cannot_work_under_is_said_before_anything_is_read(
    variable: str, value: str, said: str, folder: Path
) -> None:
    ended = asked(folder, *SCORE, **{variable: value})
    assert ended.returncode == 2
    assert ended.stderr == f"molaudit score: {said}\n"
    assert ended.stdout == ""
    assert {path.name for path in folder.iterdir()} == FILES


@pytest.mark.parametrize(
    "variables",
    [
        {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/x"},
        {"TMPDIR": "/dev/null/x"},
        {"NUMBA_CACHE_DIR": "/dev/null/x"},
        {"NUMBA_DISABLE_JIT": "0", "NUMBA_NUM_THREADS": "1", "NUMBA_THREADING_LAYER": "workqueue"},
        {
            "NUMBA_THREADING_LAYER": "tbb"
        },  # no kernel uses numba's threads: what is not installed is no matter
        {"NUMBA_THREADING_LAYER": "foo"},
        {"COLUMNS": "0"},
        {"COLUMNS": "wide"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    ],
    ids=str,
)
def test_what_has_a_default_takes_it(variables: dict[str, str], folder: Path) -> None:
    ended = asked(folder, *SCORE, **variables)
    assert ended.returncode == 0, ended.stderr
    # Where machine code cannot be kept, it is compiled again, and said.
    assert all("numerical kernels" in line for line in ended.stderr.splitlines()), ended.stderr
    assert "1 cell written to results/of/today" in ended.stdout.splitlines()
    assert max(map(len, ended.stdout.splitlines())) > 20


def test_a_width_of_nothing_is_the_terminals_own() -> None:
    for text in ("0", "-1", "", "wide"):
        variables = {"COLUMNS": text}
        environment.check(variables)
        assert variables == {}
    variables = {"COLUMNS": "60"}
    environment.check(variables)
    assert variables == {"COLUMNS": "60"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "none.csv", "--labels", "labels.csv", "--out", "new/deep"),
        ("score", "answers.csv", "--labels", "answers.csv", "--out", "new"),
        ("judge", "answers.csv", "--floors", "labels.csv", "--out", "new"),
        ("null", "answers.csv", "--out", "new"),
        ("report", "none.toml", "--out", "new"),
        ("run", "audit.toml", "--out", "new"),
    ],
    ids=" ".join,
)
def test_a_refused_command_leaves_no_folder_behind(arguments: tuple[str, ...], folder: Path) -> None:
    ended = asked(folder, *arguments, SSL_CERT_FILE="none.pem")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert {path.name for path in folder.iterdir()} == FILES
