"""Which way a request goes, and what a person is told before keys go out."""

from __future__ import annotations

import pytest
from fault_server import endpoint, fault_server

from molaudit.engine.models.dialects.registry import auth_headers
from molaudit.engine.models.records import Response
from molaudit.engine.models.transport import Transport
from molaudit.engine.models.transport_proxies import ignored_exceptions, proxy_for, warnings

PROXY = "http://proxy.example:3128"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def proxied(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, PROXY)
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("entries", "url", "direct"),
    [
        ("models.example:8000", "http://models.example:8000/v1", True),
        ("models.example:8000", "http://models.example:9000/v1", False),
        ("models.example", "http://models.example:8000/v1", True),
        (".example", "http://models.example/v1", True),
        ("*", "http://models.example/v1", True),
        ("10.1.2.3", "http://10.1.2.3:8000/v1", True),
        ("10.0.0.0/8", "http://10.1.2.3:8000/v1", False),
    ],
)
def test_no_proxy_is_obeyed_with_and_without_a_port(proxied, entries, url, direct):
    proxied.setenv("no_proxy", entries)
    assert (proxy_for(url) is None) is direct


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        ("localhost,.example,models.example:8000, 10.1.2.3 ,*,[::1]", []),
        ("10.0.0.0/8,localhost", ["10.0.0.0/8"]),
        ("*.example", ["*.example"]),
        ("http://models.example", ["http://models.example"]),
        ("192.168.", ["192.168."]),
        ("a b", ["a b"]),
        ("", []),
    ],
)
def test_forms_of_no_proxy_that_are_not_understood_are_named(text, ignored):
    assert ignored_exceptions({"NO_PROXY": text}) == ignored


def test_they_are_warned_of_where_a_request_goes_through_the_proxy(proxied):
    proxied.setenv("no_proxy", "10.0.0.0/8")
    away = endpoint("http://10.1.2.3:8000/v1", name="away")
    (told,) = warnings([away], {"no_proxy": "10.0.0.0/8"})
    assert "'10.0.0.0/8'" in told
    assert "'away'" in told
    assert warnings([endpoint("http://10.1.2.3:8000/v1", proxy=False)], {"no_proxy": "10.0.0.0/8"}) == []
    assert warnings([endpoint("http://127.0.0.1:8000/v1")], {"no_proxy": "10.0.0.0/8"}) == []


def test_a_key_over_plain_http_to_another_machine_is_warned_of(monkeypatch):
    monkeypatch.delenv("http_proxy", raising=False)
    one = endpoint("http://gpu.example:8000/v1", name="gpu", api_key_env="SOME_KEY")
    (told,) = warnings([one], {})
    assert "'gpu'" in told
    assert "SOME_KEY" in told
    assert "insecure = true" in told
    assert warnings([one], {}, ["gpu"]) == []
    for other in (
        endpoint("https://gpu.example/v1", api_key_env="SOME_KEY"),
        endpoint("http://127.0.0.1:8000/v1", api_key_env="SOME_KEY"),
        endpoint("http://[::1]:8000/v1", api_key_env="SOME_KEY"),
        endpoint("http://gpu.example:8000/v1"),
    ):
        assert warnings([other], {}) == []


@pytest.mark.anyio
async def test_an_endpoint_without_proxy_is_reached_directly(monkeypatch):
    """The proxy of the environment is dead: only a direct request gets an answer."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setattr("molaudit.engine.models.transport_proxies.is_loopback", lambda _host: False)
    async with fault_server() as (_, url), Transport(4) as transport:
        direct = await transport.send(
            transport.open(endpoint(url, proxy=False), auth_headers), "/ok", b"{}", 5.0
        )
        through = await transport.send(transport.open(endpoint(url), auth_headers), "/ok", b"{}", 5.0)
    assert isinstance(direct, Response)
    assert not isinstance(through, Response)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("header", "sent"), [("api-key", "sk-test-SECRET123"), ("authorization", "Bearer sk-test-SECRET123")]
)
async def test_azure_gets_its_key_header_and_its_version_behind_the_path(monkeypatch, header, sent):
    monkeypatch.setenv("SOME_KEY", "sk-test-SECRET123")
    async with fault_server() as (faults, url), Transport(4) as transport:
        one = endpoint(f"{url}?api-version=2024-10-21", api_key_env="SOME_KEY", api_key_header=header)
        monkeypatch.setattr(type(faults), "ok?api_version=2024_10_21", type(faults).ok, raising=False)
        await transport.send(transport.open(one, auth_headers), "/ok", b"{}", 5.0)
    path, headers, _ = faults.requests[0]
    assert path == "/v1/ok?api-version=2024-10-21"
    assert headers[header] == sent
    assert {"authorization", "api-key"} & headers.keys() == {header}
