"""Which HTTP client carries thousands of connections: calls per second by client and by calls in flight.

Run as ``python -m molaudit.bench.transport``; the server runs in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import httpx
from httpx_aiohttp import HttpxAiohttpClient

from molaudit.engine.models.records import Endpoint, Response
from molaudit.engine.models.transport import Transport

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 1200}]}).encode()
REPLY = json.dumps({"choices": [{"message": {"content": "-2.31"}}], "padding": "y" * 500}).encode()

Post = Callable[[], Awaitable[bytes]]
Client = Callable[[str, int], AbstractAsyncContextManager[Post]]


class _Server(asyncio.Protocol):
    """Answers every request with the same reply after a fixed time: as little work as a server can do."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._pending = b""
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(REPLY)}\r\n\r\n"
        self._reply = head.encode() + REPLY

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._pending += data
        head, found, body = self._pending.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self._pending = b""
        if self._latency:
            asyncio.get_running_loop().call_later(self._latency, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._reply)


async def serve(latency: float) -> None:
    """Serve until killed; the port is printed."""
    server = await asyncio.get_running_loop().create_server(
        lambda: _Server(latency), "127.0.0.1", 0, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


@contextlib.contextmanager
def running_server(latency: float) -> Iterator[str]:
    """A server in another process; yields its address."""
    command = [sys.executable, "-m", "molaudit.bench.transport", "--serve", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


@asynccontextmanager
async def ours(url: str, connections: int) -> AsyncIterator[Post]:
    """The transport of this program."""
    async with Transport(connections) as transport:
        wire = transport.open(Endpoint("e", "openai-chat", url, url, "e"), lambda _dialect, _key: {})

        async def post() -> bytes:
            result = await transport.send(wire, "/chat/completions", BODY)
            assert isinstance(result, Response), result
            return result.body

        yield post


@asynccontextmanager
async def httpx_aiohttp(url: str, connections: int) -> AsyncIterator[Post]:
    """The bare client that our transport is built on."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    async with HttpxAiohttpClient(limits=limits, timeout=None) as client:

        async def post() -> bytes:
            return (await client.post(url + "/chat/completions", content=BODY)).content

        yield post


@asynccontextmanager
async def httpx_sharded(url: str, connections: int) -> AsyncIterator[Post]:
    """Classic httpx, in clients of at most 50 connections."""
    async with contextlib.AsyncExitStack() as stack:
        shards = []
        for _ in range(max(1, connections // 50)):
            limits = httpx.Limits(max_connections=50, max_keepalive_connections=50)
            shards.append(await stack.enter_async_context(httpx.AsyncClient(limits=limits, timeout=None)))
        turn = 0

        async def post() -> bytes:
            nonlocal turn
            turn += 1
            return (await shards[turn % len(shards)].post(url + "/chat/completions", content=BODY)).content

        yield post


@asynccontextmanager
async def httpx2_plain(url: str, connections: int) -> AsyncIterator[Post]:
    """The maintained fork of httpx with its own pool."""
    import httpx2

    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    async with httpx2.AsyncClient(limits=limits, timeout=None) as client:

        async def post() -> bytes:
            return bytes((await client.post(url + "/chat/completions", content=BODY)).content)

        yield post


@asynccontextmanager
async def bare_aiohttp(url: str, connections: int) -> AsyncIterator[Post]:
    """aiohttp without the httpx API: what that API costs."""
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post() -> bytes:
            async with session.post(url + "/chat/completions", data=BODY) as response:
                return await response.read()

        yield post


def clients() -> dict[str, Client]:
    """The candidates that are installed."""
    found: dict[str, Client] = {
        "molaudit transport": ours,
        "httpx, aiohttp transport": httpx_aiohttp,
        "httpx, shards of 50": httpx_sharded,
        "aiohttp": bare_aiohttp,
    }
    if importlib.util.find_spec("httpx2") is not None:
        found["httpx2"] = httpx2_plain
    return found


async def measure(client: Client, url: str, calls: int, in_flight: int) -> float:
    """Seconds for ``calls`` calls, each checked, with ``in_flight`` workers."""
    left = iter(range(calls))
    answered = 0

    async def work(post: Post) -> None:
        nonlocal answered
        for _ in left:
            assert await post() == REPLY
            answered += 1

    async with client(url, in_flight) as post:
        start = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(in_flight):
                tasks.create_task(work(post))
        seconds = time.perf_counter() - start
    assert answered == calls
    return seconds


def main() -> None:
    """Print a table and, as the last line, JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=float, metavar="LATENCY")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[10, 100, 500])
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--only", nargs="+")
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(serve(options.serve))
        return
    rows: dict[str, dict[int, float]] = {}
    with running_server(options.latency) as url:
        for name, client in clients().items():
            if options.only and name not in options.only:
                continue
            for in_flight in options.in_flight:
                seconds = asyncio.run(measure(client, url, options.calls, in_flight))
                rows.setdefault(name, {})[in_flight] = options.calls / seconds
    print(
        f"{options.calls} calls, {options.latency:g} s, Python {platform.python_version()}, {os.cpu_count()} cores"
    )
    print(f"{'calls/s by calls in flight':32}" + "".join(f"{n:>8}" for n in options.in_flight))
    for name, row in rows.items():
        print(f"{name:32}" + "".join(f"{row[n]:8.0f}" for n in options.in_flight))
    print(json.dumps({"calls": options.calls, "latency_s": options.latency, "calls_per_second": rows}))


if __name__ == "__main__":
    main()
