"""The response cache: every attempt that was ever paid for, to be read again by whoever decides what answers a call.

The database is opened briefly; a run writes to its journal and folds it in now and then. So two runs share a cache,
reports are made while a run is live, and a killed process loses nothing it received.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb
import polars as pl

from ..errors import CacheError
from ..journal.attempts import SCHEMA, SMALL
from ..journal.journal import Journal, new_session
from ..journal.locks import FileLock, network_file_system
from ..journal.segments import Segment, read_segment, segments, sessions, set_aside
from ..parts import generation, generation_folder, is_scattered, list_parts, remove_older, write_part
from .database import Place, or_arrow, snapshot, with_database
from .reading import asked_frame, iter_replies, light_rows, read_tail, total_rows
from .tables import Connection, adopt, rewrite_parts, transaction

T = TypeVar("T")
Keys = pl.DataFrame | pl.Series | Sequence[str]
_log = logging.getLogger(__name__)
_WAIT_S = 600.0
_READ_WAIT_S = 1.0
_FALLBACK_TRIES = 3
_FOLD_MEMORY = "128MB"  # what DuckDB may keep of the blocks that it writes; more buys no speed


@dataclass(frozen=True, slots=True)
class FoldReport:
    """What a fold did: new attempts, segments taken, lines lost, and where their bytes were set aside."""

    attempts: int
    segments: int
    lost: int
    set_aside: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """What stands in a cache about some calls; see `Cache.totals` and `Cache.attempts` for the columns."""

    totals: pl.DataFrame
    sessions: pl.DataFrame
    attempts: pl.DataFrame


class Cache:
    """A response cache at ``path`` (a DuckDB file), with its journal and parts in folders beside it.

    Parameters
    ----------
    path
        The database. It and its folders are made when first needed.
    notify
        Gets one sentence for each wait, damage or rebuild; the log if not given.
    wait_s
        How long a fold or admin command waits for another process.

    Raises
    ------
    CacheError
        If ``path`` is a folder, or a file that is not a cache.
    """

    def __init__(
        self,
        path: Path,
        *,
        notify: Callable[[str], None] = _log.warning,
        wait_s: float = _WAIT_S,
    ) -> None:
        self.path = path
        self.place = Place(path, notify, wait_s)
        self.place.refuse_foreign()
        kind = network_file_system(path.parent)
        if kind is not None:
            notify(
                f"cache {path} is on a network file system ({kind}), whose locks may fail; prefer a local disk"
            )

    def journal(self, session: str | None = None) -> Journal:
        """Open this process's journal in the cache's folder.

        Raises
        ------
        CacheError
            If the path is not a cache's.
        """
        self.place.refuse_foreign()  # the journal's folder would make the file pass for ours ever after
        return Journal(self.place.journal, session or new_session())

    def fold(self, journal: Journal | None = None) -> FoldReport:
        """Take closed segments, and all of dead processes, into the database. Safe to repeat after any interruption.

        Parameters
        ----------
        journal
            This process's own journal: its current segment is closed first, so that it is taken too.

        Raises
        ------
        CacheError
            If the cache stays locked for ``wait_s``, or cannot be written. The segments then stay as they are.
        """
        if journal is not None:
            journal.rotate()
        if not self._is_started and not sessions(self.place.journal):
            return FoldReport(0, 0, 0, ())
        try:
            return with_database(self.place, self._fold)
        except OSError as error:
            raise CacheError(f"journal {self.place.journal} cannot be folded: {error}") from error

    def replies(self, keys: Keys, *, skip: Sequence[int] = ()) -> Iterator[pl.DataFrame]:
        """Yield every stored reply to the keys, with bodies, in frames of at most a few thousand rows.

        Which of them answers is for the reader to decide, by the bodies (see `attempts.body_bytes`). Order is that of
        storage. Attempts without a body, or with one of the HTTP statuses in ``skip``, are left out.

        Parameters
        ----------
        keys
            Keys, or a frame with ``key`` and optionally ``identity`` and ``model``, which are then verified.

        Raises
        ------
        CacheError
            If a stored reply came from another endpoint or model than the one asked.
        """
        asked = asked_frame(keys)
        tail = self._tail([name for name in SCHEMA if name != "preimage"], asked)
        if self._is_started or len(tail):
            yield from iter_replies(self.query, asked, tail, skip)

    def attempts(self, keys: Keys | None = None, columns: Sequence[str] = SMALL) -> pl.DataFrame:
        """Give all attempts of the keys (all keys by default) in order of time, without bodies."""
        asked = None if keys is None else asked_frame(keys)
        tail = self._tail(SMALL, asked)
        return self.query(lambda connection: light_rows(connection, asked, tail, columns))

    def totals(self, keys: Keys | None = None, *, by_session: bool = False) -> pl.DataFrame:
        """Sum attempts, tokens and cost from the rows, over everything or by session.

        Returns
        -------
        ``session`` (null when over everything), ``attempts, calls, answered, replies``, the four token sums,
        ``cost_usd``, ``cost_unknown`` (replies without a price), ``first_started_at``, ``last_ended_at``.
        """
        asked = None if keys is None else asked_frame(keys)
        tail = self._tail(SMALL, asked)
        return self.query(lambda connection: total_rows(connection, asked, tail, by_session=by_session))

    def account(self, keys: Keys) -> Account:
        """What became of the keys, in one visit to the database: `totals`, the same by session, and `attempts`."""
        asked = asked_frame(keys)
        tail = self._tail(SMALL, asked)

        def work(connection: Connection) -> Account:
            return Account(
                total_rows(connection, asked, tail, by_session=False),
                total_rows(connection, asked, tail, by_session=True),
                light_rows(connection, asked, tail, SMALL),
            )

        return self.query(work)

    def query(self, work: Callable[[Connection], T]) -> T:
        """Run a question on the database or, if another process holds it for more than a moment, on the parts.

        Raises
        ------
        CacheError
            If the path is not a cache's, or neither the database nor the parts can be read.
        """
        self.place.refuse_foreign()  # here too: the parts of a file that is not ours are empty, which is no answer
        if self._is_started:
            try:
                return with_database(self.place, work, wait_s=_READ_WAIT_S, quiet=True)
            except CacheError as error:
                _log.info("reading the parts of the cache, since: %s", error)
        for _ in range(_FALLBACK_TRIES):
            try:
                with snapshot(self.place) as connection:
                    return work(connection)
            # An eviction may replace the parts while they are read, and a part may be cut short.
            except or_arrow(OSError, duckdb.Error) as error:
                failure = error
        raise CacheError(f"cache {self.path}: its parts cannot be read: {failure}") from failure

    @property
    def _is_started(self) -> bool:
        """Whether anything was ever folded."""
        return self.path.exists() or bool(list_parts(self.place.parts))

    def _tail(self, columns: Sequence[str], asked: pl.DataFrame | None) -> pl.DataFrame:
        return read_tail(self.place.journal, columns, asked)

    def _fold(self, connection: Connection) -> FoldReport:
        connection.execute(f"SET memory_limit = '{_FOLD_MEMORY}'")
        attempts = taken = lost = 0
        aside: list[Path] = []
        live = {session.name: session.state == "live" for session in sessions(self.place.journal)}
        for segment in segments(self.place.journal):
            if live.get(segment.session, True) and not segment.closed:
                continue
            read = read_segment(segment.path)
            if read.damage:
                aside += self._set_aside(segment)
                lost += len(read.damage)
            if len(read.rows):
                folder = generation_folder(self.place.parts, generation(self.place.parts))
                part = write_part(folder, f"{segment.session}-{segment.number:05d}", read.rows)
                attempts += adopt(connection, part, read.rows)
            segment.path.unlink()  # only now: part and database both have the rows
            taken += 1
        for session, alive in live.items():
            if not alive:
                self._forget(session)
        if is_scattered(list_parts(self.place.parts)):
            with transaction(connection):
                rewrite_parts(self.place.parts, connection)
            remove_older(self.place.parts, generation(self.place.parts))
        return FoldReport(attempts, taken, lost, tuple(aside))

    def _set_aside(self, segment: Segment) -> list[Path]:
        damage = read_segment(segment.path).damage
        written = set_aside(damage)
        for item in damage:
            self.place.notify(
                f"journal {item}: set aside in {written[0].name}, 1 line lost, the rest is used"
            )
        return written

    def _forget(self, session: str) -> None:
        lock = FileLock(self.place.journal / f"{session}.lock")
        if lock.path.exists() and lock.try_acquire():
            lock.release(remove=True)
