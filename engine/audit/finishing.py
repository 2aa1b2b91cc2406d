"""The end of a run: what was received goes into the cache, is scored, written and sealed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.storage.cache.store import Cache
from molaudit.storage.errors import CacheError, StorageError

from ..errors import InputError
from .inputs import Audit
from .stored_replies import StoredReplies
from .unchanged import Written, seal, stored

Warn = Callable[[str], None]


def fold(cache: Cache, warn: Warn) -> None:
    """Take the journal into the database; a fold that fails leaves the results complete, for all look there too."""
    try:
        cache.fold()
    except CacheError as error:
        warn(f"{error}; the journal has everything, and the next run takes it in")


def write_results(
    audit: Audit,
    table: pl.DataFrame,
    cache: Cache,
    folder: Path,
    facts: Mapping[str, Any],
    known: str | None,
    warn: Warn,
    replies: StoredReplies | None = None,
) -> Written | None:
    """Score and write; None, with a word why, where nothing has been answered yet or the files cannot be written.

    ``replies`` spares reading them where that was done. With ``known`` (see `unchanged.basis`) the results stand
    until something changes.
    """
    from .results import write_audit

    read = stored(cache)
    try:
        scores = write_audit(audit, table, cache, folder, facts, replies)
        if known is not None:
            seal(folder, known, cache, read, table.height)
    except (InputError, StorageError) as error:
        warn(str(error))
        return None
    return Written(scores.cells, tuple(scores.notes))
