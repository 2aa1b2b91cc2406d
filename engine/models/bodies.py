"""Why was this reply read so? Provider bodies from files, decoded as a run would decode them."""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..report.inert import inert
from .dialects.registry import DIALECTS, dialect
from .records import Decoded, Response

API_DIALECTS: Mapping[str, str] = {
    "chat": "openai-chat",
    "messages": "anthropic",
    "responses": "openai-responses",
    "generateContent": "gemini",
}
"""What a row may say in ``api``, and the dialect that it names."""

FIELDS = (
    "outcome",
    "text",
    "finish",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "retry_after_s",
    "flags",
    "message",
)
_LIMIT = 4096
_JSON_LINES = (".jsonl", ".ndjson")


def run(path: Path, *, dialect: str | None, status: int, out: Path | None) -> int:
    """Decode the body or the bodies of a file, and print or write what they mean.

    Parameters
    ----------
    path
        A body as it came (any bytes), or JSON lines (``.jsonl``): objects with ``body`` (a JSON value, or a text to
        be taken verbatim) or ``body_base64``, and optionally ``id``, ``api`` (see `API_DIALECTS`), ``status``,
        ``headers``.
    dialect
        One of `DIALECTS`; a row's ``api`` decides before it.
    status
        The HTTP status, for what does not say its own.
    out
        Where the table of JSON lines goes (CSV): ``id`` and `FIELDS`.

    Returns
    -------
    int
        0, the exit code.

    Raises
    ------
    InputError, SettingsError
        Naming the file, the line, what was found and what is allowed.
    StorageError
        The table cannot be written.
    """
    if path.suffix.lower() in _JSON_LINES:
        _decode_table(path, dialect, status, out)
        return 0
    if out is not None:
        raise InputError(
            f"{path}: --out takes the table of a {' or '.join(_JSON_LINES)} file; one body is printed"
        )
    if dialect is None:
        raise InputError(f"{path}: a body needs --dialect; allowed: {', '.join(DIALECTS)}")
    found = decode(_contents(path), dialect, status)
    for name, value in fields_of(found).items():
        sys.stdout.write(f"{name}: {'' if value is None else inert(value)}\n")
    return 0


def decode(body: bytes, name: str, status: int, headers: Mapping[str, str] | None = None) -> Decoded:
    """What one body means.

    Raises
    ------
    SettingsError
        For an unknown dialect.
    """
    lowered = {key.lower(): value for key, value in (headers or {}).items()}
    return dialect(name).decode(Response(status, lowered, body), max_output_tokens=_LIMIT)


def fields_of(found: Decoded) -> dict[str, Any]:
    """The values of `FIELDS`; flags as one text."""
    usage = found.usage
    return {
        "outcome": found.outcome.value,
        "text": found.text,
        "finish": found.finish,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.cost_usd,
        "retry_after_s": found.retry_after_s,
        "flags": " ".join(found.flags),
        "message": _said(found),
    }


def _said(found: Decoded) -> str | None:
    """The provider's sentence, with the kind of a rejection before it."""
    words = [word for word in (found.reason, found.message) if word]
    if found.outcome.value == "answered" or not words:
        return found.message
    return words[-1] if len(words) == 1 or words[0].lower() in words[1].lower() else ": ".join(words)


def _decode_table(path: Path, name: str | None, status: int, out: Path | None) -> None:
    import polars as pl

    from molaudit.storage import results

    if out is None:
        raise InputError(f"{path}: JSON lines need --out OUT.csv for their table")
    write = results.table_writer(out)
    rows = [{"id": found, **fields_of(decoded)} for found, decoded in _rows(path, name, status)]
    schema: dict[str, type[pl.DataType]] = {"id": pl.String, **dict.fromkeys(FIELDS, pl.String)}
    schema |= dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens"), pl.Int64)
    schema |= dict.fromkeys(("cost_usd", "retry_after_s"), pl.Float64)
    write(pl.DataFrame(rows, schema=schema), out)
    sys.stdout.write(f"{len(rows)} bodies read, written to {inert(out)}\n")


def _rows(path: Path, name: str | None, status: int) -> Iterator[tuple[str, Decoded]]:
    for number, line in enumerate(_contents(path).split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}: is not JSON ({_why(error)})") from None
        if not isinstance(row, dict):
            raise InputError(
                f"{place}: found {type(row).__name__}; allowed: an object with body or body_base64"
            )
        own = row.get("status", status)
        headers = row.get("headers") or {}
        if type(own) is not int or not 100 <= own <= 999:
            raise InputError(f"{place}: status: found {own!r}; allowed: an HTTP status such as 200")
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise InputError(f"{place}: headers: must be an object of texts")
        yield (
            str(row.get("id", number)),
            decode(_body(row, place), _dialect_of(row, name, place), own, headers),
        )


def _dialect_of(row: Mapping[str, Any], name: str | None, place: str) -> str:
    api = row.get("api")
    if api is None:
        if name is None:
            raise InputError(
                f"{place}: needs api ({', '.join(API_DIALECTS)}) or --dialect ({', '.join(DIALECTS)})"
            )
        return name
    if api not in API_DIALECTS:
        raise InputError(f"{place}: api: found {api!r}; allowed: {', '.join(API_DIALECTS)}")
    return API_DIALECTS[api]


def _body(row: Mapping[str, Any], place: str) -> bytes:
    coded = row.get("body_base64")
    if isinstance(coded, str):
        try:
            return base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            raise InputError(f"{place}: body_base64: is not base64") from None
    if coded is not None or "body" not in row:
        raise InputError(f"{place}: needs body (JSON or a text) or body_base64 (a text)")
    body = row["body"]
    text = body if isinstance(body, str) else json.dumps(body)
    return text.encode("utf-8", "surrogatepass")


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _why(error: Exception) -> str:
    return (
        f"{error.msg}, column {error.colno}"
        if isinstance(error, json.JSONDecodeError)
        else type(error).__name__
    )
