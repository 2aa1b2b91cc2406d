"""Simulated models served in a thread of this process, where what a test has changed or added is known."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from molaudit.engine.simulated import server as serving
from molaudit.engine.simulated.core import ServeSettings
from molaudit.engine.simulated.labels import Book, load


@contextlib.contextmanager
def served_here(book: Book | None = None, **settings: Any) -> Iterator[str]:
    """Serve while the block runs; it gets the base URL."""
    stops: list[Callable[[], None]] = []
    urls: list[str] = []
    started = threading.Event()

    @contextlib.contextmanager
    def until(stop: Callable[[], None]) -> Iterator[None]:
        stops.append(stop)
        yield

    def ready(url: str) -> None:
        urls.append(url)
        started.set()

    thread = threading.Thread(
        target=lambda: asyncio.run(
            serving._serve(ServeSettings(**settings), load() if book is None else book, ready, until)
        )
    )
    thread.start()
    assert started.wait(60)
    try:
        yield urls[0]
    finally:
        stops[0]()
        thread.join(60)
        assert not thread.is_alive()
