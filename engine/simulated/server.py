"""`molaudit serve`: the simulated models behind a real HTTP server on the loopback interface.

It answers as providers do (OpenAI chat and Responses, Anthropic, Gemini), waits, limits and fails as they do,
and counts what it has answered in full, so that a client's claim "none lost, none paid twice" can be checked
from the other side: ``GET /stats``. `start_process` runs it in a process of its own, which ends with its
parent.

The one asyncio server of the program: elsewhere in this room time and tasks are anyio's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from ..errors import SettingsError
from ..models.descriptors import fit_descriptors
from ..processes import children
from .core import Server, ServeSettings
from .http import Connection
from .labels import Book, load

__all__ = ["ServeSettings", "serve", "start_process"]

_MOST_CONNECTIONS = 65_536  # the usual soft limit of 1,024 is fewer than runs have in flight
_START_S = 60.0
_STOP_S = 5.0


def serve(settings: ServeSettings, *, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, then drop what is in flight and return.

    ``ready`` is called once, with the base URL (``http://HOST:PORT/v1``), when connections are accepted.

    Raises
    ------
    SettingsError
        The address cannot be listened on, or a label file cannot be used.
    """
    book = load(settings.labels)
    asyncio.run(_serve(settings, book, ready, _signals))


async def _serve(
    settings: ServeSettings,
    book: Book,
    ready: Callable[[str], None],
    until: Callable[[Callable[[], None]], contextlib.AbstractContextManager[None]],
) -> None:
    """Serve until the function that ``until`` is given has been called."""
    loop = asyncio.get_running_loop()
    server = Server(settings, book, loop.time)
    stopped = asyncio.Event()
    fit_descriptors(_MOST_CONNECTIONS, spare=0)
    try:
        listener = await loop.create_server(
            lambda: Connection(server), settings.host, settings.port, backlog=4096
        )
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror or error}); "
            "choose another --port, or 0 for any free one"
        ) from error

    def stop() -> None:
        loop.call_soon_threadsafe(stopped.set)

    with until(stop):
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        ready(f"http://{host}:{listener.sockets[0].getsockname()[1]}/v1")
        await stopped.wait()
    listener.close()
    for connection in list(server.connections):
        connection.abort()
    await listener.wait_closed()


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Stop on SIGINT and SIGTERM; outside the main thread signals are not ours to take."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def start_process(settings: ServeSettings) -> Iterator[str]:
    """Run the server in a process of its own while the block runs; yields the base URL.

    The child reads its standard input until that ends, and stops then. So it dies with its parent however
    that ends, kill -9 included. Ctrl-C does not reach it: a client that drains needs its server for a moment
    longer.

    Raises
    ------
    SettingsError
        As `serve`, or the process did not start; the message is the child's.
    """
    child = children.start(__name__, complains=True)
    try:
        # A child that died at once takes nothing; what it printed says why.
        children.tell(child, children.line(asdict(settings)))
        first = next(children.messages(child, _START_S), {})
        if "base_url" not in first:
            raise SettingsError(first.get("error", "the simulated server's process ended before it served"))
        yield first["base_url"]
    finally:
        children.end(child, _STOP_S)


def _child() -> None:
    """Be the process that `start_process` starts: settings come as a line of JSON, the URL goes out as one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    values: dict[str, Any] = json.loads(sys.stdin.readline())
    try:
        settings = ServeSettings(**{**values, "labels": tuple(values["labels"])})
        asyncio.run(_serve(settings, load(settings.labels), _print_url, _end_of_input))
    except SettingsError as error:
        _say({"error": str(error)})


def _print_url(base_url: str) -> None:
    _say({"base_url": base_url})


def _say(message: dict[str, str]) -> None:
    sys.stdout.buffer.write(children.line(message))
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def _end_of_input(stop: Callable[[], None]) -> Iterator[None]:
    """Stop when standard input ends, or on SIGTERM."""

    def watch() -> None:
        sys.stdin.read()
        # The loop may have ended first, by SIGTERM.
        with contextlib.suppress(RuntimeError):
            stop()

    threading.Thread(target=watch, daemon=True, name="parent-watch").start()
    previous = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


if __name__ == "__main__":
    _child()
