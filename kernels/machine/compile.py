"""The only place that knows how kernels are compiled, and how long that takes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar, cast

import numba
from numba.core import config, event

from . import compile_time
from .cache_folder import cache_folder

F = TypeVar("F", bound=Callable[..., Any])


class _Watch(event.Listener):
    """Counts what is compiled. Numba holds a lock meanwhile; of what is compiled for a kernel, the kernel counts."""

    def __init__(self) -> None:
        self._begun: list[float] = []

    def on_start(self, _event: Any) -> None:
        if not self._begun:
            compile_time.begin()
        self._begun.append(perf_counter())

    def on_end(self, _event: Any) -> None:
        begun = self._begun.pop()
        if not self._begun:
            compile_time.add(perf_counter() - begun)


event.register("numba:compile", _Watch())  # type: ignore[no-untyped-call]


def kernel() -> Callable[[F], F]:
    """Compile a function on its first call, for numpy's rules of division, without the GIL."""

    def compile_later(function: F) -> F:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        folder = cache_folder()
        if folder is None:
            return cast(F, numba.njit(**options)(function))
        before = config.CACHE_DIR  # type: ignore[attr-defined]
        config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        try:
            compiled = numba.njit(cache=True, **options)(function)
        finally:
            config.CACHE_DIR = before  # type: ignore[attr-defined]
        _work_without_the_disk(compiled)
        return cast(F, compiled)

    return compile_later


def _work_without_the_disk(compiled: Any) -> None:
    """Let a kernel that cannot be kept (a full disk), or was kept badly (a crash), be compiled instead of failing."""
    cache = compiled._cache
    load, save = cache.load_overload, cache.save_overload

    def load_if_possible(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:  # noqa: BLE001 - what cannot be read back, for whatever reason, is not there
            with contextlib.suppress(Exception):
                cache.flush()
            return None

    def save_if_possible(signature: Any, data: Any) -> None:
        with contextlib.suppress(Exception):
            save(signature, data)

    cache.load_overload, cache.save_overload = load_if_possible, save_if_possible


def device(function: F) -> F:
    """Compile a helper that kernels call: inlined by LLVM, never cached on its own."""
    return cast(F, numba.njit(nogil=True, error_model="numpy", inline="never")(function))
