"""A server that misbehaves on purpose: one path per fault."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from molaudit.engine.models.records import Endpoint

ANSWER = b'{"choices": [{"message": {"content": "-2.31"}}]}'


def http(body: bytes, status: str = "200 OK", *headers: str, length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class FaultServer:
    """Reads a request, then does what its path says; keeps what it read."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                first, *lines = head.strip().split("\r\n")
                headers = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                path = first.split(" ")[1]
                self.requests.append((path, headers, body))
                await getattr(self, path.removeprefix("/v1/").replace("-", "_"))(writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def ok(self, writer: asyncio.StreamWriter) -> None:
        writer.write(
            http(ANSWER, "200 OK", "Content-Type: application/json", "Set-Cookie: a=1", "X-Request-ID: 7")
        )

    async def zipped(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(gzip.compress(ANSWER), "200 OK", "content-encoding: gzip"))

    async def badly_zipped(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"no gzip at all", "200 OK", "content-encoding: gzip"))

    async def bomb(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(gzip.compress(bytes(40_000_000)), "200 OK", "content-encoding: gzip"))

    async def chunked(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for part in (ANSWER[:7], ANSWER[7:]):
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        writer.write(b"0\r\n\r\n")

    async def throttled(self, writer: asyncio.StreamWriter) -> None:
        writer.write(
            http(
                b"<html>slow down</html>",
                "429 Too Many Requests",
                "Retry-After: 1.5",
                "content-type: text/html",
            )
        )

    async def bad_gateway(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"", "502 Bad Gateway"))

    async def half_json(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(ANSWER[:20]))

    async def hostile(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http("\0\u2028\N{BOMB}".encode() + b"\xff\xfe"))

    async def moved(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"", "307 Temporary Redirect", "location: /v1/ok"))

    async def huge(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 400000000\r\n\r\n")
        for _ in range(400):
            writer.write(bytes(1_000_000))
            await writer.drain()

    async def silent(self, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def drip(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    async def slow_drip_that_ends(self, writer: asyncio.StreamWriter) -> None:
        for at in range(0, len(ANSWER), 10):
            writer.write(ANSWER[at : at + 10] if at else http(ANSWER[:10], length=len(ANSWER)))
            await writer.drain()
            await asyncio.sleep(0.02)

    async def closed(self, writer: asyncio.StreamWriter) -> None:
        raise ConnectionError

    async def reset(self, writer: asyncio.StreamWriter) -> None:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        raise ConnectionError

    async def reset_within(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(ANSWER[:20], length=len(ANSWER)))
        await writer.drain()
        await asyncio.sleep(0.02)
        await self.reset(writer)

    async def cut(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(ANSWER[:20], length=len(ANSWER)))
        await writer.drain()
        raise ConnectionError

    async def reset_after(self, writer: asyncio.StreamWriter) -> None:
        writer.write(http(ANSWER))
        await writer.drain()
        await asyncio.sleep(0.02)
        await self.reset(writer)

    async def not_http(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")

    async def header_flood(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\n\r\n")


@asynccontextmanager
async def fault_server() -> AsyncIterator[tuple[FaultServer, str]]:
    faults = FaultServer()
    server = await asyncio.start_server(faults.handle, "127.0.0.1", 0)
    try:
        yield faults, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


def endpoint(url: str, **changes: object) -> Endpoint:
    return Endpoint(
        **{"name": "e", "dialect": "openai-chat", "base_url": url, "identity": url, "pool": "e", **changes}
    )
