"""Kernels that are not compiled yet: done by several processes while something else is awaited, and said.

A first use compiles for some ten seconds, which numba does under one lock in each process. Helpers share the work
with the process that needs it (`molaudit.kernels.machine.warming`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from time import monotonic

from molaudit.kernels.machine import compile_time
from molaudit.kernels.machine.cache_folder import cache_folder, is_warm

from . import children
from .children import cores

_PROGRAM = "molaudit.kernels.machine.warming"
_MOST_PROCESSES = 3
"""There are six steps, of which the longest takes a quarter of the time."""


class _Told:
    """Who is told, and whether it has been said that kernels are compiled."""

    tell: Callable[[str], None] | None = None
    begun = False
    helpers = 0


def tell_with(tell: Callable[[str], None], *, begun: bool = False) -> None:
    """Have a function told when compiling takes over a second; ``begun``: that it does so has been said."""
    _Told.tell, _Told.begun = tell, begun
    compile_time.when_it_takes_long(_say_begin)


def tell(text: str) -> None:
    """Tell whoever is to be told."""
    if _Told.tell is not None:
        _Told.tell(text)


def say_total() -> None:
    """Say what this process has compiled, if it was said that it does."""
    found = compile_time.compiled()
    if _Told.begun and found.kernels:
        tell(f"{found.kernels} numerical kernels compiled in {found.seconds:.1f} s")
    _forget()


@contextmanager
def compiled_ahead(hidden: Iterable[str] = ()) -> Iterator[None]:
    """Within the block, other processes compile what scoring needs, if it is not compiled yet.

    They end with the block, or with this process by whatever death. ``hidden`` names environment variables that they
    do not get: those of the keys.
    """
    started = _start_helpers(frozenset(hidden))
    _Told.helpers += len(started)
    try:
        yield
    finally:
        _Told.helpers -= len(started)
        for one in started:
            children.end(one)


def prepare(*, alone: bool = False) -> None:
    """Compile what scoring needs; returns when all of it is on disk. ``alone``: other processes start the helpers."""
    folder = cache_folder()
    if folder is None or is_warm(folder):
        return
    from molaudit.kernels.machine import warming

    begin = monotonic()
    with nullcontext() if alone else compiled_ahead():
        warming.warm()
    tell(f"numerical kernels compiled in {monotonic() - begin:.1f} s")
    _forget()


def _start_helpers(hidden: frozenset[str]) -> list[children.Child]:
    folder = cache_folder()
    if folder is None or is_warm(folder) or _Told.helpers or not sys.executable:
        return []
    _say_begin()
    environment = children.environment_without(hidden)
    started = []
    with suppress(OSError):  # what cannot be started does not help
        for _ in range(min(cores(), _MOST_PROCESSES) - 1):
            started.append(children.start(_PROGRAM, environment=environment, answers=False, own_session=True))
    return started


def _forget() -> None:
    _Told.begun = False
    compile_time.reset()


def _say_begin() -> None:
    if _Told.begun:
        return
    _Told.begun = True
    folder = cache_folder()
    kept = f"kept in {folder}" if folder else "kept nowhere, for no folder of one's own can be written"
    tell(f"compiling numerical kernels, once for this machine and version ({kept})")
