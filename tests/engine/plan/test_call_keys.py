"""The key of a call: everything that reaches the wire changes it, nothing else does."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from made_plans import Made, make_plan

from molaudit.engine.conditions import Item
from molaudit.engine.errors import SettingsError
from molaudit.engine.models.dialects.common import Request
from molaudit.engine.models.dialects.registry import DIALECTS, dialect
from molaudit.engine.models.records import Call, Message, question
from molaudit.engine.plan import calls
from molaudit.engine.plan.plans import Plan
from molaudit.engine.settings import loading as settings
from molaudit.engine.settings.schema import SECTIONS

BASE: dict[str, Any] = {
    "run": {"efforts": ["standard"], "seed": 1},
    "endpoint": [{"name": "e", "base_url": "https://h.example/v1", "requests_per_minute": 60}],
    "model": [{"id": "gpt-5.5", "endpoint": "e"}],
    "benchmark": [{"use": "b"}],
}
FRAME = pl.DataFrame({"molecule": ["m1", "m2", "m3"], "smiles": ["C", "CC", None]})

# Every settable option, with a value that differs from the default, on one of two sides.
WIRE: list[tuple[str, str, Any]] = [
    ("run", "efforts", ["minimum"]),
    ("run", "max_output_tokens", 2000),
    ("endpoint", "base_url", "https://other.example/v1"),
    ("endpoint", "identity", "simulated"),
    ("endpoint", "dialect", "openai-responses"),
    ("endpoint", "headers", {"x-beta": "1"}),
    ("model", "id", "gpt-5.6-sol"),
    ("model", "like", "minimax-m3"),
    ("model", "max_output_tokens", 2000),
    ("model", "output_limit_field", "max_tokens"),
    ("model", "temperature", 0.0),
    ("model", "extra_body", {"num_ctx": 4096}),
    ("model", "efforts", {"standard": {"reasoning_effort": "high"}}),
    ("benchmark", "property", "another"),
    ("benchmark", "unit", "K"),
]  # fmt: skip
NOT_WIRE: list[tuple[str, str, Any]] = [
    ("run", "name", "other"),
    ("run", "seed", 2),
    ("run", "molecules", 2),
    ("run", "conditions", ["other"]),
    ("run", "samples", 2),
    ("run", "budget_usd", 5.0),
    ("run", "deadline_minutes", 5.0),
    ("endpoint", "name", "other"),
    ("endpoint", "api_key_env", "SOME_KEY"),
    ("endpoint", "api_key_header", "api-key"),
    ("endpoint", "proxy", False),
    ("endpoint", "insecure", True),
    ("endpoint", "requests_per_minute", 5),
    ("endpoint", "tokens_per_minute", 5),
    ("endpoint", "burst", 5),
    ("endpoint", "in_flight", 5),
    ("endpoint", "pool", "other"),
    ("endpoint", "timeouts", {"connect": 1, "default": 2, "standard": 3}),
    ("model", "name", "other"),
    ("model", "endpoint", "other"),
    ("model", "price", {"input": 1, "output": 2}),
    ("benchmark", "use", "other"),
    ("benchmark", "file", "other.csv"),
    ("benchmark", "name", "other"),
    ("benchmark", "kind", "computed"),
    ("benchmark", "molecules", 2),
]  # fmt: skip


def plan_of(data: dict[str, Any]) -> Plan:
    loaded = settings.parse(data, Path("audit.toml"))
    items = {one.name: Made(one.property or "bp", one.unit or "C", FRAME) for one in loaded.benchmarks}
    return make_plan(loaded, items, prompt)


def prompt(item: Item, condition: str) -> tuple[str, str]:
    return "Answer.", f"{item.property} of {item.smiles} in {item.unit}?"


def keys(data: dict[str, Any]) -> dict[str, str]:
    return {call.molecule: call.key for call in plan_of(data).calls() if call.repeat == 0}


def with_option(section: str, option: str, value: Any) -> dict[str, Any]:
    data = copy.deepcopy(BASE)
    entry = data["run"] if section == "run" else data[section][0]
    entry[option] = value
    if option == "temperature":
        # GPT-5.5 takes a temperature only where it does not reason.
        data["run"]["efforts"] = ["minimum"]
    if (section, option) in {("endpoint", "name"), ("model", "endpoint")}:
        data["endpoint"][0]["name"] = data["model"][0]["endpoint"] = value
    if option == "file":
        entry |= {"property": "bp", "unit": "C"}
        del entry["use"]
    return data


def test_every_option_is_on_one_of_the_two_sides() -> None:
    # Arms and tasks choose calls, and change none but by the texts of their condition; scoring changes none.
    sections = {
        name: model for name, model in SECTIONS.items() if model is not None and name not in {"arm", "task"}
    }
    options = {(section, name) for section, model in sections.items() for name in model.model_fields}
    sides = [(section, name) for section, name, _ in WIRE + NOT_WIRE]
    assert sorted(sides) == sorted(options)


@pytest.mark.parametrize(("section", "option", "value"), WIRE)
def test_an_option_that_reaches_the_wire_changes_every_key(section: str, option: str, value: Any) -> None:
    base = copy.deepcopy(BASE)
    if option == "temperature":
        base["run"]["efforts"] = ["minimum"]
    before, after = keys(base), keys(with_option(section, option, value))
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())


@pytest.mark.parametrize(("section", "option", "value"), NOT_WIRE)
def test_an_option_that_stays_here_changes_no_key(section: str, option: str, value: Any) -> None:
    before, after = keys(BASE), keys(with_option(section, option, value))
    assert after
    assert after.items() <= before.items()


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"messages": question("other", "U")},
        {"messages": question("", "U")},
        {"messages": question("S", "other")},
        {"messages": (*question("S", "U"), Message("assistant", "A"), Message("user", "more"))},
        {"messages": (*question("S", "U"), Message("user", "A"))},
        {"max_output_tokens": 65},
        {"limit_field": "other_cap"},
        {"fragment": {"reasoning_effort": "low"}},
        {"fragment": {"reasoning_effort": "high"}},
        {"extra_body": {"num_ctx": 2048}},
        {"extra_body": {"num_ctx": 4096}},
        {"extra_body": {"seed": 1}},
        {"extra_body": {"provider": {"order": ["anthropic"], "allow_fallbacks": False}}},
        {"extra_body": {"temperature": None}},
        {"temperature": 0.0},
        {"temperature": 1.0},
    ],
)
def test_every_part_of_a_request_is_in_its_body(name: str, change: dict[str, Any]) -> None:
    base = {"model": "m", "messages": question("S", "U"), "max_output_tokens": 64, "limit_field": "cap"}
    sent = [dialect(name).encode(Request(**(base | more))) for more in ({}, change)]  # type: ignore[arg-type]
    assert len({calls.canonical(one) for one in sent}) == 2


def test_repeats_have_keys_of_their_own_and_keep_them() -> None:
    data = with_option("run", "samples", 5)
    made = list(plan_of(data).calls())
    assert len({call.key for call in made}) == 15
    once = {call.key for call in plan_of(BASE).calls()}
    assert {call.key for call in made if call.repeat == 0} == once


def test_the_two_endpoints_of_one_question_have_two_keys() -> None:
    chat, responses = keys(BASE), keys(with_option("endpoint", "dialect", "openai-responses"))
    assert not set(chat.values()) & set(responses.values())


def test_spellings_of_a_base_url_and_orders_of_keys_make_one_key() -> None:
    slash = with_option("endpoint", "base_url", "HTTPS://h.example/v1/chat/completions/")
    assert keys(slash) == keys(BASE)
    one = with_option("model", "extra_body", {"a": {"x": 1, "y": 2}, "b": 1})
    two = with_option("model", "extra_body", {"b": 1, "a": {"y": 2, "x": 1}})
    assert keys(one) == keys(two)


def test_an_identity_keeps_the_keys_when_the_address_changes() -> None:
    def at(url: str) -> dict[str, str]:
        data = with_option("endpoint", "identity", "simulated")
        data["endpoint"][0]["base_url"] = url
        return keys(data)

    assert at("http://127.0.0.1:1111/v1") == at("http://127.0.0.1:2222/v1")


def test_a_preimage_is_canonical_and_digests_to_the_key() -> None:
    plan = plan_of(with_option("endpoint", "headers", {"X-Beta": "é"}))
    for call in plan.calls():
        stored = plan.preimage(call)
        fields = json.loads(stored)
        assert calls.canonical(fields) == stored
        assert calls.digest(stored) == call.key
        assert fields["body"] == json.loads(call.body)
        assert fields["endpoint"] == "https://h.example/v1"
        assert (fields["headers"], fields["repeat"], fields["schema"]) == ({"x-beta": "é"}, 0, 1)
        assert "e" not in {fields.get("name"), fields.get("pool")}


def test_anthropics_version_is_part_of_the_key() -> None:
    data = copy.deepcopy(BASE)
    data["endpoint"][0]["dialect"] = "anthropic"
    data["model"][0]["id"] = "claude-opus-5"
    plan = plan_of(data)
    call = next(plan.calls())
    assert json.loads(plan.preimage(call))["headers"] == {"anthropic-version": "2023-06-01"}


def test_a_key_is_the_same_in_every_version_of_this_program() -> None:
    # A change here makes every cache worthless: raise calls.SCHEMA and say so in the release notes.
    call = next(call for call in plan_of(BASE).calls() if call.molecule == "m1")
    body = (
        b'{"max_completion_tokens":4096,"messages":[{"content":"Answer.","role":"system"},'
        b'{"content":"bp of C in C?","role":"user"}],"model":"gpt-5.5","reasoning_effort":"low"}'
    )
    assert call.body == body
    preimage = (
        b'{"body":' + body + b',"dialect":"openai-chat","endpoint":"https://h.example/v1","headers":{},'
        b'"method":"POST","path":"/chat/completions","repeat":0,"schema":1}'
    )
    assert call.key == hashlib.blake2b(preimage, digest_size=16).hexdigest()
    assert call.key == "0f8ef87bcccbc93baca51394291d0b2d"


def test_canonical_json_refuses_what_json_cannot_say() -> None:
    for value in (float("nan"), float("inf"), {1: 2, "a": 3}, object(), "\ud800", b"x"):
        with pytest.raises(SettingsError, match="must be JSON"):
            calls.canonical(value)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "",
        '"',
        "\\",
        "@@molaudit-text-0@@",
        "@@molaudit-text-1@@",
        "\u2028\x00",
        '@@molaudit-text-1@@","x":"@@molaudit-text-0@@',
    ]
)

turns = st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), texts), min_size=1, max_size=4)
conversation = st.builds(
    lambda system, turns: (*([Message("system", system)] if system else []), *turns), texts, turns
)


@hypothesis_settings(deadline=None, max_examples=200)
@given(
    st.sampled_from(list(DIALECTS)),
    st.lists(conversation, min_size=1, max_size=3),
    st.sampled_from(
        [
            {},
            {"zz": "@@molaudit-text-1@@"},
            {"messages": []},
            {"input": "fixed", "system": "fixed", "contents": []},
            {"aa": {"b": '"@@molaudit-text-0@@"'}},
        ]
    ),
)
def test_joined_bodies_equal_encoded_ones(
    name: str, conversations: list[tuple[Message, ...]], extra: dict[str, Any]
) -> None:
    request = Request("m", (), 64, "cap", {"reasoning_effort": "low"}, extra, 0.5)
    template = calls.Template(name, request)
    for messages in conversations:
        asked = Request("m", messages, 64, "cap", {"reasoning_effort": "low"}, extra, 0.5)
        path, body = dialect(name).encode(asked)
        roles = tuple(one.role for one in messages)
        assert template.body(roles, [calls.quoted(one.text) for one in messages]) == calls.canonical(body)
        assert template.path == path


def test_calls_are_immutable() -> None:
    call = next(plan_of(BASE).calls())
    assert isinstance(call, Call)
    with pytest.raises(AttributeError):
        call.key = "x"  # type: ignore[misc]
