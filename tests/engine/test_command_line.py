"""The command line answers at once and says what is wrong."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

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
        (["null", "l.csv", "--out", "o", "--shard", "\u00b2/3"], "1 <= I <= N"),
        (["null", "l.csv", "--out", "o", "--shard", f"1/{10**30}"], "1 <= I <= N"),
        *(
            (["null", "l.csv", "--out", "o", "--cluster", f"local:{n}"], "local:N with N from 1 to 1024")
            for n in ("\u00b2", "0", "99999999999", "")
        ),
    ],
)
def test_wrong_option_value_is_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


SCORE = ["score", "ans.csv", "--labels", "lab.csv", "--out", "o"]
FLOORS = ["floors", "lab.csv", "--out", "f.csv"]
LIMITS = ["limits", "--floors", "f.csv", "--out", "l.csv"]
POWER = ["power", "lab.csv", "--out", "p.csv"]
NULL = ["null", "lab.csv", "--out", "n"]
JUDGE = ["judge", "c.csv", "--floors", "f.csv", "--out", "j"]

NUMBERS = [
    *((command, "--seed", 0, "2^63 - 1") for command in (SCORE, FLOORS, POWER, NULL, ["serve"])),
    *((command, "--repeats", 1, "100000000") for command in (SCORE, FLOORS)),
    (SCORE, "--resamples", 1, "100000000"),
    (LIMITS, "--n", 1, "2^53"),
    (POWER, "--n", 1, "2^53"),
    (POWER, "--cells", 1, "2^63 - 1"),
    (POWER, "--draws", 1, "10000000"),
    (NULL, "--repeats", 1, "2^63 - 1"),
    (NULL, "--chunk", 1, "100000000"),
    (["serve"], "--port", 0, "65535"),
    (["serve"], "--burst", 1, "2^63 - 1"),
]


@pytest.mark.parametrize(
    ("command", "option", "least", "most"), NUMBERS, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("found", ["-1", "99999999999999999999", "9" * 5000, "nan", "inf", "1.5", ""])
def test_number_out_of_range_is_refused_with_the_range(
    command: list[str], option: str, least: int, most: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([*command, f"{option}={found}"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert f"argument {option}: found {found!r}; allowed: a whole number from {least} to {most}\n" in said


@pytest.mark.parametrize("command", [SCORE, LIMITS, POWER, JUDGE])
@pytest.mark.parametrize("found", ["0", "1", "-1", "1e400", "nan", "inf", ""])
def test_level_that_is_none_is_refused(
    command: list[str], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([*command, f"--alpha={found}"])
    assert end.value.code == 2
    assert f"found {found!r}; allowed: a number between 0 and 1" in capsys.readouterr().err


@pytest.mark.parametrize("found", ["0", "-1", "5e-324", "1e300", "nan", "inf", "x", ""])
def test_rate_of_a_server_is_one_whose_waits_are_times(
    found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["serve", f"--rpm={found}"])
    assert end.value.code == 2
    assert f"found {found!r}; allowed: a number from 0.001 to 1000000000" in capsys.readouterr().err


def test_null_run_of_too_many_chunks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["null", "l.csv", "--out", str(tmp_path / "n"), "--repeats", str(10**15)]) == 2
    assert "found 10000000000 chunks; allowed: 1000000" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 5000 + "]" * 5000, "{", '{"a": ' + "9" * 5000 + "}"])
def test_preimage_that_cannot_be_compared_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, cache = tmp_path / "asked.json", tmp_path / "cache.duckdb"
    asked.write_text(text)
    Path(f"{cache}.journal").mkdir()
    code = cli.main(["cache", "explain", "--preimage", str(asked), "--cache", str(cache)])
    assert code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"molaudit cache: {asked}: a preimage is not JSON that can be compared: ")
