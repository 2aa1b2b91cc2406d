"""The only place that knows how kernels are compiled.

Numba's disk cache looks only at the file of the outer function, so an edited helper in another file would
leave old machine code in use. The cache therefore lies in a folder named by a digest of all kernel sources
and the numba version: an edit can never meet old code. What numba keeps are pickles, which run as code when they are
read: only a folder that no other user can write to is used. Where there is none, compilation is in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

# GNU OpenMP lets threads that wait spin, which on a machine with other work takes the core from the thread that
# is waited for: kernels of some milliseconds then took five times as long, and four times the CPU time (measured
# on 2 cores). The library reads this when the first parallel kernel loads it; a user's own setting stands.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@cache
def cache_folder() -> Path | None:
    """Return the folder of this source state's machine code, ours alone to write to, or None where there is none."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    name = f"kernels-{digest.hexdigest()}"
    for ours in _our_folders():
        folder = ours / name
        try:
            if not all(_made_private(level) for level in (ours, folder)):
                continue
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _our_folders() -> list[Path]:
    """List the folders of this program, best first, whose parents are not its own."""
    parents = [
        Path(os.environ[name]) for name in ("MOLAUDIT_CACHE_DIR", "XDG_CACHE_HOME") if os.environ.get(name)
    ]
    with contextlib.suppress(RuntimeError):  # no HOME and no entry in the user database
        parents.append(Path.home() / ".cache")
    folders = [parent / "molaudit" for parent in parents]
    with contextlib.suppress(OSError):  # no usable temporary folder
        # The name is the user's, for where all users share the parent the first to come takes a name.
        user = getattr(os, "getuid", lambda: "user")()
        folders.append(Path(tempfile.gettempdir()) / f"molaudit-{user}")
    return folders


def _make(folder: Path) -> None:
    """Make a folder and those above it; ``parents=True`` would give only the last one the mode."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _made_private(folder: Path) -> bool:
    """Make a folder where there is none; whether no other user can put a file there, if the system has users."""
    _make(folder)
    if not hasattr(os, "getuid"):
        return True
    # A link of somebody else may lead to a folder of ours now and elsewhere later.
    owners = {folder.lstat().st_uid, folder.stat().st_uid}
    return owners == {os.getuid()} and not folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def kernel(*, parallel: bool = False) -> Callable[[F], F]:
    """Compile a function on its first call, for numpy's rules of division, without the GIL."""

    def compile_later(function: F) -> F:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "parallel": parallel}
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
