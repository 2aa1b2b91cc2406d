"""Reading journal segments: which exist, whose process lives, what stands in them and what is damaged."""

from __future__ import annotations

import json
import re
import socket
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from .attempts import frame
from .locks import Holder, holder_of, is_held

SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]{0,63}")
_SEGMENT = re.compile(rf"(?P<session>{SESSION.pattern})-(?P<number>\d{{5,}})\.(?P<state>open|jsonl)")
_HEARTBEAT_STALE_S = 120.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment file. ``closed`` by its writer, or left behind open."""

    path: Path
    session: str
    number: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that cannot be used. ``line`` counts from 1; ``torn`` is a last line whose writer was stopped in it."""

    path: Path
    line: int
    raw: bytes
    torn: bool

    def __str__(self) -> str:
        kind = "cut short" if self.torn else "corrupt"
        return f"{self.path.name} line {self.line}: {kind} ({len(self.raw)} bytes)"


@dataclass(frozen=True, slots=True)
class SegmentRead:
    """Attempts of a segment (a frame of `attempts.SCHEMA`) and the lines that could not be used."""

    rows: pl.DataFrame
    damage: tuple[Damage, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A run process as its files show it: ``live``, ``dead`` (killed) or ``closed`` (ended, not yet folded)."""

    name: str
    state: Literal["live", "dead", "closed"]
    holder: Holder | None
    segments: int
    bytes: int


def segments(folder: Path) -> list[Segment]:
    """List the segments of a journal folder by session and number."""
    if not folder.is_dir():
        return []
    matches = ((path, _SEGMENT.fullmatch(path.name)) for path in folder.iterdir())
    found = [Segment(path, m["session"], int(m["number"]), m["state"] == "jsonl") for path, m in matches if m]
    return sorted(found, key=lambda segment: (segment.session, segment.number))


def is_live(folder: Path, session: str) -> bool:
    """Say whether a session's process runs. Another host's fresh heartbeat counts: its lock may not show."""
    lock = folder / f"{session}.lock"
    if is_held(lock):
        return True
    holder = holder_of(lock)
    if holder is None or holder.host == socket.gethostname():
        return False
    try:
        return time.time() - lock.stat().st_mtime < _HEARTBEAT_STALE_S
    except FileNotFoundError:
        return False


def sessions(folder: Path) -> list[Session]:
    """List the sessions that have files in a journal folder."""
    parts = segments(folder)
    locks = [path.name[: -len(".lock")] for path in folder.glob("*.lock")] if folder.is_dir() else []
    found = []
    for name in sorted({part.session for part in parts} | set(locks)):
        lock = folder / f"{name}.lock"
        own = [part for part in parts if part.session == name]
        state: Literal["live", "dead", "closed"] = "closed"
        if is_live(folder, name):
            state = "live"
        elif lock.exists() or not all(part.closed for part in own):
            state = "dead"
        size = sum(part.path.stat().st_size for part in own if part.path.exists())
        found.append(Session(name, state, holder_of(lock), len(own), size))
    return found


def read_segment(path: Path, *, live: bool = False) -> SegmentRead:
    """Read a segment; a line that is corrupt or cut short is reported and the rest is used.

    Parameters
    ----------
    live
        The writer may be in the middle of a line: an unfinished last line is left alone, not reported.
    """
    data = _contents(path)
    rows: list[dict[str, Any]] = []
    damage: list[Damage] = []
    start = number = 0
    while (end := data.find(b"\n", start)) >= 0:
        number += 1
        line = data[start:end]
        start = end + 1
        row = _decoded(line)
        if row is None:
            damage.append(Damage(path, number, line, torn=False))
        else:
            rows.append(row)
    if start < len(data) and not live:
        damage.append(Damage(path, number + 1, data[start:], torn=True))
    del data
    return SegmentRead(frame(rows), tuple(damage))


def set_aside(damage: Sequence[Damage]) -> list[Path]:
    """Keep the bytes of unusable lines in ``SEGMENT.damaged`` beside the segment; returns the files written."""
    written = []
    for path in dict.fromkeys(item.path for item in damage):
        target = path.with_suffix(".damaged")
        target.write_bytes(b"".join(item.raw + b"\n" for item in damage if item.path == path))
        written.append(target)
    return written


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if path.suffix != ".open":
            raise
        return path.with_suffix(".jsonl").read_bytes()  # its writer closed it after the folder was listed


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        if int(line[:8], 16) != zlib.crc32(line[9:]):
            return None
        row = json.loads(line[9:])
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("seq"), int) else None
