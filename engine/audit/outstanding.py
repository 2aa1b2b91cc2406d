"""What of a plan is answered already, and what is still to be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from molaudit.storage.cache.store import Cache

from .inputs import Audit
from .pricing import spent_before
from .stored_replies import StoredReplies, read_replies
from .table import asked_of_cache, calls_of, plan_table

if TYPE_CHECKING:
    from .live import Task


@dataclass(frozen=True, slots=True)
class Outstanding:
    """The plan as a table, its number of calls, the replies that answer some, and the calls to be made."""

    table: pl.DataFrame
    calls: int
    stored: StoredReplies
    missing: pl.DataFrame

    @property
    def done(self) -> frozenset[str]:
        """The keys of the calls that need not be made."""
        return self.stored.keys

    @property
    def hits(self) -> int:
        """Calls that the cache has answered."""
        return self.calls - self.missing.height


def outstanding(audit: Audit, cache: Cache, warn: Callable[[str], None]) -> Outstanding:
    """Fold what earlier sessions left, and look the plan up."""
    lost = cache.fold().lost
    if lost:
        warn(f"{lost} stored attempts could not be read and count as never made")
    return looked_up(audit, cache, warn)


def looked_up(audit: Audit, cache: Cache, warn: Callable[[str], None]) -> Outstanding:
    """Look the plan up; nothing is written."""
    table = plan_table(audit.plan)
    stored = read_replies(table, cache)
    if stored.unreadable:
        warn(f"{stored.unreadable} stored replies are no answers by today's rules and are asked again")
    calls = calls_of(table)
    missing = calls.filter(~pl.col("key").is_in(list(stored.keys)))
    return Outstanding(table, calls.height, stored, missing)


def task_of(audit: Audit, found: Outstanding, cache: Cache, session: str) -> Task:
    """The calls that are missing, as one session."""
    from .live import Task

    needed = set(found.missing["endpoint"].cast(pl.String).unique().to_list())
    endpoints = {name: one for name, one in audit.plan.endpoints.items() if name in needed}
    spent = 0.0
    if audit.settings.run.budget_usd is not None:
        spent = spent_before(audit.plan, cache, asked_of_cache(found.table))
    missing = _by_pool(audit, found.missing)
    return Task(audit.plan, cache, session, found.done, missing, endpoints, spent)


def _by_pool(audit: Audit, missing: pl.DataFrame) -> dict[str, int]:
    """The calls to be made, by limit pool."""
    total: dict[str, int] = {}
    for endpoint, count in missing.group_by(pl.col("endpoint").cast(pl.String)).len().iter_rows():
        pool = audit.plan.endpoints[endpoint].pool
        total[pool] = total.get(pool, 0) + count
    return total
