"""The plan: which calls, in which order, and what is refused before any is made."""

from __future__ import annotations

import copy
import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_plans import Made, make_plan

from molaudit.engine.conditions import Item
from molaudit.engine.errors import InputError, SettingsError
from molaudit.engine.plan.estimate import estimate
from molaudit.engine.plan.plans import Plan, input_tokens
from molaudit.engine.settings import loading as settings

BASE: dict[str, Any] = {
    "run": {"efforts": ["minimum", "standard"], "seed": 1},
    "endpoint": [
        {"name": "e", "base_url": "https://h.example/v1"},
        {"name": "f", "base_url": "https://f.example/v1", "dialect": "anthropic"},
    ],
    "model": [
        {"id": "gpt-5.5", "endpoint": "e"},
        {"id": "reciter", "endpoint": "e"},
        {"id": "claude-opus-5", "endpoint": "f"},
    ],
    "benchmark": [{"use": "a"}, {"use": "b"}],
}


def frame(n: int, prefix: str = "m") -> pl.DataFrame:
    return pl.DataFrame(
        {"molecule": [f"{prefix}{i}" for i in range(n)], "smiles": ["C" * (i + 1) for i in range(n)]}
    )


def items(a: int = 6, b: int = 3) -> dict[str, Made]:
    return {"a": Made("bp", "C", frame(a)), "b": Made("logS", "", frame(b))}


def prompt(item: Item, condition: str) -> tuple[str, str]:
    return "S", f"{item.property} {item.smiles} {condition}"


def plan(data: dict[str, Any] = BASE, given: dict[str, Made] | None = None) -> Plan:
    return make_plan(settings.parse(data, Path("audit.toml")), items() if given is None else given, prompt)


def changed(section: str, index: int = 0, **options: Any) -> dict[str, Any]:
    data = copy.deepcopy(BASE)
    (data["run"] if section == "run" else data[section][index]).update(options)
    return data


def refusal(data: dict[str, Any]) -> str:
    with pytest.raises(SettingsError) as caught:
        plan(data)
    return str(caught.value)


def test_every_molecule_is_asked_of_every_model_at_every_effort_once() -> None:
    made = list(plan(changed("run", samples=2, conditions=["zero_shot", "other"])).calls())
    seen = {(c.model, c.effort, c.benchmark, c.molecule, c.condition, c.repeat) for c in made}
    expected = set(
        itertools.product(
            ["gpt-5.5", "reciter", "claude-opus-5"],
            ["minimum", "standard"],
            [("a", f"m{i}") for i in range(6)] + [("b", f"m{i}") for i in range(3)],
            ["zero_shot", "other"],
            [0, 1],
        )
    )
    assert seen == {(m, e, *bm, c, r) for m, e, bm, c, r in expected}
    assert len(made) == len(seen) == len(plan(changed("run", samples=2, conditions=["zero_shot", "other"])))


def test_models_are_innermost_and_benchmarks_advance_together() -> None:
    made = list(plan().calls())
    lanes = 6
    for start in range(0, len(made), lanes):
        block = made[start : start + lanes]
        assert len({(c.benchmark, c.molecule) for c in block}) == 1
        assert len({(c.model, c.effort) for c in block}) == lanes
    order = [c.benchmark for c in made[::lanes]]
    assert order == ["a", "b", "a", "b", "a", "b", "a", "a", "a"]


def test_the_same_plan_makes_the_same_calls() -> None:
    assert list(plan().calls()) == list(plan().calls())


def test_a_sample_is_seeded_independent_of_row_order_and_grows() -> None:
    def sample(given: Made, **run: Any) -> list[str]:
        made = plan(changed("run", **run), {"a": given, "b": items()["b"]}).calls()
        return list(dict.fromkeys(c.molecule for c in made if c.benchmark == "a"))

    many = frame(200)
    small = sample(Made("bp", "C", many), molecules=20)
    assert len(small) == 20
    assert sample(Made("bp", "C", many.reverse()), molecules=20) == small
    assert sample(Made("bp", "C", many), molecules=50)[:20] == small
    assert set(sample(Made("bp", "C", many), molecules=20, seed=2)) != set(small)
    # A fair sample: 20 of 200 fall on the first half by chance, 3 to 17 times but for one in 10,000.
    assert 3 <= sum(int(name[1:]) < 100 for name in small) <= 17


def test_a_benchmarks_own_number_of_molecules_wins() -> None:
    data = changed("benchmark", molecules=2)
    data["run"]["molecules"] = 3
    made = list(plan(data).calls())
    assert len({c.molecule for c in made if c.benchmark == "a"}) == 2
    assert len({c.molecule for c in made if c.benchmark == "b"}) == 3


def test_a_pools_calls_are_the_plans_calls_of_that_pool() -> None:
    whole = plan()
    assert whole.pools == ("e", "f")
    for pool in whole.pools:
        assert list(whole.calls(pool)) == [
            c for c in whole.calls() if whole.endpoints[c.endpoint].pool == pool
        ]
    assert list(whole.calls("none")) == []


def test_labels_limits_and_timeouts_travel_with_the_call() -> None:
    data = changed("model", max_output_tokens=300)
    data["run"]["max_output_tokens"] = 700
    data["endpoint"][0]["timeouts"] = {"minimum": 30}
    by_model = {(c.model, c.effort): c for c in plan(data).calls()}
    assert by_model["gpt-5.5", "minimum"].output_tokens == 300
    assert by_model["reciter", "minimum"].output_tokens == 700
    assert by_model["gpt-5.5", "minimum"].timeout_s == 30.0
    assert by_model["gpt-5.5", "standard"].timeout_s == 600.0
    assert by_model["claude-opus-5", "standard"].path == "/messages"


def test_molecules_without_smiles_are_asked_by_name() -> None:
    nameless = pl.DataFrame(
        {"molecule": ["water"], "smiles": [None]}, schema={"molecule": pl.String, "smiles": pl.String}
    )
    given = {"a": Made("bp", "C", nameless), "b": items()["b"]}
    made = plan(given=given).calls()
    assert {json.loads(one.body)["messages"][-1]["content"] for one in made if one.benchmark == "a"} >= {
        "bp None zero_shot"
    }


def test_an_empty_benchmark_gives_no_calls() -> None:
    assert list(plan(given=items(0, 0)).calls()) == []
    assert len(plan(given=items(0, 0))) == 0


def test_a_molecule_named_twice_is_refused() -> None:
    given = items() | {"a": Made("bp", "C", pl.concat([frame(2), frame(1)]))}
    with pytest.raises(InputError, match="'a' has the molecule 'm0' twice"):
        plan(given=given)


def test_a_molecule_that_the_prompt_refuses_is_named() -> None:
    def picky(item: Item, condition: str) -> tuple[str, str]:
        raise ValueError("two lines")

    refused = make_plan(settings.parse(BASE, Path("a")), items(), picky)
    with pytest.raises(InputError, match=r"benchmark 'a', molecule 'm\d': cannot be asked: two lines"):
        next(refused.calls())


def test_an_unknown_level_lists_the_allowed_ones() -> None:
    message = refusal(changed("run", efforts=["ultra"]))
    assert (
        "model 'gpt-5.5' has no effort 'ultra'; allowed: minimum, standard, none, low, medium, high, xhigh"
        in message
    )
    assert len(message.split("\n")) == 3


def test_a_level_given_in_the_file_needs_no_change_of_code() -> None:
    data = changed("run", efforts=["ultra"])
    for model in data["model"]:
        model["efforts"] = {"ultra": {"depth": 9}}
    assert all(b'"depth":9' in c.body for c in plan(data).calls())


def test_off_and_default_are_different_bodies() -> None:
    data = changed("run", efforts=["off", "default"])
    for model in data["model"]:
        model["efforts"] = {"off": {"reasoning": {"enabled": False}}, "default": {}}
    bodies = {
        c.effort: c.body
        for c in plan(data).calls()
        if (c.model, c.molecule, c.benchmark) == ("reciter", "m0", "a")
    }
    assert b'"reasoning":{"enabled":false}' in bodies["off"]
    assert b"reasoning" not in bodies["default"]


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_two_limits_of_the_output_are_refused_with_both_names(limit: str) -> None:
    message = refusal(changed("model", extra_body={limit: 512}))
    assert f"{limit!r} beside 'max_completion_tokens'" in message
    assert "max_output_tokens = 4096" in message


def test_a_second_limit_inside_geminis_settings_is_refused() -> None:
    data = changed("model", id="gemini-3-flash", extra_body={"generationConfig": {"maxOutputTokens": 5}})
    data["endpoint"][0]["dialect"] = "gemini"
    data["model"] = data["model"][:1]
    assert "'maxOutputTokens' beside 'maxOutputTokens'" in refusal(data)


def test_a_budget_needs_every_price() -> None:
    data = changed("run", budget_usd=5.0)
    assert plan(data)
    data["model"][1]["id"] = "unheard-of"
    data["model"][1]["efforts"] = {"minimum": {}, "standard": {}}
    assert "model 'unheard-of': its price is unknown, so budget_usd cannot be kept" in refusal(data)
    data["model"][1]["price"] = {"input": 0, "output": 0}
    assert plan(data)


@pytest.mark.parametrize(
    ("model", "extra", "named"),
    [
        ("gpt-5.5", {"temperature": 0.5}, "refuses 'temperature' at effort 'standard'"),
        ("gpt-5.5", {"extra_body": {"top_p": 0.5}}, "refuses 'top_p' at effort 'standard'"),
        ("reciter", {"temperature": 0.5, "extra_body": {"temperature": 1}}, "both given"),
        ("gpt-5.5", {"extra_body": {"x": float("nan")}}, "model 'gpt-5.5', efforts.minimum or extra_body"),
    ],
)
def test_what_a_provider_would_refuse_is_refused_here(model: str, extra: dict[str, Any], named: str) -> None:
    data = changed("model", id=model, **extra)
    data["model"] = data["model"][:1]
    assert named in refusal(data)


def test_a_reasoning_budget_must_leave_room_for_the_answer() -> None:
    data = changed("model", 2, id="claude-haiku-4-5", max_output_tokens=1024)
    assert "'standard' allows 1024 tokens of reasoning, so max_output_tokens = 1024 leaves none" in refusal(
        data
    )
    data["model"][2]["max_output_tokens"] = 1025
    assert plan(data)


def test_the_estimate_adds_up() -> None:
    data = changed("endpoint", requests_per_minute=60, tokens_per_minute=10_000, in_flight=10)
    data["run"] |= {"samples": 2, "max_output_tokens": 1000}
    whole = plan(data)
    made = list(whole.calls())
    result = estimate(whole, latency_s=2.0)
    assert result.calls == len(made) == 108
    assert result.input_tokens == sum(c.input_tokens for c in made)
    assert result.output_tokens == sum(c.output_tokens for c in made) == 108_000
    # By hand, per (model, effort): 18 calls; GPT-5.5 at 5 and 30, Opus 5 at 5 and 25 USD a million, the reciter free.
    prompts = sum(c.input_tokens for c in made) / 6
    expected = 2 * (prompts * 5 + 18_000 * 30) / 1e6 + 2 * (prompts * 5 + 18_000 * 25) / 1e6
    assert result.cost_usd == pytest.approx(expected)
    first, second = result.pools
    assert (first.pool, first.calls, first.bound_by) == ("e", 72, "tokens_per_minute")
    assert first.seconds == pytest.approx((72_000 + 4 * prompts) / 10_000 * 60)
    assert second.bound_by == "in_flight"
    assert second.seconds == pytest.approx(36 * 2.0 / 64)
    assert result.seconds == first.seconds


def test_an_unknown_price_makes_an_unknown_cost() -> None:
    data = changed("model", id="unheard-of", efforts={"minimum": {}, "standard": {}})
    result = estimate(plan(data))
    assert result.cost_usd is None
    assert [one.cost_usd is None for one in result.models] == [True, True, False, False, False, False]


def test_prompt_tokens_follow_bytes() -> None:
    assert input_tokens([b'""', b'""']) == 8
    assert input_tokens([b'""', b'"' + b"x" * 35 + b'"']) == 18
    assert input_tokens([b'"abc"', '"°"'.encode()]) == 8 + 2


def test_a_large_plan_is_lazy() -> None:
    large = plan(given={"a": Made("bp", "C", frame(300)), "b": Made("bp", "C", frame(300))})
    stream = large.calls()
    next(stream)
    tracemalloc.start()
    for _ in stream:
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 3,600 calls of about 1 kB each would take over 3 MB if they were held.
    assert peak < 500_000
