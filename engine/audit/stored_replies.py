"""Which calls have an answer, decided by the stored replies themselves: reading a reply is code, not data.

What an earlier version took for an answer may be none by today's rules, and the other way round. So the outcome that
stands beside a reply is not asked: the reply is read again, each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import USABLE, body_bytes

from ..models.dialects.registry import dialect
from ..models.records import Outcome, Response
from .table import asked_of_cache
from .waiting import WAITING, living, waiting_keys

ANSWER_SCHEMA: dict[str, pl.DataType] = {
    "key": pl.String(),
    "outcome": pl.String(),
    "answer": pl.String(),
    "reasoning_tokens": pl.Int64(),
    "returned_model": pl.String(),
    "provider": pl.String(),
}
_READ = {
    **ANSWER_SCHEMA,
    "stored": pl.String(),
    "started_at": pl.Float64(),
    "session": pl.String(),
    "seq": pl.Int64(),
}
_NEVER_ANSWERS = (401, 402, 404, 408, 413, 429, 502, 503, 504, 524, 529)
"""HTTP statuses whose bodies are neither answers nor blocked questions, whatever they say."""

_BATCH = 4_000


@dataclass(frozen=True, slots=True)
class StoredReplies:
    """The reply that answers each call (a row of `ANSWER_SCHEMA`), the latest where there are several.

    ``others`` says of calls without an answer how their last reply is read (``key``, ``lost``).
    ``unreadable`` counts the calls that had an answer by what is stored beside their replies, and have none by the
    replies.
    """

    answers: pl.DataFrame
    others: pl.DataFrame
    unreadable: int

    @property
    def keys(self) -> frozenset[str]:
        """The calls that need not be asked."""
        return frozenset(self.answers["key"].to_list())


def read_replies(table: pl.DataFrame, cache: Cache) -> StoredReplies:
    """Read every stored reply to a plan's calls; ``table`` is `table.plan_table`'s.

    An empty reply is an answer only if it is the second one and no other is stored.
    """
    how = table.select("key", pl.col("dialect").cast(pl.String), "max_output_tokens")
    how = how.unique("key", maintain_order=True)
    parts = [pl.DataFrame(schema=_READ)]
    for frame in cache.replies(asked_of_cache(table), skip=_NEVER_ANSWERS):
        for batch in frame.iter_slices(_BATCH):
            rows = list(_decoded(batch.join(how, on="key", how="left", maintain_order="left")))
            parts.append(pl.DataFrame(rows, schema=_READ, orient="row"))
    read = pl.concat(parts)
    answers = read.filter(_usable("outcome"))
    empty = pl.col("outcome") == Outcome.EMPTY.value
    answers = answers.sort(empty, -pl.col("started_at").fill_null(0.0), maintain_order=True)
    answers = answers.unique("key", keep="first", maintain_order=True)
    believed = read.filter(_usable("stored"))["key"].n_unique()
    held = read.filter(_usable("stored")).join(answers, on="key", how="semi")["key"].n_unique()
    others = read.join(answers, on="key", how="anti").sort("started_at", maintain_order=True)
    others = others.unique("key", keep="last", maintain_order=True).select("key", lost="outcome")
    return StoredReplies(answers.select(list(ANSWER_SCHEMA)), others, believed - held)


def last_outcomes(cache: Cache, asked: pl.DataFrame, stored: StoredReplies) -> pl.DataFrame:
    """How each call without an answer last ended: ``key, lost, http_status, reason, message``.

    By the reply where there is one, else as it is stored; `waiting.WAITING` where a living run will attempt it again.
    """
    alive = living(cache)
    attempts = cache.attempts(asked).sort("started_at", maintain_order=True)
    last = attempts.join(stored.answers, on="key", how="anti").unique("key", keep="last", maintain_order=True)
    last = last.join(stored.others, on="key", how="left", maintain_order="left")
    waits = pl.col("key").is_in(waiting_keys(attempts, alive))
    by_reply = pl.when(pl.col("outcome").is_in(USABLE)).then("lost").otherwise("outcome")
    return last.select(
        "key",
        pl.when(waits).then(pl.lit(WAITING)).otherwise(by_reply).alias("lost"),
        *("http_status", "reason", "message"),
    )


def _usable(column: str) -> pl.Expr:
    empty = pl.col(column) == Outcome.EMPTY.value
    return pl.col(column).is_in(USABLE) | (empty & (empty.sum().over("key") >= 2))


def _decoded(batch: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    columns = (
        *("key", "dialect", "max_output_tokens", "http_status", "body", "body_base64"),
        *("reasoning_tokens", "outcome", "started_at", "session", "seq"),
    )
    for key, name, limit, status, body, coded, tokens, *rest in batch.select(columns).iter_rows():
        response = Response(status or 0, {}, body_bytes(body, coded) or b"")
        decoded = dialect(name).decode(response, max_output_tokens=limit)
        found = (decoded.outcome.value, decoded.text, tokens, decoded.returned_model, decoded.provider)
        yield (key, *found, *rest)
