"""The tables of the cache database and what is done to them on an open connection.

``attempts`` has a row for each attempt, ``calls`` a preimage for each key, ``parts`` what each Parquet part
brought and ``meta`` the format and generation. Rows are only ever added (eviction apart); which attempt counts is
a query's work.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from ..journal.attempts import SCHEMA, SMALL
from ..parts import PART_ROWS, Part, generation, write_generation

Connection = duckdb.DuckDBPyConnection

FORMAT = 1
STORED = ", ".join(name for name in SCHEMA if name != "preimage")
LIGHT = ", ".join(SMALL)
_TYPES: dict[type[pl.DataType], str] = {
    pl.String: "VARCHAR",
    pl.Int64: "BIGINT",
    pl.Float64: "DOUBLE",
    pl.Boolean: "BOOLEAN",
}


class _Lent:
    """A frame as nothing but a source of Arrow streams: DuckDB reads a frame of polars through pyarrow instead.

    To load pyarrow takes 0.09 s and 20 MB. A smaller process also dies faster when it is killed, and a server goes on
    answering into the sockets of a dying one.
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)


@contextmanager
def registered(connection: Connection, name: str, rows: pl.DataFrame) -> Iterator[None]:
    """Lend a frame to DuckDB as a table called ``name``."""
    connection.register(name, _Lent(rows))
    try:
        yield
    finally:
        connection.unregister(name)


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commit on success, roll back on any exception."""
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def adopt(connection: Connection, part: Part, rows: pl.DataFrame | None = None) -> int:
    """Take a part's rows into the database, once: rows that are there already are passed over.

    ``rows`` spares reading the part where its content is at hand.

    Returns
    -------
    How many attempts were new.
    """
    with registered(connection, "incoming", part.read() if rows is None else rows), transaction(connection):
        before = count(connection, "SELECT count(*) FROM attempts")
        connection.execute(
            f"INSERT INTO attempts BY NAME SELECT {STORED} FROM incoming i WHERE session IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM attempts a WHERE a.session = i.session AND a.seq = i.seq AND a.key = i.key)"
        )
        connection.execute(
            "INSERT INTO calls SELECT key, any_value(preimage) FROM incoming i WHERE preimage IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.key = i.key) GROUP BY key"
        )
        new = count(connection, "SELECT count(*) FROM attempts") - before
        connection.execute(
            "INSERT INTO parts VALUES (?, ?, ?)", [part.path.name, new, part.path.stat().st_size]
        )
    return new


def rewrite_parts(folder: Path, connection: Connection) -> None:
    """Write the next generation of parts from the database, within the caller's transaction.

    The next generation counts from the moment it stands on the disk: if the transaction is lost after that, the
    database is rebuilt from it.
    """
    number = max(generation(folder), count(connection, "SELECT generation FROM meta")) + 1
    with closing(_contents(connection)) as contents:
        parts = write_generation(folder, number, contents)
    connection.execute("DELETE FROM parts")
    connection.execute("UPDATE meta SET generation = ?", [number])
    for part in parts:
        rows = 0 if part.path.name.startswith("calls-") else part.rows
        connection.execute(
            "INSERT INTO parts VALUES (?, ?, ?)", [part.path.name, rows, part.path.stat().st_size]
        )


def _contents(connection: Connection) -> Generator[tuple[str, pl.DataFrame]]:
    """Everything in the database as parts: attempts, then the preimages in rows without a session."""
    for stem, query in (
        ("rows", f"SELECT {STORED} FROM attempts"),
        ("calls", "SELECT key, preimage FROM calls"),
    ):
        reader = connection.sql(query).to_arrow_reader(PART_ROWS)
        try:
            for number, rows in enumerate(_gathered(reader)):
                yield f"{stem}-{number:05d}", pl.concat([pl.DataFrame(schema=SCHEMA), rows], how="diagonal")
        finally:
            reader.close()  # a result left open would block the rollback after a failed write


def _gathered(batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Join batches until they have `PART_ROWS` rows: DuckDB gives one for each of its row groups, however small."""
    waiting: list[pl.DataFrame] = []
    for batch in batches:
        waiting.append(pl.DataFrame(batch))
        if sum(map(len, waiting)) >= PART_ROWS:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)


def create(connection: Connection, number: int) -> None:
    """Make the empty tables; columns and types come from `attempts.SCHEMA`."""
    columns = {name: f"{name} {_TYPES[type(dtype)]}" for name, dtype in SCHEMA.items()}
    for name in ("body", "preimage"):  # uncompressed the file is 9 to 15 times as big, and folds are slower
        columns[name] += " USING COMPRESSION zstd"
    preimage = columns.pop("preimage")
    with transaction(connection):
        connection.execute(f"CREATE TABLE attempts ({', '.join(columns.values())})")
        connection.execute(f"CREATE TABLE calls ({columns['key']}, {preimage})")
        connection.execute("CREATE TABLE parts (name VARCHAR, rows BIGINT, bytes BIGINT)")
        connection.execute(
            "CREATE TABLE meta AS SELECT ? AS format, ?::BIGINT AS generation", [FORMAT, number]
        )


def add_columns(connection: Connection) -> None:
    """Give a database that an earlier version made the columns that have come since; they are null there."""
    found = connection.execute("SELECT * FROM attempts LIMIT 0").description or []
    for name in SCHEMA.keys() - {column[0] for column in found} - {"preimage"}:
        connection.execute(f"ALTER TABLE attempts ADD COLUMN {name} {_TYPES[type(SCHEMA[name])]}")


def count(connection: Connection, query: str, values: Sequence[str | float] = ()) -> int:
    """Run a query that gives one number."""
    rows = connection.execute(query, list(values)).fetchall()
    return int(rows[0][0])
