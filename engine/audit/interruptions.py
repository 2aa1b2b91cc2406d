"""Ctrl-C, SIGTERM and SIGHUP outside the calls: all end a command the same way.

While calls are made `scheduling.stops` takes these signals, to drain.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


def interrupt_on_signals() -> dict[signal.Signals, object]:
    """Have SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT does; returns the handlers that stood before.

    A signal that is ignored stays so: nohup ignores SIGHUP so that a run outlives its terminal. Only the main
    thread may set handlers; elsewhere nothing is changed.
    """
    before: dict[signal.Signals, object] = {}
    if threading.current_thread() is not threading.main_thread():
        return before
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, _interrupt)
    return before


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block `interrupt_on_signals` holds."""
    before = interrupt_on_signals()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]


def interrupt_input() -> None:
    """Let Ctrl-C end a wait for input: libraries that take SIGINT for themselves (polars) have such waits go on."""
    if threading.current_thread() is threading.main_thread():
        signal.siginterrupt(signal.SIGINT, True)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
