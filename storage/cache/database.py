"""The DuckDB file of the cache: the only module that opens DuckDB.

The file is opened under our own lock, briefly, and closed (which checkpoints it). It can always be made again
from the Parquet parts, so any doubt ends the same way: the file is set aside under a new name, and rebuilt.
Doubt is: DuckDB raises and a full read does not succeed; other rows than the registered parts brought; an older
generation than on disk. Exceptions are classified by type and by what a full read gives, never by their text,
which differs by platform. A file that is not ours gives no doubt: it is refused, and never touched.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb
import polars as pl

from ..errors import CacheDoubt, CacheError, reason
from ..journal.attempts import SCHEMA
from ..journal.locks import FileLock
from ..parts import Part, generation, list_parts, remove_older
from . import tables
from .tables import LIGHT, STORED, Connection

T = TypeVar("T")
Notify = Callable[[str], None]
_POLL_S = 0.05
_MAGIC = slice(8, 12)  # where a file of DuckDB says so, behind a digest


@dataclass(frozen=True)
class Place:
    """Where a cache stands. All names derive from the database's path."""

    database: Path
    notify: Notify
    wait_s: float

    @property
    def wal(self) -> Path:
        """DuckDB's write-ahead log."""
        return self.database.with_name(self.database.name + ".wal")

    @property
    def journal(self) -> Path:
        """Folder of the journal segments."""
        return self.database.with_name(self.database.name + ".journal")

    @property
    def parts(self) -> Path:
        """Folder of the Parquet parts."""
        return self.database.with_name(self.database.name + ".parts")

    @property
    def lock(self) -> Path:
        """Lock file that admits one process at a time to the database."""
        return self.database.with_name(self.database.name + ".lock")

    def refuse_foreign(self) -> None:
        """Refuse a path that cannot be a cache, so that no slip in a command touches what is not ours.

        A file is ours if our folders stand beside it, if it begins as DuckDB's files do, or if it is empty.

        Raises
        ------
        CacheError
            If the path is a folder or another thing than a file, or if the file is not ours or cannot be read.
        """
        allowed = "allowed are a cache made by this program and the name of a file that does not exist yet"
        try:
            found = self.database.stat()
            if not self.database.name or stat.S_ISDIR(found.st_mode):
                raise CacheError(f"cache {self.database} is a folder, not a molaudit cache; {allowed}")
            if not stat.S_ISREG(found.st_mode):
                raise CacheError(f"cache {self.database} is no regular file; {allowed}")
            if found.st_size == 0 or self.parts.is_dir() or self.journal.is_dir():
                return
            with self.database.open("rb") as stream:
                start = stream.read(_MAGIC.stop)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise CacheError(f"cache {self.database} cannot be read: {reason(error)}") from error
        if start[_MAGIC] != b"DUCK":
            raise CacheError(
                f"{self.database} is not a molaudit cache (it begins with {start!r}) and was left as it is; {allowed}"
            )


def with_database(
    place: Place, work: Callable[[Connection], T], *, wait_s: float | None = None, quiet: bool = False
) -> T:
    """Run ``work`` on the database under the lock. If the file proves damaged, rebuild it and run ``work`` again.

    ``quiet`` waits without a message, for a caller that has another way.

    Raises
    ------
    CacheError
        If the path is not a cache's, the lock is held for longer than ``wait_s``, the file is sound and cannot be
        used (disk full, rights), or it is damaged and cannot be made again.
    """
    place.refuse_foreign()
    limit = place.wait_s if wait_s is None else wait_s
    lock = FileLock(place.lock)
    try:
        place.database.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(limit, None if quiet else place.notify, f"cache {place.database}")
    except OSError as error:
        raise CacheError(f"cache {place.database} cannot be written: {error.strerror}") from error
    try:
        _wait_for_other_programs(place, limit, quiet=quiet)
        try:
            with _connected(place) as connection:
                return work(connection)
        except (duckdb.Error, CacheDoubt) as error:
            if isinstance(error, duckdb.Error) and _is_sound(place):
                raise CacheError(f"cache {place.database}: {type(error).__name__}: {error}") from error
            why = str(error) if isinstance(error, CacheDoubt) else type(error).__name__
        return _work_on_rebuilt(place, work, why)
    finally:
        lock.release()


@contextmanager
def snapshot(place: Place) -> Iterator[Connection]:
    """Give a connection to the Parquet parts alone: needs no lock, so it works while another process writes."""
    import pyarrow.dataset  # loads pandas: 0.35 s that other uses are spared

    with duckdb.connect(":memory:", config=_config(place)) as connection:
        paths = [str(part.path) for part in list_parts(place.parts)]
        empty = pl.DataFrame(schema=SCHEMA).to_arrow()
        source = pyarrow.dataset.dataset(paths, schema=empty.schema, format="parquet") if paths else empty
        connection.register("rows_at_rest", source)
        connection.execute(
            f"CREATE VIEW attempts AS SELECT {STORED} FROM rows_at_rest WHERE session IS NOT NULL"
        )
        # One segment may stand in two parts when a fold was killed; the database drops the copy, so must we.
        connection.execute(f"CREATE TABLE light AS SELECT DISTINCT ON (session, seq) {LIGHT} FROM attempts")
        connection.execute("CREATE VIEW calls AS SELECT key, any_value(preimage) AS preimage FROM rows_at_rest "
                           "WHERE preimage IS NOT NULL GROUP BY key")  # fmt: skip
        yield connection


def or_arrow(*errors: type[Exception]) -> tuple[type[Exception], ...]:
    """Add pyarrow's errors to those to catch, if it is loaded: to load it here would cost every use 0.1 s."""
    found = getattr(sys.modules.get("pyarrow"), "ArrowException", None)
    return errors if found is None else (*errors, found)


def _work_on_rebuilt(place: Place, work: Callable[[Connection], T], why: str) -> T:
    aside: Path | None = None
    try:
        aside = _set_aside(place)
        _rebuild(place, why, aside)
        with _connected(place) as connection:
            return work(connection)
    except (duckdb.Error, OSError) as error:
        kept = f"; the old file is kept as {aside.name}" if aside else ""
        raise CacheError(
            f"cache {place.database} is damaged ({why}) and cannot be rebuilt and used: {error}{kept}"
        ) from error


def _rebuild(place: Place, why: str, aside: Path | None) -> None:
    """Make the database again from the parts; the old one was set aside."""
    recovered = lost = 0
    with _attached(place) as connection:
        tables.create(connection, generation(place.parts))
        for part in list_parts(place.parts):
            taken = _adopted_if_sound(place, connection, part)
            recovered += taken or 0
            lost += part.rows if taken is None else 0
    remove_older(place.parts, generation(place.parts))
    where = f"set aside as {aside.name}" if aside else "missing"
    place.notify(
        f"cache {place.database}: {why}; {where}; rebuilt {recovered} attempts from {place.parts.name}, {lost} lost"
    )


@contextmanager
def _connected(place: Place) -> Iterator[Connection]:
    missing = not place.database.exists()
    if missing and list_parts(place.parts):
        raise CacheDoubt("the database file is not there")
    with _attached(place) as connection:
        if missing:
            tables.create(connection, generation(place.parts))
        tables.add_columns(connection)
        _reconcile(place, connection)
        connection.execute(f"CREATE TEMP VIEW light AS SELECT {LIGHT} FROM attempts")
        yield connection
        connection.execute("CHECKPOINT store")


@contextmanager
def _attached(place: Place) -> Iterator[Connection]:
    # The newest row group is written again at each checkpoint. With DuckDB's 122,880 rows a fold would grow from
    # 1 s to 5 s and 450 MB as the group fills; with 8,192 it stays at 0.4 s.
    path = str(place.database).replace("'", "''")
    with duckdb.connect(":memory:", config=_config(place)) as connection:
        connection.execute(f"ATTACH '{path}' AS store (ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.4.0')")
        connection.execute("USE store")
        yield connection


def _reconcile(place: Place, connection: Connection) -> None:
    """Bring database and parts into line: the highest generation on disk is the truth."""
    version, number = connection.execute("SELECT format, generation FROM meta").fetchall()[0]
    if version != tables.FORMAT:
        raise CacheError(f"cache {place.database} has format {version}, this program knows {tables.FORMAT}")
    on_disk = {part.path.name: part for part in list_parts(place.parts)}
    if on_disk and generation(place.parts) > number:
        raise CacheDoubt("an eviction was interrupted")
    known = dict(connection.execute("SELECT name, bytes FROM parts").fetchall())
    brought = tables.count(connection, "SELECT coalesce(sum(rows), 0) FROM parts")
    held = tables.count(connection, "SELECT count(*) FROM attempts")
    if brought != held:
        raise CacheDoubt(f"the database holds {held} attempts, its parts brought {brought}")
    for name in on_disk.keys() - known.keys():
        _adopted_if_sound(place, connection, on_disk[name])
    whole = all(name in on_disk and on_disk[name].path.stat().st_size == size for name, size in known.items())
    if not whole:
        place.notify(
            f"cache {place.database}: parts are missing or cut; writing them again from the database"
        )
        with tables.transaction(connection):
            tables.rewrite_parts(place.parts, connection)
        remove_older(place.parts, generation(place.parts))


def _adopted_if_sound(place: Place, connection: Connection, part: Part) -> int | None:
    if part.is_sound:
        return tables.adopt(connection, part)
    aside = part.path.with_suffix(".damaged")
    os.replace(part.path, aside)
    place.notify(
        f"cache part {part.path.name} is damaged: set aside as {aside.name}, {part.rows} attempts lost"
    )
    return None


def _is_sound(place: Place) -> bool:
    """Read every block: DuckDB checks each one's digest."""
    try:
        with _attached(place) as connection:
            for table in ("attempts", "calls", "parts", "meta"):
                connection.execute(f"SELECT count(hash(COLUMNS(*))) FROM {table}").fetchall()
    except duckdb.Error:
        return False
    return True


def _set_aside(place: Place) -> Path | None:
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    aside = place.database.with_name(f"{place.database.name}.aside-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = place.database.with_name(f"{place.database.name}.aside-{stamp}-{number}")
    if place.wal.exists():
        os.replace(place.wal, aside.with_name(aside.name + ".wal"))
    if not place.database.exists():
        return None
    os.replace(place.database, aside)
    return aside


def _wait_for_other_programs(place: Place, wait_s: float, *, quiet: bool) -> None:
    """Wait while a program that does not know our lock (say, DuckDB's own shell) has the file open."""
    end = time.monotonic() + wait_s
    told = False
    while _locked_by_duckdb(place.database):
        if time.monotonic() >= end:
            raise CacheError(f"cache {place.database} is open in another program; close it and try again")
        if not told and not quiet:
            place.notify(f"waiting for cache {place.database}: it is open in another program")
            told = True
        time.sleep(_POLL_S)


def _locked_by_duckdb(path: Path) -> bool:
    try:
        with path.open("r+b") as stream:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except (BlockingIOError, PermissionError):
        return os.access(path, os.W_OK)
    except OSError:
        return False
    return False


def _config(place: Place) -> dict[str, str | bool | int | float | list[str]]:
    # A cap, not a use: a question over a million rows needs some 300 MB, one over 100,000 a tenth. Two threads, since
    # a fold runs beside a busy event loop.
    # A high threshold: the log is checkpointed once, when the file is closed, instead of after each 16 MB.
    return {
        "memory_limit": "1GB",
        "threads": 2,
        "checkpoint_threshold": "1GB",
        "arrow_large_buffer_size": True,
        "preserve_insertion_order": True,
        "temp_directory": str(place.database.with_name(place.database.name + ".tmp")),
    }
