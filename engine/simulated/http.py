"""One connection of the simulated server: HTTP/1.1 by hand, as little of it as API clients use.

Keep-alive and bodies of a stated length; no chunked bodies, no upgrade. A framework would be the bottleneck
of every measurement made against it: the same loopback served three to four times fewer requests a second.

A reply counts as delivered when its last byte has been handed to the socket, never earlier: a client that was
killed in between has not received it. So the write buffer is watched down to zero.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024

DRIP_PIECES = 20
DRIP_GAP_S = 0.1
# Long enough for the client's loop to see the bytes before the reset overtakes them.
RESET_AFTER_S = 0.01

_LINGER_0 = struct.pack("ii", 1, 0)
_REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(slots=True)
class Delivery:
    """A reply and the manner of its sending: whole, drip, reset, reset-body, reset-after or hang."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    manner: str = "whole"
    delay_s: float = 0.0
    digest: bytes | None = None
    output_tokens: int = 0
    counted: bool = False


class Core(Protocol):
    """What a connection needs of the server behind it."""

    def respond(self, method: str, path: str, body: bytes) -> Delivery:
        """Decide the reply to a request that was read completely."""

    def began(self, delivery: Delivery) -> None:
        """Learn that a reply is due."""

    def ended(self, delivery: Delivery, delivered: bool) -> None:
        """Learn that it was handed to the socket to its last byte, or never will be."""

    def opened(self, connection: Connection) -> None:
        """Learn of a connection."""

    def closed(self, connection: Connection) -> None:
        """Learn of its end."""


class Connection(asyncio.Protocol):
    """Reads requests one after another, and sends each reply when it is due. Pipelined requests wait."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._current: Delivery | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._draining = False
        self._keep_alive = True
        self._continued = False

    # The four calls that asyncio makes.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=0)
        self._core.opened(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._current is None:
            self._advance()
        elif len(self._buffer) > MAX_HEAD + MAX_BODY:
            self._transport.abort()

    def resume_writing(self) -> None:
        if self._draining:
            self._draining = False
            self._sent()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self._timer is not None:
            self._timer.cancel()
        self._end(delivered=False)
        self._core.closed(self)

    def abort(self) -> None:
        """Drop the connection, and the reply that is due on it."""
        self._transport.abort()

    # Reading.

    def _advance(self) -> None:
        """Answer what has arrived, one request after another, until one has to wait or bytes are missing."""
        while self._current is None and not self._transport.is_closing():
            request = self._take()
            if request is None:
                return
            self._begin(self._core.respond(*request))

    def _take(self) -> tuple[str, str, bytes] | None:
        """Cut a whole request off the buffer: method, path, body. None while bytes are missing, or refused."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                self._refuse(431, "the request's head is longer than 64 kB")
            return None
        head = bytes(self._buffer[:end])
        lower = head.lower() + b"\r\n"
        length = _length(lower)
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if length is None:
            self._refuse(411, "send Content-Length: chunked bodies are not supported")
        elif length > MAX_BODY:
            self._refuse(413, "the body is larger than 64 MB")
        elif len(words) != 3:
            self._refuse(400, "the first line is not METHOD PATH VERSION")
        elif len(self._buffer) >= end + 4 + length:
            body = bytes(self._buffer[end + 4 : end + 4 + length])
            del self._buffer[: end + 4 + length]
            self._continued = False
            self._keep_alive = words[2] == "HTTP/1.1" and b"\r\nconnection: close\r\n" not in lower
            return words[0], words[1].partition("?")[0], body
        elif b"\r\nexpect: 100-continue\r\n" in lower and not self._continued:
            self._continued = True
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return None

    def _refuse(self, status: int, message: str) -> None:
        """Answer a request that cannot be read, and close: where the next one starts is unknown."""
        self._keep_alive = False
        self._begin(Delivery(status, message.encode(), content_type="text/plain; charset=utf-8"))

    # Sending.

    def _begin(self, delivery: Delivery) -> None:
        self._current = delivery
        self._core.began(delivery)
        if delivery.delay_s > 0:
            self._timer = self._loop.call_later(delivery.delay_s, self._send, delivery)
        else:
            self._send(delivery)

    def _send(self, delivery: Delivery) -> None:
        if delivery.manner == "hang":
            return
        if delivery.manner == "reset":
            self._reset()
            return
        payload = self._head(delivery) + delivery.body
        if delivery.manner == "reset-body":
            self._transport.write(payload[: len(payload) - (len(delivery.body) + 1) // 2])
            self._timer = self._loop.call_later(RESET_AFTER_S, self._reset)
        elif delivery.manner == "drip":
            self._drip(payload, max(1, -(-len(payload) // DRIP_PIECES)))
        else:
            self._write_last(payload)

    def _drip(self, payload: bytes, size: int) -> None:
        if len(payload) > size:
            self._transport.write(payload[:size])
            self._timer = self._loop.call_later(DRIP_GAP_S, self._drip, payload[size:], size)
        else:
            self._write_last(payload)

    def _write_last(self, payload: bytes) -> None:
        self._transport.write(payload)
        if self._transport.get_write_buffer_size() == 0 and not self._transport.is_closing():
            self._sent()
        else:
            self._draining = True

    def _sent(self) -> None:
        delivery = self._current
        if delivery is not None and delivery.manner == "reset-after":
            self._keep_alive = True
            self._core.ended(delivery, delivered=True)
            self._current = Delivery(0, b"", manner="hang")
            self._core.began(self._current)
            self._timer = self._loop.call_later(RESET_AFTER_S, self._reset)
            return
        self._end(delivered=True)
        if not self._keep_alive:
            self._transport.close()
        elif self._buffer:
            # Not a direct call: a long pipeline of immediate replies would recurse.
            self._loop.call_soon(self._advance)

    def _end(self, *, delivered: bool) -> None:
        delivery, self._current = self._current, None
        if delivery is not None:
            self._core.ended(delivery, delivered)

    def _reset(self) -> None:
        """Close with RST instead of FIN: a lingering time of zero."""
        sock = self._transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
        self._transport.abort()

    def _head(self, delivery: Delivery) -> bytes:
        text = (
            f"HTTP/1.1 {delivery.status} {_REASONS.get(delivery.status, 'Overloaded')}\r\n"
            f"server: molaudit-simulated\r\ncontent-type: {delivery.content_type}\r\n"
            f"content-length: {len(delivery.body)}\r\n"
        )
        for name, value in delivery.headers:
            text += f"{name}: {value}\r\n"
        return (text + ("\r\n" if self._keep_alive else "connection: close\r\n\r\n")).encode("latin-1")


def _length(lower: bytes) -> int | None:
    """Read the body's length from a lower-case head; None when it is not stated as digits."""
    if b"\r\ntransfer-encoding:" in lower:
        return None
    start = lower.find(b"\r\ncontent-length:")
    if start < 0:
        return 0
    start += 17
    text = lower[start : lower.index(b"\r\n", start)].strip()
    return int(text) if text.isdigit() and len(text) < 16 else None
