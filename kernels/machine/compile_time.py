"""How long this process has compiled kernels. Importing this loads no numba, so that a listener costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

TOLD_AFTER_S: Final = 1.0
"""Seconds of compiling that need no word."""


class Compiled(NamedTuple):
    """How many kernels were compiled, and the seconds that took; what was found on disk is not counted."""

    kernels: int = 0
    seconds: float = 0.0


class _State:
    total = Compiled()
    say_so: Callable[[], None] | None = None


def compiled() -> Compiled:
    """Return what this process has compiled, since the last `reset`."""
    return _State.total


def when_it_takes_long(say_so: Callable[[], None] | None) -> None:
    """Have a function called whenever a kernel is about to be compiled after more than `TOLD_AFTER_S` of it."""
    _State.say_so = say_so


def begin() -> None:
    """Note that a kernel is about to be compiled."""
    if _State.total.seconds > TOLD_AFTER_S and _State.say_so is not None:
        _State.say_so()


def reset() -> None:
    """Count anew: what was compiled so far has been said."""
    _State.total = Compiled()


def add(seconds: float) -> None:
    """Note that a kernel has been compiled."""
    _State.total = Compiled(_State.total.kernels + 1, _State.total.seconds + seconds)
