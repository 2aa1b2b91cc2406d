"""No run that costs money, or an unknown amount, begins without a yes: at the terminal or by --yes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from rich.console import Console
from running_audits import MOLAUDIT, Audit, environment, server, stats

from molaudit.engine.audit import consent
from molaudit.engine.audit.consent import Charge, charge, confirmed
from molaudit.engine.audit.inputs import load
from molaudit.engine.audit.table import plan_table
from molaudit.engine.cli import main
from molaudit.engine.errors import SettingsError
from molaudit.engine.plan.estimate import estimate

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
FAR = "https://models.example/v1"
PRICE = "price = { input = 1.0, output = 2.0 }\nmax_output_tokens = 1000"


def without_yes(audit: Audit) -> list[str]:
    return [one for one in audit.options if one != "--yes"]


def test_a_priced_run_in_a_pipe_is_refused_with_the_figure_and_no_call(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, model=PRICE)
        ended = subprocess.run(
            [*MOLAUDIT, *without_yes(audit)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment(), check=False,
        )  # fmt: skip
        assert stats(url)["requests"] == 0
    assert ended.returncode == 2
    # 20 replies of 1,000 tokens at 2 USD a million, and some 2,000 tokens of prompts at 1 USD.
    assert ended.stderr == (
        f"molaudit run: {audit.path}: this run may cost up to 0.04 USD (20 calls, each reply at its cap of output "
        "tokens). Nothing was asked of any model: give --yes to go on\n"
    )
    assert not audit.out.exists()


def test_a_run_of_an_unknown_price_is_refused_and_says_how_to_state_it(
    tmp_path: Path, capsys: Capture
) -> None:
    audit = Audit(tmp_path, FAR, models=("my-model",))
    assert main(without_yes(audit)) == 2
    assert capsys.readouterr().err == (
        f"molaudit run: {audit.path}: this run may cost an unknown amount (20 calls): no price is known of "
        "'my-model'. Nothing was asked of any model: give --yes to go on; or state the price in its [[model]]: "
        "price = { input = ..., output = ... }, 0 if it is free\n"
    )


def test_a_run_on_this_machine_costs_nothing_and_needs_no_yes(tmp_path: Path) -> None:
    with server(default_model="reciter") as url:
        audit = Audit(tmp_path, url, models=("my-model",))
        assert main(without_yes(audit)) == 0
        assert stats(url)["answered"] == 20
    assert audit.attempts()["cost_usd"].unique().to_list() == [0.0]


@pytest.mark.parametrize(
    ("url", "model", "more"),
    [
        ("http://127.0.0.1:9/v1", "my-model", PRICE),
        ("http://localhost:9/v1", "gpt-5.5", ""),
        ("http://192.168.1.7:8000/v1", "my-model", ""),
        ("http://127.0.0.1.example/v1", "my-model", ""),
    ],
    ids=["stated price", "price of the table", "another machine", "a name that looks like this machine"],
)
def test_what_may_cost_something_is_not_free(url: str, model: str, more: str, tmp_path: Path) -> None:
    audit = load(Audit(tmp_path, url, models=(model,), model=more).path)
    assert not charge(estimate(audit.plan), plan_table(audit.plan), None).is_free


def test_a_server_of_this_machine_that_takes_a_key_may_pass_calls_on(tmp_path: Path) -> None:
    settings = Audit(
        tmp_path, "http://127.0.0.1:9/v1", models=("my-model",), endpoint='api_key_env = "A_KEY"'
    )
    audit = load(settings.path)
    assert charge(estimate(audit.plan), plan_table(audit.plan), None).unpriced == ("my-model",)


def test_a_price_of_nothing_makes_a_run_free_on_any_machine(tmp_path: Path) -> None:
    settings = Audit(tmp_path, FAR, models=("my-model",), model="price = { input = 0, output = 0 }")
    audit = load(settings.path)
    assert charge(estimate(audit.plan), plan_table(audit.plan), None).is_free


def test_only_calls_that_are_missing_are_charged_each_at_its_models_price(tmp_path: Path) -> None:
    limit = "max_output_tokens = 1000"
    dear = f'\n[[model]]\nid = "dear"\nendpoint = "local"\nprice = {{ input = 0, output = 100 }}\n{limit}'
    settings = Audit(tmp_path, FAR, models=("cheap",), model=PRICE.replace("1.0", "0"), more=dear)
    audit = load(settings.path)
    table, expected = plan_table(audit.plan), estimate(audit.plan)
    by_model = {name: table.filter(pl.col("model").cast(pl.String) == name) for name in ("cheap", "dear")}
    # 20 x 1,000 tokens at 2 and at 100 USD a million.
    assert charge(expected, by_model["cheap"], None).usd == pytest.approx(0.04)
    assert charge(expected, by_model["dear"].head(5), None).usd == pytest.approx(0.5)
    assert charge(expected, table, None).usd == pytest.approx(2.04)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (Charge(1, 0.004, (), None), "up to less than 0.01 USD (1 call, each reply at its cap of output tokens)"),
        (
            Charge(2000, 1234.5, (), 50.0),
            "up to 1,234.50 USD (2,000 calls, each reply at its cap of output tokens; "
            "budget_usd ends it at 50.00 USD)",
        ),
        (
            Charge(9, 3.0, ("a", "b"), None),
            "an unknown amount (9 calls): no price is known of 'a', 'b', and up to 3.00 USD for the others",
        ),
    ],
)  # fmt: skip
def test_the_figure_is_said_in_words(what: Charge, said: str) -> None:
    assert str(what) == said


@pytest.fixture
def terminal(monkeypatch: Patch) -> Console:
    monkeypatch.setattr(consent.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(consent, "interrupt_input", lambda: None)
    return Console(force_terminal=True)


@pytest.mark.parametrize(
    ("answer", "goes_on"), [("y", True), (" YES ", True), ("", False), ("n", False), ("yep", False)]
)
def test_only_a_yes_at_the_terminal_goes_on(
    answer: str, goes_on: bool, terminal: Console, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(terminal, "input", lambda *_, **__: answer)
    assert confirmed(terminal, Charge(1, 3.0, (), None), "audit.toml") is goes_on


def test_no_answer_to_the_question_of_cost_is_a_no(terminal: Console, monkeypatch: Patch) -> None:
    def end_of_input(*_: object, **__: object) -> str:
        raise EOFError

    monkeypatch.setattr(terminal, "input", end_of_input)
    assert not confirmed(terminal, Charge(1, 3.0, (), None), "audit.toml")


@pytest.mark.parametrize("stdin", [None, SimpleNamespace(isatty=lambda: False)])
def test_a_terminal_that_nobody_types_at_is_no_yes(stdin: object, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(SettingsError, match="give --yes"):
        confirmed(Console(force_terminal=True), Charge(1, 3.0, (), None), "audit.toml")


def test_a_plan_shows_the_cap_of_each_model_and_what_it_assumes(tmp_path: Path) -> None:
    audit = Audit(tmp_path, FAR, models=("a", "gpt-5.5"), run="max_output_tokens = 3333")
    for width in ("60", "80", "120"):
        shown = subprocess.run(
            [*MOLAUDIT, "plan", str(audit.path)],
            capture_output=True, text=True, check=True, env=environment(COLUMNS=width),
        ).stdout  # fmt: skip
        words = " ".join(shown.split())
        assert "each reply as long as its cap, max_output_tokens (3,333), reasoning included" in words
        assert words.count("3,333") >= 3
        assert "as served" in words
        assert "No price is known of a:" in words
        assert "Price of gpt-5.5: 5 in, 30 out, USD per million tokens" in words
        assert max(map(len, shown.splitlines())) <= int(width)


def test_a_cell_with_more_than_a_twentieth_of_its_replies_cut_says_so(
    tmp_path: Path, capsys: Capture
) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter",), run="max_output_tokens = 1")
        assert audit.make() == 0
    assert (
        "note: model 'reciter', benchmark 'crc-boiling-points', zero_shot, effort 'minimum': 20 of 20 replies (100%) "
        "were cut at max_output_tokens = 1 and are not scored; give the model a higher one"
    ) in capsys.readouterr().out.splitlines()


FIVE_LINES = """\
endpoint = [{{ name = "local", base_url = "{url}" }}]
model = [{{ id = "my-model", endpoint = "local" }}]
benchmark = [{{ use = "crc-boiling-points" }}]
run.molecules = 20
run.seed = 1
"""


def test_a_model_that_the_table_does_not_know_runs_from_five_lines(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "audit.toml"
    with server(default_model="reciter") as url:
        path.write_text(FIVE_LINES.format(url=url))
        assert len(path.read_text().splitlines()) == 5
        assert main(["run", str(path)]) == 0
        assert stats(url)["answered"] == 20
    assert "as served" in capsys.readouterr().out
    cells = pl.read_csv(tmp_path / "molaudit-audit" / "cells.csv")
    assert cells.select("model", "effort", "n_asked").rows() == [("my-model", "as served", 20)]
