"""Advisory locks that say who holds them, and whether a process is alive.

A lock is a small file that is never part of the data: JSON with PID, host and start time, held by flock, so
the system frees it when its holder is killed. Where the file system cannot, the recorded PID decides; that is best
effort, since two starters can meet within the same millisecond.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import CacheError

_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "lustre"}
)
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds, or last held, a lock. ``since`` is in epoch seconds."""

    pid: int
    host: str
    since: float

    def __str__(self) -> str:
        started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"PID {self.pid} on {self.host} since {started}"


def _take(fd: int, *, shared: bool = False) -> bool | None:
    """Lock without waiting: True taken, False held by another, None if this file system cannot."""
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def pid_alive(pid: int) -> bool:
    """Say whether a process of this host runs (one that we may not signal runs too)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def is_held(path: Path) -> bool:
    """Say whether a living process holds the lock at ``path``, without disturbing it or another who asks.

    A lock file that this user may not read counts as held: it is another user's, whose journal is left alone.
    """
    try:
        fd = os.open(path, os.O_RDONLY)  # a shared lock needs no more, and another user's file gives no more
    except FileNotFoundError:
        return False
    except PermissionError:
        return True
    try:
        taken = _take(fd, shared=True)
    finally:
        os.close(fd)
    return _recorded_holder_runs(path) if taken is None else not taken


def holder_of(path: Path) -> Holder | None:
    """Read who holds or held the lock at ``path``; None if the file says nothing."""
    try:
        data = json.loads(path.read_text())
        return Holder(int(data["pid"]), str(data["host"]), float(data["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _recorded_holder_runs(path: Path) -> bool:
    holder = holder_of(path)
    if holder is None:
        return False
    return holder.host != socket.gethostname() or pid_alive(holder.pid)


def _record(fd: int) -> None:
    text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()})
    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, text.encode())


class FileLock:
    """A lock on a path. Not re-entrant; two objects of one process exclude each other as two processes do."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free, and record this process in it.

        Raises
        ------
        OSError
            If the file cannot be opened, or the record not written where nothing but the record locks.
        """
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                taken = _take(fd)
                if taken is False or (taken is None and _recorded_holder_runs(self.path)):
                    return False
                # Its last holder may have removed the file between our open and our lock: then lock the new one.
                if self._still_at_path(fd):
                    try:
                        _record(fd)
                    except OSError:
                        # Where the system locks, the record only informs: a full disk may refuse it.
                        if not taken:
                            raise
                    self._fd = fd
                    return True
            finally:
                if self._fd != fd:
                    os.close(fd)

    def acquire(
        self, wait_s: float, on_wait: Callable[[str], None] | None = None, what: str = "lock"
    ) -> None:
        """Take the lock, waiting up to ``wait_s`` seconds; ``on_wait`` gets one message that names the holder.

        Raises
        ------
        CacheError
            When the time is over; the message names the holder.
        """
        end = time.monotonic() + wait_s
        told = False
        while not self.try_acquire():
            if time.monotonic() >= end:
                raise CacheError(
                    f"{what} is held by {holder_of(self.path) or 'another process'}; try again when it ends"
                )
            if not told and on_wait is not None:
                on_wait(f"waiting for {what} held by {holder_of(self.path) or 'another process'}")
                told = True
            time.sleep(_POLL_S)

    def release(self, *, remove: bool = False) -> None:
        """Free the lock; ``remove`` deletes the file while it is still held, so nobody locks a dead file."""
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        try:
            if remove:
                self.path.unlink(missing_ok=True)
            elif os.path.exists(self.path):
                # An empty file: nobody holds it, also where only the recorded PID decides.
                os.ftruncate(fd, 0)
        finally:
            os.close(fd)

    def _still_at_path(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self.path))
        except FileNotFoundError:
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.release()


def network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Name the type of the network file system that holds ``path``; None if local or not known (best effort)."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    resolved = path.resolve()
    best, kind = -1, ""
    for line in lines:
        parts = line.split()
        if len(parts) < 3:
            continue
        point = Path(parts[1].replace("\\040", " "))
        if resolved.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), parts[2]
    return kind if kind in _NETWORK else None
