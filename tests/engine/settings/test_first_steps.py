"""The first minutes: a file that plan accepts, what can be asked, and what it costs."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from running_audits import MOLAUDIT, environment, server, stats

from molaudit.engine.benchmarks import BENCHMARKS
from molaudit.engine.cli import main
from molaudit.engine.commands import init
from molaudit.engine.models import table
from molaudit.engine.settings.first_steps import PROVIDERS

Capture = pytest.CaptureFixture[str]
WAYS = [[], ["--local", "localhost:11434"], *(["--provider", name] for name in PROVIDERS)]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way) or "simulated")
def test_what_init_writes_is_commented_and_plan_accepts_it(
    way: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *way]) == 0
    assert "molaudit plan audit.toml" in capsys.readouterr().out
    text = Path("audit.toml").read_text(encoding="utf-8")
    assert sum("#" in line for line in text.splitlines()) > 15
    assert max(map(len, text.splitlines())) <= 130
    assert main(["plan", "audit.toml"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "unknown" not in shown.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.toml"]


def test_every_line_that_is_off_is_accepted_when_it_is_switched_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    assert main(["init", "--out", str(path)]) == 0
    lines = path.read_text(encoding="utf-8").splitlines()[4:]
    on = [line.removeprefix("# ") for line in lines]
    data = tomllib.loads("\n".join(on))
    assert len(data["model"]) == len(data["benchmark"]) == 2
    data["model"][1]["id"] = "skilled"
    (tmp_path / "labels.csv").write_text("molecule,smiles,label\na,CCO,1.23\n")
    from molaudit.engine.settings import loading as settings

    loaded = settings.parse(data, path)
    assert loaded.endpoints[0].api_key_env == "A_NAME"
    assert loaded.run.budget_usd == 5.0


def test_an_audit_that_is_there_is_not_written_over(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "audit.toml"
    path.write_text("mine")
    assert main(["init", "--out", str(path)]) == 2
    said = capsys.readouterr().err
    assert said == f"molaudit init: --out {path}: is there already, and is not written over; give another\n"
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--local", "ftp://h"], "--local is no http or https URL; give one like https://api.openai.com/v1"),
        (
            ["--local", "http://h/v1?key=x"],
            "--local holds a query or fragment; allowed: ?api-version=... alone; keys belong into an environment",
        ),
        (["--model", "a\nb"], "--model: found 'a\\nb'; allowed: printable text"),
        (["--model", "sk-test-SECRET123"], "--model holds what looks like a secret key"),
        (
            ["--out", "none/such/audit.toml"],
            "--out none/such/audit.toml: cannot be written (No such file or dir",
        ),
    ],
)
def test_what_init_cannot_write_is_said_and_nothing_is_left(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", *arguments]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"molaudit init: {said}")
    assert "SECRET" not in shown
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_ones_own_goes_into_the_file_as_it_is_called(tmp_path: Path) -> None:
    path, name = tmp_path / "audit.toml", 'Org/My "7B" é\\x'
    assert main(["init", "--local", "http://127.0.0.1:8000", "--model", name, "--out", str(path)]) == 0
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    assert data["model"][0]["id"] == name
    assert data["endpoint"][0]["base_url"] == "http://127.0.0.1:8000/v1"


def test_the_providers_of_the_option_are_those_of_the_table() -> None:
    assert set(init.PROVIDERS) == set(PROVIDERS)
    for one in PROVIDERS.values():
        entry = table.lookup(one.model, one.dialect, one.base_url)
        assert entry.price is not None
        assert entry.effort("minimum").label == "minimum"


def test_a_file_of_init_runs_on_the_simulated_server(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    with server() as url:
        assert main(["init", "--local", url, "--model", "reciter", "--out", str(path)]) == 0
        assert main(["run", str(path)]) == 0
        assert stats(url)["answered"] == 50


def test_all_models_are_listed_with_efforts_prices_and_days(capsys: Capture) -> None:
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    assert not [name for name in table.models() if name not in out]
    assert "GPT-5.5 (gpt-5.5): 5 / 30 USD (2026-11-30)\n" in out
    assert "    openai-responses: none, low, medium, high, xhigh (minimum none, standard low)\n" in out
    assert "Claude Opus 4.8 (claude-opus-4-8): price unknown\n" in out


def test_one_model_is_shown_on_every_route(capsys: Capture) -> None:
    assert main(["models", "Claude Haiku 4.5"]) == 0
    out = capsys.readouterr().out
    assert (
        "  anthropic: cap in max_tokens; efforts off, 1024 to 63999 tokens (minimum off, standard 1024)\n"
        in out
    )
    assert "  openrouter: cap in max_tokens; efforts " in out
    assert "source: " in out


@pytest.mark.parametrize(
    ("name", "near"), [("gpt5.5", "gpt-5.5"), ("opus", "claude opus 5"), ("gemini 3.1 por", "gemini")]
)
def test_a_model_that_the_table_does_not_know_is_said_with_the_nearest(
    name: str, near: str, capsys: Capture
) -> None:
    assert main(["models", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"molaudit models: {name!r} is not in the model table (near: ")
    assert near in said
    assert "It can be asked all the same" in said


@pytest.mark.parametrize("arguments", [[], ["list"]])
def test_the_shipped_benchmarks_are_listed_with_unit_and_size(arguments: list[str], capsys: Capture) -> None:
    assert main(["benchmarks", *arguments]) == 0
    out = capsys.readouterr().out
    for name in BENCHMARKS.names():
        one = BENCHMARKS.get(name)
        assert (
            f"{name}: {one.property}, {one.unit or 'no unit'}, measured, {one.load().frame.height:,} molecules\n"
            in out
        )


def test_report_promises_no_folder_that_it_does_not_write(tmp_path: Path) -> None:
    shown = subprocess.run(
        [*MOLAUDIT, "report", "--help"], capture_output=True, text=True, check=True, env=environment()
    ).stdout
    assert "without it they are only shown" in " ".join(shown.split())
