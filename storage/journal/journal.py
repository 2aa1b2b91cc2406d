"""The journal: each process appends what it receives to a file of its own, before the attempt counts as done.

A line is ``crc32 (8 hex digits), a space, one JSON object, \\n``. JSON escapes line feeds, so only ``\\n`` ends a
line: NUL, U+2028 and any other character may stand in a reply. One `os.write` hands a line to the operating
system, which keeps it when the process is killed (kill -9). A power cut may take the last seconds: a disk flush
per reply would cost more than it saves.

A session's files are ``SESSION-00001.open`` (being written) and ``.jsonl`` (closed, may be folded into the
cache). The lock ``SESSION.lock`` is held while the process lives; its time stamp is the heartbeat. Only a fold
deletes a segment. `segments` reads what stands here.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
import zlib
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from ..errors import CacheError, reason
from .attempts import StoredAttempt, as_row, cleaned
from .locks import FileLock
from .segments import SESSION, segments

SEGMENT_BYTES = 4 * 2**20
SEGMENT_SECONDS = 180.0
_HEARTBEAT_S = 5.0
_log = logging.getLogger(__name__)
_encode = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode


def new_session() -> str:
    """Name a run process: UTC start time, PID and four random bytes, so that no name comes twice."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.{os.getpid()}.{secrets.token_hex(4)}"


class Journal:
    """Append-only record of one process. Safe for several threads; not for use after a fork.

    Parameters
    ----------
    folder
        Where the segments stand; made if missing.
    session
        A name never used before, see `new_session`.
    segment_bytes, segment_seconds
        A segment is closed when it has grown this big or this old, so that it can be folded.
    sync_on_close
        Flush a segment to the disk when it closes, against power cuts.

    Raises
    ------
    CacheError
        If the session name is malformed or taken, or the folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        session: str,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        segment_seconds: float = SEGMENT_SECONDS,
        sync_on_close: bool = False,
    ) -> None:
        if not SESSION.fullmatch(session):
            raise CacheError(f"session name {session!r}: letters, digits, '_' and '.' only, at most 64")
        self.folder, self.session = folder, session
        self._limits = segment_bytes, segment_seconds
        self._sync = sync_on_close
        self._mutex = threading.Lock()
        self._fd: int | None = None
        self._number = self._seq = self._size = 0
        self._opened_at = self._beat_at = 0.0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(segment.session == session for segment in segments(folder)):
                raise CacheError(f"session {session} has segments in {folder} already; use a new name")
            self._lock = FileLock(folder / f"{session}.lock")
            self._lock.acquire(2.0, what=f"journal session {session}")
        except OSError as error:
            raise CacheError(f"journal folder {folder} cannot be written: {error.strerror}") from error

    def append(self, attempt: StoredAttempt) -> int:
        """Hand one attempt to the operating system; when this returns, kill -9 cannot lose it.

        Returns
        -------
        The attempt's number within the session.

        Raises
        ------
        CacheError
            If the system refused the write (disk full). The attempt may be appended again. That an earlier segment
            cannot be closed, or the heartbeat not renewed, is only logged: the attempt is stored.
        """
        with self._mutex:
            seq = self._seq + 1
            row = as_row(attempt, self.session, seq)
            try:
                text = _encode(row).encode()
            except (
                ValueError
            ):  # a lone surrogate or a number that is not finite: rare, so it costs nothing here
                text = _encode(cleaned(row)).encode()
            line = b"%08x %b\n" % (zlib.crc32(text), text)
            now = time.monotonic()
            if self._fd is not None and (
                self._size + len(line) > self._limits[0] or now - self._opened_at > self._limits[1]
            ):
                self._leave_segment()
            self._write(line, now)
            self._seq = seq
            if now - self._beat_at > _HEARTBEAT_S:
                try:
                    self._beat(now)
                except CacheError as error:
                    _log.warning("%s", error)
            return seq

    def rotate(self) -> None:
        """Close the current segment so that a fold takes it; the next append opens another."""
        with self._mutex:
            self._close_segment()

    def beat(self) -> None:
        """Renew the heartbeat, for a process that waits long between replies.

        Raises
        ------
        CacheError
            If the lock file is there and its time stamp cannot be set.
        """
        with self._mutex:
            self._beat(time.monotonic())

    def close(self) -> None:
        """Close the segment and give up the session's lock, in any case. Closing twice is allowed."""
        with self._mutex:
            try:
                self._close_segment()
            finally:
                self._lock.release(remove=True)

    def _write(self, line: bytes, now: float) -> None:
        try:
            if self._fd is None:
                self._open_segment(now)
            assert self._fd is not None
            written = os.write(self._fd, line)
            while written < len(line):  # a signal or a nearly full disk may cut a write short
                written += os.write(self._fd, line[written:])
        except OSError as error:
            # What was written of the line stays as a torn piece; nothing may follow it in the same segment.
            self._leave_segment()
            raise CacheError(
                f"journal {self.folder}: the attempt was not stored: {error.strerror}"
            ) from error
        self._size += len(line)

    def _path(self, state: Literal["open", "jsonl"]) -> Path:
        return self.folder / f"{self.session}-{self._number:05d}.{state}"

    def _open_segment(self, now: float) -> None:
        self._number += 1
        self._fd = os.open(self._path("open"), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._size, self._opened_at = 0, now

    def _leave_segment(self) -> None:
        """Close the segment if that can be done. What it holds is read as it is; the next line goes to another."""
        try:
            self._close_segment()
        except CacheError as error:
            _log.warning("%s", error)

    def _close_segment(self) -> None:
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        try:
            try:
                if self._sync:
                    os.fsync(fd)
            finally:
                os.close(fd)
            os.replace(self._path("open"), self._path("jsonl"))
        except OSError as error:
            raise CacheError(
                f"journal {self._path('open')} cannot be closed: {error.strerror}; was its folder moved or deleted?"
            ) from error

    def _beat(self, now: float) -> None:
        self._beat_at = now
        try:
            os.utime(self._lock.path)
        except FileNotFoundError:
            pass  # deleted with its folder: what is appended next says so
        except OSError as error:
            raise CacheError(f"journal lock {self._lock.path} cannot be renewed: {reason(error)}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()
