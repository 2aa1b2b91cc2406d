"""Attempts to store, and what a cache says of them, for the tests of the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import StoredAttempt, body_bytes

IDENTITY = "http://127.0.0.1:1/v1"


def attempt(key: str = "k", **changes: Any) -> StoredAttempt:
    fields: dict[str, Any] = {
        "key": key,
        "attempt": 1,
        "endpoint": "local",
        "identity": IDENTITY,
        "model": "m",
        "effort": "standard",
        "repeat": 0,
        "outcome": "answered",
        "started_at": 1.0,
        "latency_s": 0.5,
        "http_status": 200,
        "body": key.encode(),
    }
    return StoredAttempt(**{**fields, **changes})


def make(folder: Path) -> tuple[Cache, list[str]]:
    messages: list[str] = []
    return Cache(folder / "cache.duckdb", notify=messages.append, wait_s=0.5), messages


def store(cache: Cache, *attempts: StoredAttempt, fold: bool = True) -> None:
    with cache.journal() as journal:
        for item in attempts:
            journal.append(item)
    if fold:
        cache.fold()


def hits(cache: Cache, *keys: str) -> dict[str, str]:
    frames = cache.replies(list(keys))
    return {key: outcome for frame in frames for key, outcome in frame.select("key", "outcome").iter_rows()}


def bodies(cache: Cache, *keys: str) -> dict[str, bytes | None]:
    frames = cache.replies(list(keys))
    rows = [row for frame in frames for row in frame.iter_rows(named=True)]
    return {row["key"]: body_bytes(row["body"], row["body_base64"]) for row in rows}


def counted(cache: Cache) -> int:
    return len(cache.attempts())
