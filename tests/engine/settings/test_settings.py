"""audit.toml: what is accepted, and how each fault is named."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from molaudit.engine.errors import SettingsError
from molaudit.engine.models.dialects.registry import DIALECTS
from molaudit.engine.models.transport import api_key
from molaudit.engine.models.transport_proxies import is_loopback
from molaudit.engine.settings import loading as settings
from molaudit.engine.settings.schema import EndpointSettings
from molaudit.engine.settings.urls import normal_base_url

CONTRACT = """
[run]
name = "overnight"
seed = 1
molecules = 500
efforts = ["minimum", "standard"]
budget_usd = 50.0

[[endpoint]]
name = "local"
dialect = "openai-chat"
base_url = "http://127.0.0.1:8123/v1"
api_key_env = "LOCAL_KEY"
requests_per_minute = 600
in_flight = 200

[[model]]
id = "reciter"
endpoint = "local"
max_output_tokens = 2048
efforts.standard = { reasoning_effort = "medium" }

[[benchmark]]
use = "crc-boiling-points"
"""
Data = dict[str, Any]


def changed(change: Callable[[Data], Any]) -> Data:
    data = copy.deepcopy(tomllib.loads(CONTRACT))
    change(data)
    return data


def fault(change: Callable[[Data], Any]) -> str:
    with pytest.raises(SettingsError) as caught:
        settings.parse(changed(change), Path("audit.toml"))
    return str(caught.value)


def first(data: Data, section: str) -> Data:
    entry: Data = data[section][0]
    return entry


def test_the_contract_file_loads(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(CONTRACT, "utf-8")
    loaded = settings.load(path)
    assert loaded.run.name == "overnight"
    assert (loaded.run.molecules, loaded.run.budget_usd) == (500, 50.0)
    assert loaded.run.efforts == ("minimum", "standard")
    endpoint = loaded.endpoint("local")
    assert (endpoint.requests_per_minute, endpoint.in_flight, endpoint.tokens_per_minute) == (
        600.0,
        200,
        None,
    )
    assert (loaded.models[0].name, loaded.models[0].max_output_tokens) == ("reciter", 2048)
    assert loaded.models[0].efforts == {"standard": {"reasoning_effort": "medium"}}
    assert loaded.benchmarks[0].name == "crc-boiling-points"
    record = endpoint.record()
    assert (record.identity, record.pool) == ("http://127.0.0.1:8123/v1", "local")


def test_settings_are_frozen() -> None:
    loaded = settings.parse(tomllib.loads(CONTRACT), Path("audit.toml"))
    with pytest.raises(ValueError, match="frozen"):
        loaded.run.seed = 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: d["run"].update(molecule=5), ["run: unknown key 'molecule'", "did you mean 'molecules'?"]),
        (lambda d: d.update(runs={}), ["unknown key 'runs'", "allowed: arm, benchmark, endpoint, model, run, score"]),
        (lambda d: first(d, "endpoint").update(rpm=5),
         ['endpoint "local": unknown key \'rpm\'', "requests_per_minute"]),
        (lambda d: first(d, "endpoint").update(api_key="abc"),
         ["unknown key 'api_key'", "did you mean 'api_key_env'?"]),
        (lambda d: first(d, "model").update(price={"input": 1, "output": 1, "outputs": 1}),
         ["price: unknown key 'outputs'", "allowed: input, output"]),
        (lambda d: first(d, "endpoint").update(dialect="openai"), ["dialect = 'openai'", "'openai-responses'"]),
        (lambda d: first(d, "endpoint").update(in_flight="200"), ["in_flight = '200': must be a whole number"]),
        (lambda d: first(d, "endpoint").update(in_flight=True), ["in_flight = True: must be a whole number"]),
        (lambda d: d["run"].update(seed=-1), ["run.seed = -1: must be >= 0"]),
        (lambda d: d["run"].update(samples=0), ["run.samples = 0: must be > 0"]),
        (lambda d: d["run"].update(efforts="minimum"), ["run.efforts = 'minimum': must be a list"]),
        (lambda d: d["run"].update(efforts=[]), ["run.efforts must not be empty"]),
        (lambda d: d["run"].update(efforts=["low", "low"]), ["run.efforts names one twice"]),
        (lambda d: d["run"].update(budget_usd=float("inf")), ["run.budget_usd = inf: must be finite"]),
        (lambda d: d["run"].update(budget_usd=float("nan")), ["run.budget_usd = nan: must be"]),
        (lambda d: d.pop("model"), ["needs at least one [[model]]"]),
        (lambda d: d.pop("benchmark"), ["needs at least one [[benchmark]]"]),
        (lambda d: first(d, "model").pop("id"), ["model 1: id is missing"]),
        (lambda d: d.update(model={"id": "x"}), ["model must be a list"]),
        (lambda d: first(d, "model").update(endpoint="y"), ["model 'reciter': endpoint = 'y'; allowed: local"]),
        (lambda d: first(d, "model").update(efforts={"low": "x"}), ["efforts.low = 'x': must be a table"]),
        (lambda d: first(d, "benchmark").update(file="x.csv"), ["exactly one of use", "and file"]),
        (lambda d: d.update(benchmark=[{"file": "x.csv", "unit": ""}]), ["must say its property"]),
        (lambda d: d.update(benchmark=[{"use": "a"}, {"use": "a"}]), ["two benchmarks have the name 'a'"]),
        (lambda d: d["model"].append(first(d, "model")), ["two models have the name 'reciter'"]),
        (lambda d: first(d, "endpoint").update(timeouts={"minimu": 1}),
         ["timeouts", "'minimu'", "connect, default, minimum"]),
        (lambda d: first(d, "endpoint").update(timeouts={"connect": 0}), ["timeouts.connect = 0: must be > 0"]),
        (lambda d: first(d, "endpoint").update(base_url="ftp://h"),
         ["base_url is no http or https URL", "give one like"]),
        (lambda d: d["endpoint"].append(first(d, "endpoint") | {"name": "b", "pool": "local", "in_flight": 3}),
         ["'local' and 'b' share the pool 'local'", "in_flight: 200 and 3"]),
        (lambda d: d["endpoint"].append(first(d, "endpoint") | {"name": "b", "pool": "local", "burst": 3}) or
         first(d, "endpoint").update(burst=20), ["share the pool 'local'", "burst: 20 and 3"]),
        (lambda d: first(d, "endpoint").update(burst=5) or first(d, "endpoint").pop("requests_per_minute"),
         ['endpoint "local"', "burst (requests at once) needs requests_per_minute"]),
        (lambda d: first(d, "endpoint").update(burst=0), ["burst = 0: must be > 0"]),
        (lambda d: first(d, "endpoint").update(headers={"x-a": "1\r\nx-b: 2"}), ["no HTTP header may have"]),
        (lambda d: first(d, "endpoint").update(headers={"Authorization": "x"}), ["'authorization'", "api_key_env"]),
    ],
)  # fmt: skip
def test_each_fault_names_the_key_and_what_is_allowed(
    change: Callable[[Data], Any], expected: list[str]
) -> None:
    message = fault(change)
    assert message.startswith("audit.toml: ")
    assert "\n" not in message
    for part in expected:
        assert part in message


def test_every_fault_has_its_line() -> None:
    def change(data: Data) -> None:
        data["run"] |= {"seed": "x", "molecules": 0}
        first(data, "endpoint")["in_flight"] = -1

    assert len(fault(change).split("\n")) == 3


SECRET = "sk-test-SECRET123"


@pytest.mark.parametrize(
    "change",
    [
        lambda d: first(d, "endpoint").update(api_key_env=SECRET),
        lambda d: first(d, "endpoint").update(api_key=SECRET),
        lambda d: first(d, "endpoint").update(headers={"x-extra": SECRET}),
        lambda d: first(d, "endpoint").update(base_url=f"http://h/v1?key={SECRET}"),
        lambda d: first(d, "endpoint").update(base_url="http://user:SECRET123@h/v1"),
        lambda d: first(d, "endpoint").update(base_url="http://h/v1?key=SECRET123"),
        lambda d: first(d, "endpoint").update(api_key_env="SECRET123/with+signs=="),
        lambda d: first(d, "model").update(extra_body={"user": [SECRET]}),
        lambda d: d["run"].update({SECRET: 1}),
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(change: Callable[[Data], Any]) -> None:
    message = fault(change)
    assert "SECRET123" not in message
    assert "variable" in message


def test_the_key_comes_from_the_environment_when_the_run_begins() -> None:
    endpoint = settings.parse(tomllib.loads(CONTRACT), Path("a")).endpoint("local").record()
    assert api_key(endpoint, {"LOCAL_KEY": f" {SECRET}\n"}) == SECRET
    for environ in ({}, {"LOCAL_KEY": ""}):
        with pytest.raises(SettingsError, match="LOCAL_KEY is not set"):
            api_key(endpoint, environ)
    with pytest.raises(SettingsError, match="LOCAL_KEY") as caught:
        api_key(endpoint, {"LOCAL_KEY": "SECRET123\x00é"})
    assert "SECRET123" not in str(caught.value)
    assert SECRET not in repr(endpoint)


def test_no_key_is_needed_where_none_is_named() -> None:
    data = changed(lambda d: first(d, "endpoint").pop("api_key_env"))
    endpoint = settings.parse(data, Path("a")).endpoint("local").record()
    assert api_key(endpoint, {}) is None


def test_relative_files_are_beside_the_audit_file(tmp_path: Path) -> None:
    audit = tmp_path / "sub" / "audit.toml"
    audit.parent.mkdir()
    entry = 'file = "data/mine.csv"\nproperty = "boiling point"\nunit = ""\nkind = "measured"'
    audit.write_text(CONTRACT.replace('use = "crc-boiling-points"', entry), "utf-8")
    benchmark = settings.load(audit).benchmarks[0]
    assert benchmark.file == tmp_path / "sub/data/mine.csv"
    assert (benchmark.name, benchmark.unit) == ("mine", "")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[run\n", "is not TOML"),
        (b"\xff\xfe", "is not UTF-8"),
        (None, "cannot be read"),
        (b"", "needs at least one"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, content: bytes | None, expected: str) -> None:
    path = tmp_path / "audit.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=expected) as caught:
        settings.load(path)
    assert str(path) in str(caught.value)


def test_timeouts_go_by_effort() -> None:
    data = changed(
        lambda d: first(d, "endpoint").update(timeouts={"minimum": 60, "default": 300, "connect": 5})
    )
    endpoint = settings.parse(data, Path("a")).endpoint("local")
    assert (endpoint.timeout_s("minimum"), endpoint.timeout_s("standard"), endpoint.connect_s) == (60, 300, 5)


@pytest.mark.parametrize(
    "text",
    [
        "https://api.openai.com/v1",
        "https://api.openai.com/v1/",
        "https://api.openai.com",
        "https://api.openai.com/",
        "https://api.openai.com/v1/chat/completions",
        "https://api.openai.com/v1/chat/completions/",
        "HTTPS://API.OpenAI.com:443//v1//",
        "api.openai.com/v1",
        "  https://api.openai.com/v1/models ",
    ],
)
def test_spellings_of_one_base_url_are_one(text: str) -> None:
    assert normal_base_url(text, DIALECTS["openai-chat"]) == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("https://openrouter.ai/api/v1/chat/completions", "openai-chat", "https://openrouter.ai/api/v1"),
        ("127.0.0.1:8000", "openai-chat", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000/v1", "openai-chat", "http://[::1]:8000/v1"),
        ("https://api.anthropic.com/v1/messages", "anthropic", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com", "anthropic", "https://api.anthropic.com/v1"),
        ("https://api.openai.com/v1/responses", "openai-responses", "https://api.openai.com/v1"),
        ("https://g.com", "gemini", "https://g.com/v1beta"),
        ("https://g.com/v1beta/models/gemini-2.5-pro:generateContent", "gemini", "https://g.com/v1beta"),
        ("https://gateway.example/team/openai", "openai-chat", "https://gateway.example/team/openai"),
        ("http://h:80/v1", "openai-chat", "http://h/v1"),
    ],
)
def test_base_urls_of_each_dialect(text: str, dialect: str, expected: str) -> None:
    assert normal_base_url(text, DIALECTS[dialect]) == expected


@hypothesis_settings(deadline=None, max_examples=200)
@given(st.text(max_size=40), st.sampled_from(list(DIALECTS)))
def test_normalising_a_base_url_is_idempotent_or_refused(text: str, name: str) -> None:
    try:
        url = normal_base_url(text, DIALECTS[name])
    except ValueError:
        return
    assert normal_base_url(url, DIALECTS[name]) == url


def test_loopback_is_known_from_the_host_alone() -> None:
    assert all(
        map(
            is_loopback,
            (
                "http://127.0.0.1:1/v1",
                "http://localhost",
                "http://[::1]:9",
                "http://127.9.9.9",
                "http://api.localhost:8",
            ),
        )
    )
    assert not any(
        map(is_loopback, ("http://127.0.0.1.evil.com", "https://localhost.com", "http://h/localhost"))
    )


AZURE = "https://lab.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21"


@pytest.mark.parametrize(
    "text",
    [
        AZURE,
        "https://LAB.openai.azure.com:443/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
        "lab.openai.azure.com/openai/deployments/gpt/?api-version=2024-10-21",
    ],
)
def test_azures_version_stays_behind_the_base_url(text: str) -> None:
    assert normal_base_url(text, DIALECTS["openai-chat"]) == AZURE


@pytest.mark.parametrize(
    "query", ["key=abc", "api-version=1&key=abc", "api-version=", "api-version=a%20b", "x=1"]
)
def test_any_other_query_is_refused_and_not_repeated(query: str) -> None:
    with pytest.raises(ValueError, match="api-version") as caught:
        normal_base_url(f"https://h/v1?{query}", DIALECTS["openai-chat"])
    assert "abc" not in str(caught.value)


def azure(**changes: Any) -> EndpointSettings:
    return EndpointSettings(**{"name": "azure", "base_url": AZURE, **changes})


def test_the_version_is_part_of_the_identity_also_of_a_declared_one() -> None:
    assert azure().record().identity == AZURE
    assert azure(identity="mine").record().identity == "mine?api-version=2024-10-21"
    plain = {"base_url": "https://h/v1"}
    assert azure(**plain).record().identity == "https://h/v1"
    assert azure(**plain, identity="mine").record().identity == "mine"


def test_the_header_of_the_key_is_a_name_of_a_header() -> None:
    assert azure(api_key_header="Api-Key").record().api_key_header == "api-key"
    for wrong in ("api key", "api-key: abc", ""):
        with pytest.raises(ValueError, match="api_key_header"):
            azure(api_key_header=wrong)


@pytest.mark.parametrize("name", ["proxy", "insecure"])
def test_switches_of_an_endpoint_are_true_or_false(name: str) -> None:
    assert getattr(azure(**{name: True}), name) is True
    with pytest.raises(ValueError, match=name):
        azure(**{name: "no"})
