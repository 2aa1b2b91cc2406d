"""Stopping a run from another thread, as a program does that has no signals to itself."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from ..scheduling.stops import StopRequest

LOOK_S = 0.1


async def stop_when_asked(stop: StopRequest, stops: Callable[[], int]) -> None:
    """Ask for as many stops as ``stops`` says: another thread must not touch what belongs to the event loop."""
    while True:
        while stop.times < stops():
            stop.request()
        await anyio.sleep(LOOK_S)
