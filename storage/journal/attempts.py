"""One attempt as a row: the vocabulary that journal, Parquet parts and DuckDB share.

`SCHEMA` is the only place that names columns and types; the DuckDB tables are made from it. Nothing here opens.
A body is kept as text when it is UTF-8 and as base64 otherwise, so that any bytes come back as they were.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

SCHEMA: dict[str, pl.DataType] = {
    "session": pl.String(),
    "seq": pl.Int64(),
    "key": pl.String(),
    "attempt": pl.Int64(),
    "endpoint": pl.String(),
    "identity": pl.String(),
    "model": pl.String(),
    "effort": pl.String(),
    "repeat": pl.Int64(),
    "http_status": pl.Int64(),
    "outcome": pl.String(),
    "reason": pl.String(),
    "message": pl.String(),
    "body": pl.String(),
    "body_base64": pl.Boolean(),
    "body_size": pl.Int64(),
    "input_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "reasoning_tokens": pl.Int64(),
    "cached_tokens": pl.Int64(),
    "cost_usd": pl.Float64(),
    "returned_model": pl.String(),
    "provider": pl.String(),
    "retry_after_s": pl.Float64(),
    "sent": pl.Boolean(),
    "started_at": pl.Float64(),
    "latency_s": pl.Float64(),
    "preimage": pl.String(),
    "finish": pl.String(),
    "flags": pl.String(),
}
"""Columns of an attempt at rest. (`session`, `seq`) names a row; `preimage` stands on one row of a
key; `body_size` counts the bytes received; `flags` are words with a space between. New columns come last: what was
stored before them has null there."""

SMALL = [name for name in SCHEMA if name not in {"body", "body_base64", "preimage"}]
"""The columns that status, totals and tables need: a few hundred bytes a row, whatever the replies' size."""

USABLE = ("answered", "refused", "truncated", "filtered", "recitation")
"""Outcomes that are served to a later run. A second ``empty`` of a key is served too; ``rejected`` never is: it is
final within a run, yet a key or model name that was mended makes the same call worth asking again."""

_BIGGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """What a process hands to its journal. ``identity`` is the endpoint's part of the key, ``endpoint`` its label.

    ``preimage`` is the canonical JSON text that the key digests; it is written with a session's first attempt.
    ``started_at`` is in epoch seconds, ``attempt`` counts from 1 within the session, None is unknown (never 0).
    ``body_size`` is given only for a reply that was not kept.
    """

    key: str
    attempt: int
    endpoint: str
    identity: str
    model: str
    effort: str
    repeat: int
    outcome: str
    started_at: float
    latency_s: float
    http_status: int | None = None
    reason: str | None = None
    message: str | None = None
    body: bytes | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    returned_model: str | None = None
    provider: str | None = None
    retry_after_s: float | None = None
    sent: bool = True
    preimage: str | None = None
    finish: str | None = None
    flags: str | None = None
    body_size: int | None = None


FIELDS = tuple(f.name for f in fields(StoredAttempt))


def as_row(attempt: StoredAttempt, session: str, seq: int) -> dict[str, Any]:
    """Turn an attempt into the mapping that a journal line holds; unknown values are left out."""
    row: dict[str, Any] = {"session": session, "seq": seq}
    for name in FIELDS:
        value = getattr(attempt, name)
        if value is not None:
            row[name] = value
    body = row.get("body")
    if body is not None:
        row["body_size"] = len(body)
        try:
            row["body"] = body.decode()
        except UnicodeDecodeError:
            row["body"] = base64.b64encode(body).decode("ascii")
            row["body_base64"] = True
    if attempt.attempt != 1:
        row.pop("preimage", None)
    return row


def body_bytes(body: str | None, body_base64: bool | None) -> bytes | None:
    """Give back the reply exactly as it was received."""
    if body is None:
        return None
    return base64.b64decode(body) if body_base64 else body.encode()


def cleaned(row: Mapping[str, Any]) -> dict[str, Any]:
    """Replace what JSON or UTF-8 cannot hold: a lone surrogate by its escape, a number that is not finite by None.

    The escape ``\\udXXX`` is what JSON itself writes, so a preimage keeps its meaning.
    """
    return {name: _clean(value) for name, value in row.items()}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Gather rows into a frame of `SCHEMA`. A value that does not fit its column becomes null, never an error:
    the reply beside it was paid for."""
    kept: Sequence[Mapping[str, Any]] = list(rows)
    columns: list[pl.Series] = []
    for name, dtype in SCHEMA.items():
        values = [row.get(name) for row in kept]
        try:
            column = pl.Series(name, values, dtype=dtype, strict=True)
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            column = pl.Series(name, [_fit(value, dtype) for value in values], dtype=dtype, strict=True)
        columns.append(column)
    return pl.DataFrame(columns)


def _fit(value: Any, dtype: pl.DataType) -> Any:
    if isinstance(dtype, pl.Boolean):
        return value if isinstance(value, bool) else None
    if isinstance(dtype, pl.String):
        return _clean(value) if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if isinstance(dtype, pl.Float64):
        return float(value)
    return value if isinstance(value, int) and abs(value) <= _BIGGEST else None
