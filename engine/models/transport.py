"""The only place that opens sockets as a client: one request per attempt, whatever happens returned as a value.

Through the httpx API with aiohttp's connections underneath: httpx's own pool collapses at hundreds of connections.
Nothing here retries, follows redirects, keeps cookies or logs. A key is read from the environment when the
transport opens and lives in request headers only.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, NoReturn

import aiohttp
import anyio
import httpx
from httpx_aiohttp import AiohttpTransport
from yarl import URL

from ..errors import SettingsError
from .records import Call, Endpoint, Outcome, Response, TransportFailure
from .transport_errors import classify
from .transport_proxies import proxy_for

BODY_LIMIT = 32 * 1024 * 1024
"""Bytes. A reply of a language model has thousands; this much is a fault or an attack."""

CONNECT_S = 30.0
"""For TCP, and for a usable connection with TLS. What comes after has the attempt's time-out only."""

_IDLE_S = 30.0
"""Idle connections are closed after this, so that none outlives a laptop's sleep or a balancer's patience (60 s)."""

Authorise = Callable[[str, str | None], Mapping[str, str]]
"""From a dialect's name and a key to the headers that carry the key."""

_OPENED_AT_ONCE = 20
_OPENING_PAUSE_S = 0.004
"""Some 2,000 connections a second are opened ahead of need: a server's queue of new ones holds 100 or more."""

_KEEP_ALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
"""A peer that vanished without a word is noticed after two minutes, where the system has these options."""


class Wire:
    """An endpoint ready for requests. It holds the key, so it shows nothing and cannot be copied to disk."""

    __slots__ = ("_base", "_extensions", "_headers", "_paths", "_query", "_transport", "address")

    def __init__(
        self, base_url: str, headers: Mapping[str, str], transport: AiohttpTransport, connect_s: float
    ) -> None:
        self._extensions = {"timeout": {"connect": connect_s, "pool": connect_s}}
        base, mark, query = base_url.partition("?")
        self._base, self._query = base.rstrip("/"), mark + query
        self.address = self._base
        self._headers = httpx.Headers(headers)
        self._paths: dict[str, httpx.URL] = {}
        self._transport = transport

    def __repr__(self) -> str:
        return "<Wire>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a wire holds a key and cannot be serialised")

    async def post(self, path: str, body: bytes) -> httpx.Response:
        """Send, and return when the response headers are there."""
        url = self._paths.get(path)
        if url is None:
            url = self._paths[path] = httpx.URL(self._base + path + self._query)
        request = httpx.Request("POST", url, headers=self._headers, content=body, extensions=self._extensions)
        return await self._transport.handle_async_request(request)


class Transport:
    """Connections to all endpoints of a run; lives within one event loop.

    Parameters
    ----------
    connections
        The most at once. The scheduler's calls in flight must not exceed it: a call would wait for a connection
        within its own time-out.
    body_limit
        Bytes above which a reply is given up.
    certificates
        Load the authorities that httpx trusts (0.03 s). Where no endpoint needs them, aiohttp's own will do for a
        proxy.
    """

    def __init__(self, connections: int, *, body_limit: int = BODY_LIMIT, certificates: bool = True) -> None:
        self._connections = connections
        self._body_limit = body_limit
        self._certificates = certificates
        self._session: aiohttp.ClientSession | None = None
        self._ways: dict[str | None, AiohttpTransport] = {}

    async def __aenter__(self) -> Transport:
        context = httpx.create_ssl_context() if self._certificates else None
        connector = aiohttp.TCPConnector(
            limit=self._connections,
            limit_per_host=0,
            keepalive_timeout=_IDLE_S,
            ssl=True if context is None else context,
            socket_factory=_open_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )
        self._ways = {None: AiohttpTransport(verify=context or False, client=self._session)}
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            with anyio.CancelScope(shield=True):
                await self._session.close()
            self._session = None
            self._ways = {}

    def open(self, endpoint: Endpoint, authorise: Authorise, connect_s: float = CONNECT_S) -> Wire:
        """Make an endpoint ready: its key from the environment, its proxy too unless it is on this machine.

        Raises
        ------
        SettingsError
            When the environment variable that the endpoint names is not set.
        """
        headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": "molaudit",
            **endpoint.headers,
            **_key_headers(endpoint, authorise),
        }
        return Wire(endpoint.base_url, headers, self._way(_proxy(endpoint)), connect_s)

    def sender(
        self,
        endpoints: Mapping[str, Endpoint],
        authorise: Authorise,
        connect_s: Mapping[str, float] | None = None,
    ) -> Callable[[Call], Awaitable[Response | TransportFailure]]:
        """What the scheduler needs: a function from a call to whatever happened.

        ``connect_s`` gives the seconds for making a connection, by endpoint; `CONNECT_S` where it names none.
        """
        patience = connect_s or {}
        wires = {
            name: self.open(endpoint, authorise, patience.get(name, CONNECT_S))
            for name, endpoint in endpoints.items()
        }

        async def send(call: Call) -> Response | TransportFailure:
            return await self.send(wires[call.endpoint], call.path, call.body)

        return send

    async def send(
        self, wire: Wire, path: str, body: bytes, timeout_s: float | None = None
    ) -> Response | TransportFailure:
        """Make one request, from the connection to the last byte within ``timeout_s``. Never raises but to cancel."""
        if timeout_s is None:
            return await self._send(wire, path, body)
        with anyio.move_on_after(timeout_s):
            return await self._send(wire, path, body)
        return TransportFailure(Outcome.TIMED_OUT, "attempt_timeout", True)

    async def open_ahead(self, endpoint: Endpoint, count: int) -> None:
        """Open connections that will soon be needed, until cancelled; then those that are open are ready for use.

        For the time in which the first reply is awaited: 2,000 connections take half a second. It fails in silence,
        since whoever needs a connection will be told. Through a proxy none are opened.
        """
        session = self._session
        if session is None or session.connector is None or _proxy(endpoint) is not None:
            return
        connector, url = session.connector, URL(endpoint.base_url)
        opened: list[aiohttp.connector.Connection] = []

        async def open_one() -> None:
            request = aiohttp.ClientRequest("POST", url, loop=asyncio.get_running_loop())
            try:
                opened.append(await connector.connect(request, [], aiohttp.ClientTimeout(connect=CONNECT_S)))
            except Exception:  # noqa: BLE001 - calls do without it
                scope.cancel()

        try:
            with anyio.CancelScope() as scope:
                while len(opened) < count:
                    async with anyio.create_task_group() as tasks:
                        for _ in range(min(_OPENED_AT_ONCE, count - len(opened))):
                            tasks.start_soon(open_one)
                    await anyio.sleep(_OPENING_PAUSE_S)
                await anyio.sleep_forever()
        finally:
            for connection in opened:
                connection.release()

    async def _send(self, wire: Wire, path: str, body: bytes) -> Response | TransportFailure:
        try:
            response = await wire.post(path, body)
            try:
                content = await self._read(response)
            finally:
                await response.stream.aclose()  # type: ignore[union-attr]
        except (httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, OSError, ValueError) as error:
            return classify(error, wire.address)
        if isinstance(content, int):
            return _too_large(response, content, self._body_limit)
        # Not headers.items(), which guesses an encoding per header: 0.05 ms a call.
        headers = {
            name.decode("latin-1").lower(): text.decode("latin-1") for name, text in response.headers.raw
        }
        return Response(response.status_code, headers, content)

    async def _read(self, response: httpx.Response) -> bytes | int:
        """The whole body, decoded; the bytes seen of it when it is larger than the limit."""
        encoded = any(name.lower() == b"content-encoding" for name, _ in response.headers.raw)
        chunks: list[bytes] = []
        size = 0
        stream: Any = response.aiter_bytes() if encoded else response.stream
        async for chunk in stream:
            size += len(chunk)
            if size > self._body_limit:
                return size
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _way(self, proxy: str | None) -> AiohttpTransport:
        if self._session is None:
            raise RuntimeError("open the transport first: async with Transport(...) as transport")
        if proxy not in self._ways:
            self._ways[proxy] = AiohttpTransport(
                verify=False, client=self._session, proxy=None if proxy is None else httpx.Proxy(proxy)
            )
        return self._ways[proxy]


def _too_large(response: httpx.Response, seen: int, limit: int) -> TransportFailure:
    """A reply that no model gives; asking again would bring it again."""
    declared = response.headers.get("content-length", "")
    size = max(seen, int(declared)) if declared.isascii() and declared.isdigit() else seen
    told = f"the reply has {size:,} bytes or more, above the limit of {limit:,}, and was not kept"
    return TransportFailure(Outcome.FAILED, "body_too_large", True, told, size, retryable=False)


def _proxy(endpoint: Endpoint) -> str | None:
    return proxy_for(endpoint.base_url) if endpoint.proxy else None


def _key_headers(endpoint: Endpoint, authorise: Authorise) -> Mapping[str, str]:
    key = api_key(endpoint, os.environ)
    if endpoint.api_key_header is None or key is None:
        return authorise(endpoint.dialect, key)
    return {endpoint.api_key_header: f"Bearer {key}" if endpoint.api_key_header == "authorization" else key}


def api_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The endpoint's key, from the environment; None if it needs none. Call it when a run begins, and keep it out of
    everything that is stored or shown.

    Raises
    ------
    SettingsError
        If the variable is not set or empty, or holds what no header may hold; the message names it.
    """
    if endpoint.api_key_env is None:
        return None
    key = environ.get(endpoint.api_key_env, "").strip()
    if not key:
        raise SettingsError(
            f"endpoint {endpoint.name!r}: the environment variable {endpoint.api_key_env} is not set"
        )
    if not key.isascii() or not key.isprintable():
        raise SettingsError(
            f"endpoint {endpoint.name!r}: the environment variable {endpoint.api_key_env} holds characters that "
            "no key has"
        )
    return key


def _open_socket(info: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol = info[:3]
    opened = socket.socket(family, kind, protocol)
    opened.setblocking(False)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened
