"""The command line answers at once and says what is wrong."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import pytest

from molaudit.engine import cli

HEAVY = (
    "numba",
    "polars",
    "duckdb",
    "rdkit",
    "scipy",
    "numpy",
    "httpx",
    "aiohttp",
    "pydantic",
    "rich",
    "pyarrow",
)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], *([name, "--help"] for name in cli.COMMANDS)]
)
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom molaudit.engine import cli\n"
        f"try: cli.main({arguments!r})\nexcept SystemExit as end: assert end.code == 0, end.code\n"
        f"print('LOADED', sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []"


def test_import_of_the_package_loads_no_heavy_library() -> None:
    code = f"import sys, molaudit; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def seconds(*arguments: str) -> float:
    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return time.perf_counter() - start

    return statistics.median(once() for _ in range(5))


@pytest.mark.slow
def test_help_costs_at_most_eight_bare_starts() -> None:
    # A ratio of medians within one run; the bound is generous beside what was measured (about 4).
    assert seconds("-m", "molaudit", "--help") < 8 * seconds("-c", "pass")


def test_unknown_command_is_refused_with_the_allowed_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["scroe"])
    assert end.value.code == 2
    assert "score" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["limits", "--floors", "f.csv", "--out", "o.csv", "--alpha", "2"], "between 0 and 1"),
        (["limits", "--floors", "f.csv", "--out", "o.csv", "--n", "15,x"], "whole number from 1"),
        (["score", "a.csv", "--labels", "l.csv", "--out", "o", "--seed", "-1"], "whole number from 0"),
        (["score", "a.csv", "--labels", "l.csv", "--out", "o", "--source-unit", "ld50"], "NAME=VALUE"),
    ],
)
def test_wrong_option_value_is_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert said in capsys.readouterr().err
