"""Folded attempts as immutable Parquet parts: the durable copy from which the DuckDB file can always be made again.

``parts/0001/SESSION-NUMBER-ROWS-DIGEST.parquet``: a part holds one folded segment, and its name says how many
rows it has and what its bytes digest to, so a damaged part is noticed and its loss counted. A part is complete and on
the disk before its name appears. Eviction writes the next generation (``0002/``) beside the present one and
renames it into place in one step; the highest generation counts.

Bodies thus stand on the disk twice. That is the price of three things: a destroyed database costs nothing that
was paid, a write-ahead log that was cut (DuckDB then opens a shorter table without a word) heals itself, and
readers get at everything without a lock while another process holds the database.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from .errors import CacheError, reason
from .journal.attempts import SCHEMA

PART_ROWS = 4096
SCATTERED = 256
_NAME = re.compile(r"(?P<stem>.+)-(?P<rows>\d+)-(?P<digest>[0-9a-f]{32})\.parquet")
_GENERATION = re.compile(r"\d{4,}")


@dataclass(frozen=True, slots=True)
class Part:
    """A Parquet part. ``rows`` and ``digest`` are what its name promises."""

    path: Path
    rows: int
    digest: str

    @property
    def is_sound(self) -> bool:
        """Whether the bytes are those that were written."""
        try:
            with self.path.open("rb") as stream:
                return hashlib.file_digest(stream, _digest).hexdigest() == self.digest
        except OSError:
            return False

    def read(self) -> pl.DataFrame:
        """Load the rows (a frame of `attempts.SCHEMA`; rows without a session carry only key and preimage)."""
        return pl.read_parquet(self.path, schema=SCHEMA, missing_columns="insert")


def generation(folder: Path) -> int:
    """Give the number of the generation that counts; 0 when nothing was ever folded."""
    if not folder.is_dir():
        return 0
    return max((int(path.name) for path in folder.iterdir() if _GENERATION.fullmatch(path.name)), default=0)


def generation_folder(folder: Path, number: int) -> Path:
    """Give the folder of a generation."""
    return folder / f"{number:04d}"


def list_parts(folder: Path) -> list[Part]:
    """List the parts of the generation that counts, by name."""
    current = generation_folder(folder, generation(folder))
    if not current.is_dir():
        return []
    matches = ((path, _NAME.fullmatch(path.name)) for path in sorted(current.iterdir()))
    return [Part(path, int(m["rows"]), m["digest"]) for path, m in matches if m]


def is_scattered(parts: Sequence[Part]) -> bool:
    """Whether so many parts are so small that writing them again would leave far fewer files to list and read."""
    return len(parts) > SCATTERED + 4 * sum(part.rows for part in parts) // PART_ROWS


def write_part(folder: Path, stem: str, rows: pl.DataFrame) -> Part:
    """Write rows as a part named for ``stem`` into a generation's folder, durably.

    Raises
    ------
    CacheError
        If the disk refuses; nothing of the part is left then.
    """
    part: Path | None = None
    temporary = folder / f".{stem}.writing"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        rows.write_parquet(temporary, compression="zstd", row_group_size=PART_ROWS)
        with temporary.open("r+b") as stream:
            digest = hashlib.file_digest(stream, _digest).hexdigest()
            os.fsync(stream.fileno())
        part = folder / f"{stem}-{len(rows)}-{digest}.parquet"
        os.replace(temporary, part)
        _sync_folder(folder)
    except (OSError, pl.exceptions.PolarsError) as error:  # polars has an error of its own for a full disk
        why = reason(error, folder)
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise CacheError(f"cache folder {folder} cannot be written: {why}") from error
    return Part(part, len(rows), digest)


def write_generation(folder: Path, number: int, frames: Iterable[tuple[str, pl.DataFrame]]) -> list[Part]:
    """Write a whole generation and put it into place in one step, so that no reader sees half of it.

    Raises
    ------
    CacheError
        If the disk refuses; what was unfinished is deleted then.
    """
    building = folder / f"{number:04d}.writing"
    try:
        if building.exists():
            shutil.rmtree(building)
        building.mkdir(parents=True)
        for stem, rows in frames:
            write_part(building, stem, rows)
        os.replace(building, generation_folder(folder, number))
        _sync_folder(folder)
    except OSError as error:
        raise CacheError(f"cache folder {folder} cannot be written: {reason(error)}") from error
    finally:
        # What did not get its name is of no use, and a full disk misses every byte of it.
        shutil.rmtree(building, ignore_errors=True)
    return list_parts(folder)


def remove_older(folder: Path, number: int) -> None:
    """Delete the generations before ``number`` and what an interrupted writer left."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        name = path.name.removesuffix(".writing")
        if _GENERATION.fullmatch(name) and (int(name) < number or path.suffix):
            shutil.rmtree(path)


def _digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
