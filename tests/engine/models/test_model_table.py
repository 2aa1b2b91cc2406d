"""The shipped model table: every family resolves, the published models are there, and no level is guessed."""

from __future__ import annotations

import csv
import datetime
import tomllib
from importlib import resources

import pytest
import shared_data

from molaudit.engine.errors import SettingsError
from molaudit.engine.models import table
from molaudit.engine.models.dialects.registry import DIALECTS

DATA = tomllib.loads(resources.files("molaudit.engine.models").joinpath("models.toml").read_text("utf-8"))
OPENROUTER = "https://openrouter.ai/api/v1"
DIRECT = {
    "openai": ("openai-chat", "https://api.openai.com/v1"),
    "anthropic": ("anthropic", "https://api.anthropic.com/v1"),
    "google": ("gemini", "https://generativelanguage.googleapis.com/v1beta"),
    "deepseek": ("openai-chat", "https://api.deepseek.com/v1"),
}
PUBLISHED = [
    "Claude Haiku 4.5", "Claude Opus 5", "Claude Sonnet 5", "GPT-4.1", "GPT-5", "GPT-5.5", "GPT-5.6 luna",
    "GPT-5.6 sol", "GPT-5.6 terra", "Gemini 2.5 Pro", "Gemini 3 Flash", "Gemini 3.1 Flash-Lite", "Gemini 3.1 Pro",
    "Gemini 3.5 Flash", "Gemini 3.6 Flash", "Grok 4.3", "Grok 4.5", "Kimi K3", "Llama 4 Maverick", "MiniMax M3",
    "Mistral Large 2512", "Qwen3-235B",
]  # fmt: skip


def direct(model: str) -> table.Entry:
    bare = table.lookup(model, "openai-chat", "https://h/v1")
    dialect, url = DIRECT.get(bare.provider or "", ("openai-chat", "https://h/v1"))
    return table.lookup(model, dialect, url)


def test_the_list_of_published_models_is_the_data_files() -> None:
    cells = shared_data.DATA / "published/recall/cells.csv"
    shared_data.require(cells)
    with cells.open(newline="", encoding="utf-8") as file:
        assert sorted({row["model"] for row in csv.DictReader(file)}) == PUBLISHED


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_published_model_resolves_directly_and_through_openrouter(name: str) -> None:
    for entry in (direct(name), table.lookup(name, "openai-chat", OPENROUTER)):
        assert entry.name == name
        assert entry.family
        assert entry.released
        assert entry.price
        minimum, standard = entry.effort("minimum"), entry.effort("standard")
        assert (minimum.label, standard.label) == ("minimum", "standard")
        # Only a model that does not reason, or has no level below, may answer both with the same body.
        same = minimum.fragment == standard.fragment
        assert same == (entry.reasons is False or (name == "Kimi K3" and entry.route == "openai-chat"))


@pytest.mark.parametrize("family", DATA["family"], ids=lambda one: one["name"])
def test_each_family_has_its_levels_on_some_route(family: dict[str, object]) -> None:
    model = str(family["match"][0])  # type: ignore[index]
    entries = [table.lookup(model, dialect, "https://h/v1") for dialect in DIALECTS]
    entries += [table.lookup(model, "openai-chat", url) for url in (OPENROUTER, "https://api.deepseek.com")]
    assert {entry.family for entry in entries} == {family["name"]}
    usable = [entry for entry in entries if entry.levels or entry.budget]
    assert usable
    for entry in usable:
        for label in ("minimum", "standard", *entry.levels):
            assert "$" not in str(entry.effort(label).fragment)


@pytest.mark.parametrize(
    ("model", "dialect", "url", "label", "fragment"),
    [
        ("gpt-5.5", "openai-chat", "https://api.openai.com/v1", "minimum", {"reasoning_effort": "none"}),
        ("gpt-5-mini", "openai-chat", "https://api.openai.com/v1", "minimum", {"reasoning_effort": "minimal"}),
        ("gpt-5.6-sol", "openai-responses", "https://api.openai.com/v1", "max", {"reasoning": {"effort": "max"}}),
        ("claude-haiku-4-5", "anthropic", "https://a/v1", "minimum", {}),
        ("claude-haiku-4-5", "anthropic", "https://a/v1", "1024",
         {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("claude-sonnet-5", "anthropic", "https://a/v1", "minimum", {"thinking": {"type": "disabled"}}),
        ("claude-opus-4-8", "anthropic", "https://a/v1", "low",
         {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ("claude-fable-5", "anthropic", "https://a/v1", "minimum",
         {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ("gemini-2.5-pro", "gemini", "https://g/v1beta", "minimum",
         {"generationConfig": {"thinkingConfig": {"thinkingBudget": 128}}}),
        ("gemini-3-flash-preview", "gemini", "https://g/v1beta", "minimum",
         {"generationConfig": {"thinkingConfig": {"thinkingLevel": "minimal"}}}),
        ("deepseek-v4-pro", "openai-chat", "https://api.deepseek.com", "minimum", {"thinking": {"type": "disabled"}}),
        ("deepseek-v4-pro", "openai-chat", "http://127.0.0.1:8000/v1", "minimum",
         {"chat_template_kwargs": {"thinking": False}}),
        ("Qwen/Qwen3.5-27B", "openai-chat", "http://127.0.0.1:8000/v1", "minimum",
         {"chat_template_kwargs": {"enable_thinking": False}}),
        ("grok-4.5", "openai-chat", "https://api.x.ai/v1", "minimum", {"reasoning_effort": "low"}),
        ("anthropic/claude-opus-5", "openai-chat", OPENROUTER, "standard", {"reasoning": {"max_tokens": 1024}}),
    ],
)  # fmt: skip
def test_levels_are_the_documented_json(
    model: str, dialect: str, url: str, label: str, fragment: dict[str, object]
) -> None:
    assert table.lookup(model, dialect, url).effort(label).fragment == fragment


@pytest.mark.parametrize(
    ("model", "label", "allowed"),
    [
        ("gpt-5.5", "minimal", "allowed: minimum, standard, none, low, medium, high, xhigh"),
        ("gpt-5.5", "max", "none, low, medium, high, xhigh"),
        ("claude-haiku-4-5", "1023", "a number of tokens from 1024 to 63999"),
        ("claude-haiku-4-5", "64000", "from 1024 to 63999"),
        ("claude-haiku-4-5", "high", "off"),
        ("gpt-5.5", "1024", "allowed"),
        ("gpt-4.1", "high", "allowed: minimum, standard, none"),
    ],
)
def test_an_unknown_level_is_refused_with_the_allowed_ones(model: str, label: str, allowed: str) -> None:
    with pytest.raises(SettingsError, match=allowed):
        direct(model).effort(label)


def test_a_model_that_is_not_in_the_table_is_asked_as_it_is_served_until_its_json_is_given() -> None:
    entry = table.lookup("my-model", "openai-chat", "https://h/v1")
    assert (entry.price, entry.family, entry.reasons) == (None, None, None)
    for label in ("minimum", table.AS_SERVED):
        assert entry.effort(label) == table.Effort("as served", "as served", {})
    with pytest.raises(SettingsError, match=r"allowed: minimum .*efforts\.standard = \{"):
        entry.effort("standard")
    own = entry.with_levels({"minimum": {"think": False}, "wild": {}})
    assert own.effort("minimum").fragment == {"think": False}
    assert own.effort("wild").fragment == {}


def test_a_known_model_on_a_route_without_known_levels_is_asked_as_it_is_served() -> None:
    """A proxy that speaks another dialect than the maker's own: none of the levels is documented there."""
    entry = table.lookup("claude-opus-5", "openai-chat", "https://h/v1")
    assert entry.effort("minimum") == table.Effort("as served", "as served", {})
    with pytest.raises(SettingsError, match="knows none for it here"):
        entry.effort("high")


def test_a_model_with_known_levels_is_never_asked_as_it_is_served() -> None:
    with pytest.raises(SettingsError, match="has no effort 'as served'; allowed: minimum, standard, none"):
        direct("gpt-5.5").effort(table.AS_SERVED)


def test_levels_of_the_user_win_over_the_tables() -> None:
    entry = direct("gpt-5.5").with_levels({"standard": {"reasoning_effort": "medium"}})
    assert entry.effort("standard").fragment == {"reasoning_effort": "medium"}
    assert entry.effort("minimum").fragment == {"reasoning_effort": "none"}


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("openai/gpt-5.5", "gpt-5.5"),
        ("openai/gpt-5.5:free", "gpt-5.5"),
        ("claude-opus-4.8", "claude-5"),
        ("claude-haiku-4-5-20251001", "claude-4.5"),
        ("gpt-5-chat-latest", "gpt-4"),
        ("magistral-medium-latest", "magistral"),
        ("reciter-37@b", "simulated"),
        ("gpt-5.9", None),
        ("gpt-50", None),
        ("my-gpt-5", None),
        ("claude-opus-9", None),
    ],
)
def test_spellings_of_a_known_model_are_understood_and_no_others(model: str, family: str | None) -> None:
    assert table.lookup(model, "openai-chat", "https://h/v1").family == family


def test_the_limit_field_is_the_one_each_api_takes() -> None:
    assert table.lookup("gpt-5", "openai-chat", "https://h/v1").limit_field == "max_completion_tokens"
    assert table.lookup("gpt-5", "openai-responses", "https://h/v1").limit_field == "max_output_tokens"
    assert table.lookup("mistral-large-2512", "openai-chat", "https://h/v1").limit_field == "max_tokens"
    assert table.lookup("gpt-5", "openai-chat", OPENROUTER).limit_field == "max_tokens"
    assert (
        table.lookup("gpt-99", "openai-chat", "https://api.openai.com/v1").limit_field
        == "max_completion_tokens"
    )
    assert table.lookup("gpt-99", "openai-chat", "https://h/v1").limit_field == "max_tokens"
    assert table.lookup("x", "anthropic", "https://h/v1").limit_field == "max_tokens"
    assert table.lookup("x", "gemini", "https://h/v1").limit_field == "maxOutputTokens"


def test_refused_parameters_depend_on_the_level() -> None:
    entry = direct("gpt-5.5")
    assert entry.accepts("temperature", entry.effort("minimum"))
    assert not entry.accepts("temperature", entry.effort("standard"))
    assert not direct("claude-opus-5").accepts("temperature", direct("claude-opus-5").effort("minimum"))
    assert direct("gpt-4.1").accepts("temperature", direct("gpt-4.1").effort("standard"))


def test_every_fact_has_a_source_and_every_price_a_day() -> None:
    for model in DATA["model"]:
        assert not (model.keys() & {"released", "knowledge_cutoff", "size", "price"}) or model.get(
            "source"
        ), model
        if "price" in model:
            assert model["price"]["source"]
            assert datetime.date.fromisoformat(model["price"]["date"]) <= datetime.date(2026, 11, 30)
            assert 0 < model["price"]["input"] < model["price"]["output"]


def test_no_two_entries_claim_one_name() -> None:
    names = [name for family in DATA["family"] for name in family["match"]]
    assert len(names) == len(set(names))
    ids = [name for model in DATA["model"] for name in (model["id"], *model.get("aliases", ()))]
    assert len(ids) == len(set(ids))
