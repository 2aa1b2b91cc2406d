"""Arms: what they take from ``[run]``, which calls they share, which cells are tested together, what is refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_plans import Made, make_plan
from running_audits import Audit

from molaudit.engine.audit.table import plan_table
from molaudit.engine.cli import main
from molaudit.engine.conditions import Item
from molaudit.engine.errors import SettingsError
from molaudit.engine.plan.estimate import estimate
from molaudit.engine.plan.plans import Plan
from molaudit.engine.settings import loading as settings
from molaudit.engine.settings.loading import Settings
from molaudit.engine.simulated.core import ServeSettings
from molaudit.engine.simulated.server import start_process

BASE: dict[str, Any] = {
    "run": {"efforts": ["minimum"], "molecules": 4, "samples": 2},
    "endpoint": [{"name": "e", "base_url": "https://h.example/v1"}],
    "model": [
        {"id": "gpt-5.5", "endpoint": "e"},
        {"id": "own", "endpoint": "e", "efforts": {"minimum": {}, "deep": {"depth": 9}}},
    ],
    "benchmark": [{"use": "a"}, {"use": "b", "molecules": 3}],
}


def parsed(*arms: dict[str, Any], **run: Any) -> Settings:
    data = copy.deepcopy(BASE)
    data["run"].update(run)
    if arms:
        data["arm"] = list(arms)
    return settings.parse(data, Path("audit.toml"))


def plan(*arms: dict[str, Any], **run: Any) -> Plan:
    frame = pl.DataFrame(
        {"molecule": [f"m{i}" for i in range(9)], "smiles": ["C" * (i + 1) for i in range(9)]}
    )

    def prompt(item: Item, condition: str) -> tuple[str, str]:
        return "", f"{item.benchmark} {item.molecule} {condition}"

    return make_plan(parsed(*arms, **run), {"a": Made("p", "u", frame), "b": Made("q", "u", frame)}, prompt)


def refusal(*arms: dict[str, Any]) -> str:
    with pytest.raises(SettingsError) as caught:
        plan(*arms)
    return str(caught.value)


def test_without_arms_each_condition_of_the_run_is_one() -> None:
    found = parsed(conditions=["zero_shot", "other"]).arms
    assert [(arm.name, arm.condition, arm.family) for arm in found] == [
        ("zero_shot", "zero_shot", "zero_shot"),
        ("other", "other", "other"),
    ]


def test_what_an_arm_does_not_say_comes_from_the_run() -> None:
    (arm,) = parsed({"name": "x"}).arms
    assert (arm.condition, arm.efforts, arm.models, arm.benchmarks, arm.samples, arm.family) == (
        "zero_shot",
        ("minimum",),
        ("gpt-5.5", "own"),
        ("a", "b"),
        2,
        "x",
    )


def test_an_arm_chooses_models_benchmarks_efforts_molecules_and_samples() -> None:
    arm = {
        "name": "x",
        "models": ["own"],
        "benchmarks": ["b"],
        "efforts": ["deep"],
        "molecules": 5,
        "samples": 1,
    }
    made = list(plan(arm).calls())
    assert {(one.model, one.benchmark, one.effort, one.repeat) for one in made} == {("own", "b", "deep", 0)}
    assert len(made) == 5


def test_all_efforts_are_each_models_own_steps() -> None:
    table = plan_table(plan({"name": "x", "efforts": "all", "benchmarks": ["a"]}))
    steps = table.select(pl.col("model", "effort").cast(pl.String)).unique().sort("model", "effort")
    own = steps.filter(pl.col("model") == "own")["effort"].to_list()
    assert own == ["deep", "minimum"]
    assert steps.filter(pl.col("model") == "gpt-5.5").height > 2


def test_a_call_that_two_arms_share_is_made_once_and_counts_in_both() -> None:
    shared = plan({"name": "x"}, {"name": "y", "samples": 1, "molecules": 2})
    table, calls = plan_table(shared), list(shared.calls())
    assert table.height == len(shared) == 2 * (4 + 3) * 2 + 2 * (2 + 2)
    # Two models, a with 4 and b with 3 molecules, two samples; the second arm asks 2 of the same of each once.
    assert len(calls) == len({one.key for one in calls}) == 2 * (4 + 3) * 2
    assert estimate(shared).calls == len(calls)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([{"name": "x"}, {"name": "x"}], "two arms have the name 'x'"),
        ([{"name": "x", "models": ["nobody"]}], "arm 'x': models has 'nobody'; allowed: gpt-5.5, own"),
        ([{"name": "x", "benchmarks": ["c"]}], "arm 'x': benchmarks has 'c'; allowed: a, b"),
        ([{"name": "x", "against": "y"}], "arm 'x': against = 'y'; allowed: another arm"),
        ([{"name": "x", "efforts": ["deep"]}], "model 'gpt-5.5' has no effort 'deep'"),
        ([{"name": "x", "efforts": ["minimum", "minimum"]}], "names one twice"),
        ([{"condition": "zero_shot"}], "name is missing"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(arms: list[dict[str, Any]], message: str) -> None:
    assert message in refusal(*arms)


def test_time_outs_accept_the_efforts_of_every_arm() -> None:
    data = copy.deepcopy(BASE)
    data["endpoint"][0]["timeouts"] = {"deep": 5}
    data["arm"] = [{"name": "x", "models": ["own"], "efforts": ["deep"]}]
    assert settings.parse(data, Path("a")).endpoint("e").timeout_s("deep") == 5


def test_an_unknown_condition_prompt_and_key_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line, message in (
        ('condition = "blind"', "arm 'x': condition: found 'blind'; allowed: zero_shot"),
        ('prompt = "zero-shot/9"', "arm 'x': prompt = 'zero-shot/9'; allowed: zero-shot/1"),
        ("molecule = 3", "arm 'x': unknown key 'molecule'"),
    ):
        audit = Audit(tmp_path, "http://127.0.0.1:9/v1", more=f'[[arm]]\nname = "x"\n{line}\n')
        assert main(["plan", str(audit.path)]) == 2
        assert message in capsys.readouterr().err


def test_cells_of_a_family_are_corrected_together(tmp_path: Path) -> None:
    # The smallest p is multiplied by the number of tests: 4 in a family of two cells, 2 in one of its own.
    q = {}
    with start_process(ServeSettings()) as url:
        for name, family in (("one", 'family = "all"'), ("two", "")):
            arms = (
                f'[[arm]]\nname = "x"\nmodels = ["reciter"]\n{family}\n'
                f'[[arm]]\nname = "y"\nmodels = ["skilled"]\n{family}\n'
            )
            audit = Audit(tmp_path / name, url, models=("reciter", "skilled"), molecules=100, more=arms)
            assert audit.make() == 0
            cells = pl.read_csv(audit.out / "cells.csv")
            assert cells["arm"].to_list() == ["x", "y"]
            q[name] = cells.row(0, named=True)
    smallest = min(q["one"]["p12"], q["one"]["p23"])
    assert min(q["one"]["q12"], q["one"]["q23"]) == pytest.approx(smallest * 4)
    assert min(q["two"]["q12"], q["two"]["q23"]) == pytest.approx(smallest * 2)


def test_arms_that_ask_the_same_ask_it_once(tmp_path: Path) -> None:
    with start_process(ServeSettings()) as url:
        audit = Audit(tmp_path, url, molecules=30, more='[[arm]]\nname = "x"\n[[arm]]\nname = "y"\n')
        assert audit.make() == 0
    assert audit.attempts().height == 30
    cells = pl.read_csv(audit.out / "cells.csv")
    assert cells["m3"].n_unique() == 1
    assert cells.height == 2
