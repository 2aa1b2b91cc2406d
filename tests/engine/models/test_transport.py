"""What becomes of a reply or of its lack, over real sockets: a path of the server per fault."""

from __future__ import annotations

import asyncio
import errno
import socket

import aiohttp
import httpx
import pytest
from fault_server import ANSWER, endpoint, fault_server, http

from molaudit.engine.models.dialects.registry import auth_headers
from molaudit.engine.models.records import Outcome, Response, TransportFailure
from molaudit.engine.models.transport import Transport, classify

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def ask(
    path: str, *, timeout_s: float = 5.0, body_limit: int = 2_000_000
) -> Response | TransportFailure:
    async with fault_server() as (_, url), Transport(4, body_limit=body_limit) as transport:
        return await transport.send(transport.open(endpoint(url), auth_headers), path, b"{}", timeout_s)


@pytest.mark.parametrize("path", ["/ok", "/zipped", "/chunked", "/slow-drip-that-ends", "/reset-after"])
async def test_a_whole_answer_arrives_whatever_its_shape(path):
    response = await ask(path)
    assert isinstance(response, Response)
    assert (response.status, response.body) == (200, ANSWER)


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/throttled", 429, b"<html>slow down</html>"),
        ("/bad-gateway", 502, b""),
        ("/half-json", 200, ANSWER[:20]),
        ("/moved", 307, b""),
        ("/hostile", 200, b"\0\xe2\x80\xa8\xf0\x9f\x92\xa3\xff\xfe"),
    ],
)
async def test_a_reply_is_handed_on_as_it_came(path, status, body):
    response = await ask(path)
    assert isinstance(response, Response)
    assert (response.status, response.body) == (status, body)


async def test_header_names_come_in_lower_case():
    assert (await ask("/throttled")).headers["retry-after"] == "1.5"


@pytest.mark.parametrize(
    ("path", "outcome", "reason"),
    [
        ("/silent", Outcome.TIMED_OUT, "attempt_timeout"),
        ("/drip", Outcome.TIMED_OUT, "attempt_timeout"),
        ("/closed", Outcome.FAILED, "disconnected"),
        ("/reset", Outcome.FAILED, "reset"),
        ("/reset-within", Outcome.FAILED, "body_cut_short"),
        ("/cut", Outcome.FAILED, "body_cut_short"),
        ("/huge", Outcome.FAILED, "body_too_large"),
        ("/bomb", Outcome.FAILED, "body_too_large"),
        ("/badly-zipped", Outcome.MALFORMED, "content_encoding"),
        ("/not-http", Outcome.FAILED, "not_http"),
        ("/header-flood", Outcome.FAILED, "not_http"),
    ],
)
async def test_a_reply_lost_after_the_hand_over_may_have_been_billed(path, outcome, reason):
    assert await ask(path, timeout_s=0.4 if outcome is Outcome.TIMED_OUT else 5.0) == TransportFailure(
        outcome, reason, True
    )


async def test_a_refused_connection_was_certainly_not_billed():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        async with Transport(4) as transport:
            result = await transport.send(transport.open(endpoint(url), auth_headers), "/ok", b"{}", 5.0)
    assert result == TransportFailure(Outcome.UNREACHABLE, "connection_refused", False)


async def test_what_cannot_be_reached_is_named_with_its_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        async with Transport(4) as transport:
            wire = transport.open(endpoint(f"{url}?api-version=1"), auth_headers)
            result = await transport.send(wire, "/ok", b"{}", 5.0)
    assert result.message == f"cannot connect to {url} (connection refused)"


@pytest.mark.parametrize(("path", "least"), [("/huge", 400_000_000), ("/bomb", 2_000_001)])
async def test_a_reply_over_the_limit_is_told_with_its_size_and_is_final(path, least):
    result = await ask(path)
    assert (result.reason, result.retryable) == ("body_too_large", False)
    assert result.size >= least
    assert f"{result.size:,} bytes or more, above the limit of 2,000,000" in result.message


async def test_an_unknown_host_was_certainly_not_billed():
    async with Transport(4) as transport:
        wire = transport.open(endpoint("http://no-such-host.invalid/v1"), auth_headers)
        result = await transport.send(wire, "/ok", b"{}", 20.0)
    assert result == TransportFailure(Outcome.UNREACHABLE, "dns", False)


async def test_plain_http_at_a_tls_address_is_told():
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(http(b"", "400 Bad Request"))
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with Transport(4) as transport:
        wire = transport.open(
            endpoint(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"), auth_headers
        )
        result = await transport.send(wire, "/ok", b"{}", 5.0)
    server.close()
    assert result == TransportFailure(Outcome.UNREACHABLE, "tls", False)


@pytest.mark.parametrize(
    ("cause", "outcome", "reason", "sent"),
    [
        (OSError(errno.EMFILE, "too many"), Outcome.UNREACHABLE, "descriptors", False),
        (aiohttp.ServerDisconnectedError(), Outcome.FAILED, "disconnected", True),
        (aiohttp.ClientOSError(errno.ECONNRESET, "reset"), Outcome.FAILED, "reset", True),
        (aiohttp.ConnectionTimeoutError(), Outcome.UNREACHABLE, "connect_timeout", False),
        (aiohttp.SocketTimeoutError(), Outcome.TIMED_OUT, "read_timeout", True),
        (aiohttp.ClientConnectionError(), Outcome.FAILED, "ClientConnectionError", True),
    ],
)
def test_the_cause_and_not_its_name_tells_what_happened(cause, outcome, reason, sent):
    hidden = httpx.ConnectTimeout("hidden")
    hidden.__cause__ = cause
    assert classify(hidden) == TransportFailure(outcome, reason, sent)


async def test_running_out_of_descriptors_has_its_own_word(monkeypatch):
    def full(*_args: object, **_named: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async with fault_server() as (_, url), Transport(4) as transport:
        wire = transport.open(endpoint(url), auth_headers)
        monkeypatch.setattr("molaudit.engine.models.transport.socket.socket", full)
        result = await transport.send(wire, "/ok", b"{}", 5.0)
    assert result == TransportFailure(Outcome.UNREACHABLE, "descriptors", False)


async def test_no_fault_is_repeated_below_the_retry_layer():
    async with fault_server() as (faults, url), Transport(4) as transport:
        wire = transport.open(endpoint(url), auth_headers)
        for path in ("/ok", "/closed", "/reset", "/cut", "/moved"):
            await transport.send(wire, path, b"{}", 5.0)
    assert [path for path, _, _ in faults.requests] == [
        "/v1/ok",
        "/v1/closed",
        "/v1/reset",
        "/v1/cut",
        "/v1/moved",
    ]
