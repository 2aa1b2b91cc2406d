"""Asking a run to stop: once to drain, twice to leave at once."""

from __future__ import annotations

import signal
from collections.abc import Callable

import anyio


class StopRequest:
    """Shared by the run and whoever may stop it; to be used within the run's event loop."""

    def __init__(self) -> None:
        self.times = 0
        self._changed = anyio.Event()

    def request(self) -> None:
        """Stop admitting calls and finish those in flight; a second time: leave at once."""
        self.times += 1
        self._changed.set()
        self._changed = anyio.Event()

    async def wait(self, times: int) -> None:
        """Until it has been asked for so many times."""
        while self.times < times:
            await self._changed.wait()


async def stop_on_signals(stop: StopRequest, announce: Callable[[int], None]) -> None:
    """Turn SIGINT, SIGTERM and SIGHUP into stop requests, until cancelled.

    ``announce`` is told at once how many times it has been asked, so that a person sees that it was heard.
    A signal that is ignored stays so: nohup ignores SIGHUP so that a run outlives its terminal.
    """
    known = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    signals = [one for one in known if signal.getsignal(one) is not signal.SIG_IGN]
    with anyio.open_signal_receiver(*signals) as received:
        async for _ in received:
            stop.request()
            announce(stop.times)
