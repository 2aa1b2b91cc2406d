"""Care of a cache: what is in it, what differs from a call, throwing out, taking in, writing out, making again."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from ..errors import CacheDoubt, CacheError, reason
from ..journal.attempts import SCHEMA
from ..journal.segments import Session, sessions
from ..parts import Part, generation, generation_folder, list_parts, remove_older, write_part
from .database import or_arrow, with_database
from .reading import iter_bodies, read_tail
from .store import Cache
from .tables import Connection, adopt, count, registered, rewrite_parts, transaction
from .where import parse_where

_KEYS = ("session", "seq", "key", "outcome", "model", "identity")
"""What every attempt has; a file without them is no export."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds. ``outcomes`` is a frame (model, outcome, attempts); ``set_aside`` damaged files kept."""

    attempts: int
    calls: int
    outcomes: pl.DataFrame
    bytes_database: int
    bytes_parts: int
    bytes_journal: int
    sessions: tuple[Session, ...]
    set_aside: tuple[Path, ...]


def info(cache: Cache) -> CacheInfo:
    """Count what the cache and its unfolded journal hold."""
    rows = cache.attempts(columns=["key", "model", "outcome"])
    place = cache.place
    outcomes = rows.group_by("model", "outcome").agg(pl.len().alias("attempts")).sort("model", "outcome")
    damaged = [
        *place.database.parent.glob(f"{place.database.name}.aside-*"),
        *place.journal.glob("*.damaged"),
        *place.parts.glob("*/*.damaged"),
    ]
    return CacheInfo(
        attempts=len(rows),
        calls=rows["key"].n_unique(),
        outcomes=outcomes,
        bytes_database=_size(place.database) + _size(place.wal),
        bytes_parts=sum(part.path.stat().st_size for part in list_parts(place.parts)),
        bytes_journal=sum(session.bytes for session in sessions(place.journal)),
        sessions=tuple(sessions(place.journal)),
        set_aside=tuple(sorted(damaged)),
    )


def evict(cache: Cache, where: str, *, dry_run: bool = False) -> int:
    """Delete the attempts that satisfy a condition (see `cache_where`), from database and parts.

    The journal is folded first, for a dry run too, so that both count the same. Attempts that a live run has not
    folded yet are not touched.

    Returns
    -------
    How many attempts were (or, with ``dry_run``, would be) deleted.
    """
    condition = parse_where(where)
    cache.fold()

    def work(connection: Connection) -> int:
        matching = f"SELECT count(*) FROM attempts WHERE {condition.sql}"
        number = count(connection, matching, condition.values)
        if number and not dry_run:
            with transaction(connection):
                connection.execute(f"DELETE FROM attempts WHERE {condition.sql}", condition.values)
                connection.execute("DELETE FROM calls WHERE key NOT IN (SELECT key FROM attempts)")
                rewrite_parts(cache.place.parts, connection)
            remove_older(cache.place.parts, generation(cache.place.parts))
        return number

    return with_database(cache.place, work)


def rebuild(cache: Cache) -> int:
    """Make the database again from the parts; damaged parts are first written again from the database.

    Returns
    -------
    How many attempts the new database holds.
    """
    done = False

    def work(connection: Connection) -> int:
        nonlocal done
        if done:
            return count(connection, "SELECT count(*) FROM attempts")
        if not all(part.is_sound for part in list_parts(cache.place.parts)):
            with transaction(connection):
                rewrite_parts(cache.place.parts, connection)
        done = True
        raise CacheDoubt("rebuild was asked for")

    cache.fold()
    return with_database(cache.place, work)


def merge(cache: Cache, other: Cache) -> int:
    """Take in another cache's attempts. The other is folded first and stays; a repeated merge adds nothing.

    Returns
    -------
    How many attempts were new.
    """
    if cache.path.resolve() == other.path.resolve():
        raise CacheError(f"cache {cache.path} cannot be merged into itself")
    if not other.path.exists() and not list_parts(other.place.parts) and not other.place.journal.is_dir():
        raise CacheError(f"cache {other.path} does not exist")
    other.fold()

    def work(connection: Connection) -> int:
        folder = generation_folder(cache.place.parts, generation(cache.place.parts))
        folder.mkdir(parents=True, exist_ok=True)
        new = 0
        for part in list_parts(other.place.parts):
            target = folder / part.path.name
            if target.exists():
                continue
            if not part.is_sound:
                raise CacheError(f"merge stopped: {part.path} is damaged; rebuild cache {other.path} first")
            temporary = folder / f".{part.path.name}.writing"
            shutil.copyfile(part.path, temporary)
            os.replace(temporary, target)
            new += adopt(connection, Part(target, part.rows, part.digest))
        return new

    return with_database(cache.place, work)


def merge_export(cache: Cache, source: Path) -> int:
    """Take in the attempts of a file that `export` wrote; a repeated merge adds nothing.

    Returns
    -------
    How many attempts were new.

    Raises
    ------
    CacheError
        The file cannot be read, or is no export of a cache.
    """
    rows = _exported(source)

    def work(connection: Connection) -> int:
        folder = generation_folder(cache.place.parts, generation(cache.place.parts))
        stored = "SELECT session, seq, key FROM attempts SEMI JOIN incoming USING (session, seq, key)"
        with registered(connection, "incoming", rows.select("session", "seq", "key")):
            there = pl.DataFrame(connection.sql(stored))
        new = rows.join(there, on=["session", "seq", "key"], how="anti", maintain_order="left")
        if new.is_empty():
            return 0
        stem = f"export-{secrets.token_hex(8)}"
        return adopt(connection, write_part(folder, stem, new), new)

    return with_database(cache.place, work)


def _exported(source: Path) -> pl.DataFrame:
    """The rows of an export in the columns of `attempts.SCHEMA`; one that a later version added is null."""
    try:
        is_parquet = source.suffix == ".parquet"
        rows = pl.read_parquet(source) if is_parquet else pl.read_ndjson(source, schema=SCHEMA)
        missing = [name for name in _KEYS if name not in rows.columns or rows[name].null_count()]
        rows = rows.select(
            (pl.col(name) if name in rows.columns else pl.lit(None)).cast(dtype).alias(name)
            for name, dtype in SCHEMA.items()
        )
    except or_arrow(OSError, pl.exceptions.PolarsError) as error:
        raise CacheError(f"merge from {source}: cannot be read ({reason(error)})") from error
    if missing:
        raise CacheError(
            f"merge from {source}: no export of a cache, for {', '.join(missing)} is not there in every row. "
            "Allowed: another cache, or what `molaudit cache export` wrote"
        )
    return rows.unique(["session", "seq", "key"], keep="first", maintain_order=True)


def export(cache: Cache, target: Path) -> int:
    """Write all attempts, with bodies, to a ``.parquet`` or ``.jsonl`` file, row block by row block.

    The first row of a key carries its preimage, so that `merge_export` loses nothing.

    Returns
    -------
    How many attempts were written. The file appears only when it is complete.

    Raises
    ------
    CacheError
        If the name ends in anything else, or the file cannot be written; what stood there before is untouched.
    """
    tail = read_tail(cache.place.journal, list(SCHEMA), None)
    rows = cache.attempts(columns=["session", "seq", "key", "body_size"])
    whole = _with_preimages(cache, tail, iter_bodies(cache.query, rows, tail))
    frames = chain([pl.DataFrame(schema=SCHEMA)], whole)
    writers = {".parquet": _write_parquet, ".jsonl": _write_jsonl}
    if target.suffix not in writers:
        raise CacheError(f"export to {target}: the name must end in {' or '.join(writers)}")
    temporary = target.with_name(f".{target.name}.writing")
    try:
        writers[target.suffix](temporary, frames)
        os.replace(temporary, target)
    except or_arrow(OSError, pl.exceptions.PolarsError) as error:
        raise CacheError(f"export to {target}: {reason(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return len(rows)


def _with_preimages(
    cache: Cache, tail: pl.DataFrame, frames: Iterator[pl.DataFrame]
) -> Iterator[pl.DataFrame]:
    """Give the first row of each key what the key digests."""
    told: set[str] = set()
    waiting = tail.select("key", "preimage").drop_nulls()
    for rows in frames:
        keys = rows.select("key").unique().filter(~pl.col("key").is_in(list(told)))
        told.update(keys["key"].to_list())
        known = pl.concat([waiting, cache.query(lambda connection, keys=keys: _preimages(connection, keys))])  # type: ignore[misc]
        known = known.join(keys, on="key", how="semi").unique("key", keep="first")
        first = rows.with_columns(_first=pl.col("key").is_first_distinct())
        met = first.join(known, on="key", how="left", maintain_order="left")
        shown = pl.when("_first").then("preimage").otherwise(None).alias("preimage")
        yield met.with_columns(shown).select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def _preimages(connection: Connection, keys: pl.DataFrame) -> pl.DataFrame:
    with registered(connection, "wanted", keys):
        found = pl.DataFrame(connection.sql("SELECT key, preimage FROM calls SEMI JOIN wanted USING (key)"))
    return pl.DataFrame(schema={name: SCHEMA[name] for name in ("key", "preimage")}).vstack(found)


def _write_parquet(target: Path, frames: Iterator[pl.DataFrame]) -> None:
    import pyarrow.parquet  # loads pandas: 0.35 s that other uses are spared

    first = next(frames)
    schema = first.to_arrow().schema
    with pyarrow.parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        for rows in chain([first], frames):
            if len(rows):
                writer.write_table(rows.to_arrow().cast(schema))


def _write_jsonl(target: Path, frames: Iterator[pl.DataFrame]) -> None:
    with target.open("w", encoding="utf-8", newline="\n") as stream:
        for rows in frames:
            for row in rows.iter_rows(named=True):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
