"""Questions to a cache: which replies it has to some calls, what became of them, what everything cost.

An answer may still stand in a journal segment that no fold has taken. So each question first reads those segments
(the tail) and then the database, in this order: a row that a fold moves meanwhile is seen twice, which a join
removes, and never missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from ..errors import CacheError
from ..journal.attempts import SCHEMA, SMALL
from ..journal.segments import is_live, read_segment, segments
from .tables import LIGHT, STORED, Connection, registered

READ_ROWS = 8192
READ_BYTES = 16 * 2**20
ASKED = {"key": pl.String(), "identity": pl.String(), "model": pl.String()}
"""What a question names: keys and, where given, the endpoint identity and model that the stored row must show."""

_TOTALS = """
SELECT {session} AS session, count(*) AS attempts, count(DISTINCT key) AS calls,
       count(*) FILTER (outcome = 'answered') AS answered,
       count(*) FILTER (http_status BETWEEN 200 AND 299) AS replies,
       sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
       sum(reasoning_tokens)::BIGINT AS reasoning_tokens, sum(cached_tokens)::BIGINT AS cached_tokens,
       sum(cost_usd) AS cost_usd,
       count(*) FILTER (http_status BETWEEN 200 AND 299 AND cost_usd IS NULL) AS cost_unknown,
       min(started_at) AS first_started_at, max(started_at + latency_s) AS last_ended_at
FROM seen {where} GROUP BY ALL ORDER BY first_started_at
"""


def asked_frame(keys: pl.DataFrame | pl.Series | Sequence[str]) -> pl.DataFrame:
    """Bring keys into the form of `ASKED`, each once.

    Raises
    ------
    CacheError
        If a frame has no column ``key``, or one key is asked with two identities or models.
    """
    if isinstance(keys, pl.DataFrame):
        if "key" not in keys.columns:
            raise CacheError(f"a look-up needs a column 'key'; found {', '.join(keys.columns)}")
        chosen = keys.select([name for name in ASKED if name in keys.columns])
    else:
        chosen = pl.DataFrame({"key": keys}, schema={"key": pl.String})
    asked = pl.concat([pl.DataFrame(schema=ASKED), chosen], how="diagonal").unique(maintain_order=True)
    if asked["key"].n_unique() != len(asked):
        raise CacheError(
            "one key is asked for two endpoints or models: the key does not digest the whole call"
        )
    return asked


def read_tail(journal: Path, columns: Sequence[str], asked: pl.DataFrame | None) -> pl.DataFrame:
    """Gather the rows that stand in journal segments, of living and dead processes; damage is left for the fold."""
    frames = [pl.DataFrame(schema={name: SCHEMA[name] for name in columns})]
    live: dict[str, bool] = {}
    for segment in segments(journal):
        if segment.session not in live:
            live[segment.session] = is_live(journal, segment.session)
        try:
            rows = read_segment(segment.path, live=live[segment.session]).rows
        except FileNotFoundError:
            continue  # folded since the folder was listed: the database has it
        if asked is not None:
            rows = rows.join(asked.select("key"), on="key", how="semi")
        frames.append(rows.select(columns))
    return pl.concat(frames)


@contextmanager
def seen(connection: Connection, tail: pl.DataFrame) -> Iterator[None]:
    """Offer ``seen``: the light columns of all attempts, at rest and in the tail, each once."""
    with registered(connection, "tail", tail.select(SMALL)):
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW seen AS SELECT {LIGHT} FROM light UNION ALL BY NAME "
            f"SELECT {LIGHT} FROM tail ANTI JOIN light USING (session, seq, key)"
        )
        try:
            yield
        finally:
            connection.execute("DROP VIEW seen")


def check_identity(asked: pl.DataFrame, picked: pl.DataFrame) -> None:
    """Refuse an answer that another endpoint or model gave, whatever its key says.

    Raises
    ------
    CacheError
        Naming the key and both sides. Neither a hit nor a miss would be right: the key itself is at fault.
    """
    both = picked.select("key", "identity", "model").join(asked, on="key", suffix="_asked")
    for name in ("identity", "model"):
        wrong = both.filter(
            pl.col(f"{name}_asked").is_not_null() & pl.col(name).ne_missing(pl.col(f"{name}_asked"))
        )
        if len(wrong):
            row = wrong.row(0, named=True)
            raise CacheError(
                f"cache key {row['key']} was asked of {name} {row[f'{name}_asked']!r}, but its stored answer came "
                f"from {row[name]!r} ({len(wrong)} such keys); keys do not tell these calls apart"
            )


def bodies(connection: Connection, picked: pl.DataFrame) -> pl.DataFrame:
    """Fetch whole rows of attempts at rest. ``picked`` is a chunk in the order of (session, seq), so that the
    range below lets DuckDB pass over most of the table."""
    with registered(connection, "picked", picked.select("session", "seq", "key")):
        rows = connection.sql(
            f"SELECT {STORED} FROM attempts SEMI JOIN picked USING (session, seq, key) "
            "WHERE seq BETWEEN $low AND $high",
            params={"low": picked["seq"].min(), "high": picked["seq"].max()},
        )
        return pl.DataFrame(rows).unique(["session", "seq", "key"], maintain_order=True)


def light_rows(
    connection: Connection, asked: pl.DataFrame | None, tail: pl.DataFrame, columns: Sequence[str]
) -> pl.DataFrame:
    """All attempts of the asked keys (or of all keys), some of the light columns, in order of time."""
    wanted = pl.DataFrame(schema=ASKED) if asked is None else asked
    where = "" if asked is None else "SEMI JOIN asked USING (key)"
    with registered(connection, "asked", wanted), seen(connection, tail):
        return pl.DataFrame(
            connection.sql(f"SELECT {', '.join(columns)} FROM seen {where} ORDER BY started_at, session, seq")
        )


def total_rows(
    connection: Connection, asked: pl.DataFrame | None, tail: pl.DataFrame, *, by_session: bool
) -> pl.DataFrame:
    """Sum tokens and cost of attempts; unknown stays null, and a sum of unknowns too."""
    wanted = pl.DataFrame(schema=ASKED) if asked is None else asked
    query = _TOTALS.format(
        session="session" if by_session else "NULL::VARCHAR",
        where="" if asked is None else "SEMI JOIN asked USING (key)",
    )
    with registered(connection, "asked", wanted), seen(connection, tail):
        return pl.DataFrame(connection.sql(query))


def iter_bodies(
    query: Callable[[Callable[[Connection], pl.DataFrame]], pl.DataFrame],
    picked: pl.DataFrame,
    tail: pl.DataFrame,
) -> Iterator[pl.DataFrame]:
    """Yield whole rows for picked attempts, chunk by chunk; the database is free while the caller works.

    Raises
    ------
    CacheError
        If a row was evicted by another process since it was picked.
    """
    columns = [name for name in SCHEMA if name != "preimage"]
    own = tail.join(picked, on=["session", "seq", "key"], how="semi").select(columns)
    rest = picked.join(own, on=["session", "seq", "key"], how="anti").sort("session", "seq")
    if len(own):
        yield own
    for chunk in _chunks(rest):
        rows = query(lambda connection, chunk=chunk: bodies(connection, chunk))  # type: ignore[misc]
        if len(rows) != len(chunk):
            raise CacheError(
                f"{len(chunk) - len(rows)} answers left the cache while it was read; run the command again"
            )
        yield rows.select(columns)


def iter_replies(
    query: Callable[[Callable[[Connection], pl.DataFrame]], pl.DataFrame],
    asked: pl.DataFrame,
    tail: pl.DataFrame,
    skip: Sequence[int],
) -> Iterator[pl.DataFrame]:
    """Yield whole rows of all replies to the asked keys, but those with an HTTP status in ``skip``.

    Raises
    ------
    CacheError
        If a reply came from another endpoint or model than the one asked.
    """
    names = ("key", "session", "seq", "identity", "model", "body_size")
    rows = query(lambda connection: light_rows(connection, asked, tail, (*names, "http_status")))
    kept = pl.col("body_size").is_not_null() & pl.col("http_status").is_not_null()
    rows = rows.filter(kept & ~pl.col("http_status").is_in(skip))
    check_identity(asked, rows)
    yield from iter_bodies(query, rows.select(names), tail)


def _chunks(picked: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Cut picked rows so that a chunk has at most `READ_ROWS` rows and, big single replies apart, `READ_BYTES`."""
    start = size = 0
    for row, body in enumerate(picked["body_size"].fill_null(0)):
        if row > start and (row - start >= READ_ROWS or size + body > READ_BYTES):
            yield picked[start:row]
            start, size = row, 0
        size += body
    if start < len(picked):
        yield picked[start:]
