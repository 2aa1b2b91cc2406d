"""Work on many items, spread over threads. Kernels give up the GIL, so Python's own threads run them side by side.

Numba's parallel loops do the same and take three times as long to compile: 18 s against 6 s for what one ``score``
needs, which is most of a first use. They also need a threading layer that not every machine has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

from numba.core import config

_PIECE: Final = 100_000
"""Operations that are worth a hand-over to another thread (about 30 microseconds)."""

_PIECES_EACH: Final = 4
"""Pieces a thread, so that one which other programs hold up leaves its share to the rest."""


class _State:
    """Threads that wait for work, started when there first is some, and how many may work now."""

    pool: ThreadPoolExecutor | None = None
    allowed: int | None = None


def threads() -> int:
    """Return how many threads work: those of ``NUMBA_NUM_THREADS``, by default one for each processor."""
    return int(config.NUMBA_NUM_THREADS) if _State.allowed is None else _State.allowed  # type: ignore[attr-defined]


@contextmanager
def limited(number: int) -> Iterator[None]:
    """Let at most so many threads work meanwhile, in the whole process."""
    if number < 1:
        raise ValueError(f"the number of threads must be at least 1, not {number}")
    before, _State.allowed = _State.allowed, number
    try:
        yield
    finally:
        _State.allowed = before


def spread(work: Callable[[int, int], object], count: int, operations: float) -> None:
    """Call ``work(first, last)`` for ranges that make up ``range(count)``, in several threads at once.

    Parameters
    ----------
    work
        Hardly more than the call of a kernel; it writes what it finds to where no other range does.
    count
        Items.
    operations
        About how many of the processor's an item takes: what takes few in all is done by this thread alone.

    Raises
    ------
    Exception
        What ``work`` raised.
    """
    pieces = min(_PIECES_EACH * threads(), count, int(count * operations / _PIECE))
    if threads() == 1 or pieces < 2:
        work(0, count)
        return
    edges = [count * piece // pieces for piece in range(pieces + 1)]
    # One iterator for all: whoever is free takes the next range.
    ranges = iter(list(pairwise(edges)))

    def take() -> None:
        for first, last in ranges:
            work(first, last)

    helpers = [_pool().submit(take) for _ in range(min(threads(), pieces) - 1)]
    try:
        take()
    finally:
        # Whoever has not started by now finds nothing left; to wait for it could be to wait for oneself.
        started = [helper for helper in helpers if not helper.cancel()]
        errors = [helper.exception() for helper in started]
    for error in errors:
        if error is not None:
            raise error


def _pool() -> ThreadPoolExecutor:
    if _State.pool is None:
        _State.pool = ThreadPoolExecutor(max(threads(), int(config.NUMBA_NUM_THREADS)) - 1, "kernel")  # type: ignore[attr-defined]
    return _State.pool


def _forget_pool() -> None:
    _State.pool = None


os.register_at_fork(after_in_child=_forget_pool)  # the threads stay behind in the parent
