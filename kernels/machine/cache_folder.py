"""Where machine code is kept. Importing this loads no numba: whether there is any to compile is asked before.

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
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

ALL: Final = "all"
"""The name that stands for all steps together."""


@cache
def cache_folder() -> Path | None:
    """Return the folder of this source state's machine code, ours alone to write to, or None where there is none."""
    digest = hashlib.blake2b(version("numba").encode(), digest_size=8)
    for source in sorted(Path(__file__).parents[1].rglob("*.py")):
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
        folders.append(Path(tempfile.gettempdir()) / f"molaudit-{os.getuid()}")
    return folders


def _make(folder: Path) -> None:
    """Make a folder and those above it; ``parents=True`` would give only the last one the mode."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _made_private(folder: Path) -> bool:
    """Make a folder where there is none; whether no other user can put a file there."""
    _make(folder)
    # A link of somebody else may lead to a folder of ours now and elsewhere later.
    owners = {folder.lstat().st_uid, folder.stat().st_uid}
    return owners == {os.getuid()} and not folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def done_file(folder: Path, step: str) -> Path:
    """Return the file that says that a step of `warming` has been compiled into a folder."""
    return folder / f"{step}.done"


def is_warm(folder: Path) -> bool:
    """Whether all that scoring needs has been compiled into a folder."""
    return done_file(folder, ALL).exists()
