"""Connections, keys and proxies of the transport, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import pickle
import socket

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from fault_server import FaultServer, endpoint, fault_server, http

from molaudit.engine.errors import SettingsError
from molaudit.engine.models.descriptors import fit_descriptors
from molaudit.engine.models.dialects.registry import auth_headers
from molaudit.engine.models.records import Endpoint, Outcome, Response
from molaudit.engine.models.transport import Transport, proxy_for

pytestmark = pytest.mark.anyio

SECRET = "sk-test-SECRET123"


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_connections_are_kept_and_cookies_are_not():
    async with fault_server() as (faults, url), Transport(4) as transport:
        wire = transport.open(endpoint(url), auth_headers)
        for _ in range(5):
            assert isinstance(await transport.send(wire, "/ok", b"{}", 5.0), Response)
    assert faults.connections == 1
    assert not any("cookie" in headers for _, headers, _ in faults.requests)


async def test_connections_opened_ahead_are_those_that_calls_use():
    async with fault_server() as (faults, url), Transport(50) as transport:
        wire = transport.open(endpoint(url), auth_headers)
        async with anyio.create_task_group() as opening:
            opening.start_soon(transport.open_ahead, endpoint(url), 49)
            while faults.connections < 49:
                await anyio.sleep(0.01)
            assert faults.requests == []
            opening.cancel_scope.cancel()
        async with anyio.create_task_group() as tasks:
            for _ in range(49):
                tasks.start_soon(transport.send, wire, "/ok", b"{}", 5.0)
        assert faults.connections == 49
        assert len(faults.requests) == 49


async def test_calls_that_come_while_connections_are_opened_ahead_are_not_held_up():
    """All connections are taken by the opening when a call needs one: it gets it as soon as the opening ends."""
    async with fault_server() as (faults, url), Transport(10) as transport:
        wire = transport.open(endpoint(url), auth_headers)
        async with anyio.create_task_group() as calls, anyio.create_task_group() as opening:
            opening.start_soon(transport.open_ahead, endpoint(url), 10)
            while faults.connections < 10:
                await anyio.sleep(0.01)
            for _ in range(10):
                calls.start_soon(transport.send, wire, "/ok", b"{}", 5.0)
            await wait_all_tasks_blocked()
            assert faults.requests == []
            opening.cancel_scope.cancel()
    assert len(faults.requests) == 10
    assert faults.connections == 10


async def test_opening_ahead_fails_in_silence():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        async with Transport(50) as transport:
            with anyio.fail_after(60):
                await transport.open_ahead(endpoint(url), 49)


async def test_nothing_is_opened_ahead_through_a_proxy(monkeypatch):
    async with fault_server() as (faults, url), Transport(50) as transport:
        monkeypatch.setenv("http_proxy", url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with anyio.fail_after(60):
            await transport.open_ahead(endpoint("http://provider.invalid/v1"), 49)
        assert faults.connections == 0


async def test_two_hundred_replies_at_once_reach_their_own_callers():
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                body = await reader.readexactly(length)
                await asyncio.sleep(0.001 * (int(body) % 17))
                writer.write(http(body))
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, backlog=512)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    wrong = []
    async with Transport(200) as transport, anyio.create_task_group() as tasks:
        wire = transport.open(endpoint(url), auth_headers)

        async def work(first: int) -> None:
            for number in range(first, first + 3):
                result = await transport.send(wire, "/", str(number).encode(), 30.0)
                if not isinstance(result, Response) or result.body != str(number).encode():
                    wrong.append(result)

        for worker in range(200):
            tasks.start_soon(work, 3 * worker)
    server.close()
    assert wrong == []


@pytest.mark.parametrize(
    ("dialect", "header", "value"),
    [
        ("openai-chat", "authorization", f"Bearer {SECRET}"),
        ("anthropic", "x-api-key", SECRET),
        ("gemini", "x-goog-api-key", SECRET),
    ],
)
async def test_the_key_goes_from_the_environment_into_its_header(monkeypatch, dialect, header, value):
    monkeypatch.setenv("SOME_KEY", f" {SECRET}\n")
    async with fault_server() as (faults, url), Transport(4) as transport:
        one = endpoint(
            url, dialect=dialect, api_key_env="SOME_KEY", headers={"anthropic-version": "2023-06-01"}
        )
        await transport.send(transport.open(one, auth_headers), "/ok", b'{"a": 1}', 5.0)
    path, headers, body = faults.requests[0]
    assert (path, body, headers[header]) == ("/v1/ok", b'{"a": 1}', value)
    assert headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    "value", ["", "  ", None, "sk-\N{LATIN SMALL LETTER E WITH ACUTE}" + SECRET, f"a\nb{SECRET}"]
)
async def test_an_unusable_key_is_an_error_that_names_the_variable_only(monkeypatch, value):
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    async with Transport(4) as transport:
        with pytest.raises(SettingsError, match="SOME_KEY") as caught:
            transport.open(endpoint("http://127.0.0.1:1", api_key_env="SOME_KEY"), auth_headers)
    assert SECRET not in repr(caught.value)
    assert caught.value.__cause__ is None


async def test_the_key_is_in_nothing_that_can_be_shown_or_stored(monkeypatch, caplog):
    monkeypatch.setenv("SOME_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    shown = []
    async with fault_server() as (_, url), Transport(4) as transport:
        one = endpoint(url, api_key_env="SOME_KEY")
        wire = transport.open(one, auth_headers)
        shown += [repr(wire), str(wire), repr(one), repr(vars(transport))]
        for path in ("/ok", "/closed", "/reset", "/cut", "/not-http", "/throttled", "/badly-zipped"):
            shown.append(repr(await transport.send(wire, path, b"{}", 5.0)))
        for copying in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError):
                copying(wire)
    assert not any(SECRET in text for text in [*shown, caplog.text])


async def test_the_environment_names_the_proxy_but_never_for_this_machine(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pw@proxy.example:3128")
    monkeypatch.setenv("HTTP_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "internal.example")
    assert proxy_for("https://api.example/v1") == "http://user:pw@proxy.example:3128"
    assert proxy_for("http://api.example/v1") == "http://proxy.example:3128"
    for url in (
        "http://127.0.0.1:8/v1",
        "http://localhost:8/v1",
        "http://[::1]:8",
        "https://internal.example/v1",
    ):
        assert proxy_for(url) is None


async def test_requests_go_through_the_proxy(monkeypatch):
    async with fault_server() as (faults, url):
        monkeypatch.setenv("HTTP_PROXY", url.removesuffix("/v1"))
        monkeypatch.setenv("http_proxy", url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setattr(FaultServer, "http://api.invalid/v1/ok", FaultServer.ok, raising=False)
        async with Transport(4) as transport:
            wire = transport.open(endpoint("http://api.invalid/v1"), auth_headers)
            result = await transport.send(wire, "/ok", b"{}", 5.0)
    assert isinstance(result, Response)
    assert faults.requests[0][0] == "http://api.invalid/v1/ok"


async def test_a_transport_that_is_not_open_says_how_to_open_it():
    with pytest.raises(RuntimeError, match="async with"):
        Transport(4).open(endpoint("http://127.0.0.1:1"), auth_headers)


def test_two_event_loops_one_after_another_work():
    async def once() -> int:
        async with fault_server() as (_, url), Transport(4) as transport:
            result = await transport.send(transport.open(endpoint(url), auth_headers), "/ok", b"{}", 5.0)
        assert isinstance(result, Response)
        return result.status

    assert [anyio.run(once), anyio.run(once)] == [200, 200]


def test_few_descriptors_lower_the_connections_and_say_so(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (64, 64))
    monkeypatch.setattr(resource, "setrlimit", lambda *_args: None)
    fitting, note = fit_descriptors(200)
    assert fitting == 32
    assert "64 open files" in note


def test_enough_descriptors_are_asked_for_without_a_word(monkeypatch):
    resource = pytest.importorskip("resource")
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (256, 10_000))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, limits: asked.append(limits))
    assert fit_descriptors(2000) == (2000, None)
    assert asked == [(2064, 10_000)]


def test_the_time_for_a_connection_is_the_endpoints_own():
    """A listener whose queue is full never completes the handshake: only the connect time-out ends it."""
    with socket.socket() as listener, socket.socket() as one, socket.socket() as two:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        for filler in (one, two):
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))

        async def ask():
            url = f"http://127.0.0.1:{port}/v1"
            endpoint = Endpoint("a", "openai-chat", url, url, "p")
            async with Transport(4) as transport:
                wire = transport.open(endpoint, lambda _dialect, _key: {}, 0.2)
                return await transport.send(wire, "/chat/completions", b"{}", 20.0)

        failure = anyio.run(ask)
    assert (failure.outcome, failure.reason, failure.sent) == (Outcome.UNREACHABLE, "connect_timeout", False)
