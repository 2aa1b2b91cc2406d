"""An audit run from a program: no terminal, no question, in a thread of its own.

The thread has an event loop of its own, so that it does not matter whether the caller is in one (a notebook is).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.journal import new_session

from ..errors import SettingsError
from ..plan.estimate import Estimate, estimate
from ..report.files import prepare_folder, remove_unused_folders
from ..settings import loading as settings_file
from ..settings.environment import check as check_environment
from ..settings.loading import Settings
from .consent import charge, refuse_unless_free
from .ending import run_facts
from .finishing import fold
from .inputs import Audit, default_cache
from .named import load_named
from .outstanding import Outstanding, looked_up, outstanding, task_of

if TYPE_CHECKING:
    from ..api import Scores
    from ..scheduling.summaries import RunSummary

Notify = Callable[[str], None]

UNNAMED = Path("settings")
"""Stands in messages for a file, where settings are given as text or as a mapping."""


def settings_of(audit: str | Path | Mapping[str, Any]) -> tuple[Path, Settings]:
    """Settings from a path, from TOML (text of more than one line) or from a mapping, with their place.

    Raises
    ------
    SettingsError
        They are none.
    """
    if isinstance(audit, Mapping):
        return UNNAMED, settings_file.parse(audit, UNNAMED)
    if isinstance(audit, str) and "\n" in audit:
        return UNNAMED, settings_file.parse(settings_file.read_toml(audit, UNNAMED), UNNAMED)
    if not isinstance(audit, str | Path):
        raise SettingsError(
            f"audit: found {type(audit).__name__}; allowed: a path, the text of an audit.toml, or a mapping"
        )
    return Path(audit), settings_file.load(audit)


@dataclass(frozen=True, slots=True)
class Request:
    """What a program asks for; see `audit.api.run`."""

    audit: str | Path | Mapping[str, Any]
    out: Path | None
    cache: Path | None
    yes: bool
    notify: Notify


@dataclass(slots=True)
class Job:
    """A run in a thread of its own: its end is a result or an error.

    Parameters
    ----------
    request
        What is to be done.
    ended
        Called in the thread when it has ended, in whatever way.
    """

    request: Request
    ended: Callable[[], None] = lambda: None
    _stops: int = 0
    _result: tuple[Scores, RunSummary | None, int] | None = None
    _error: BaseException | None = None
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._work, name="molaudit.run", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop admitting calls and let those in flight end; a second time: leave at once."""
        self._stops += 1

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, so long at most; whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> tuple[Scores, RunSummary | None, int]:
        """The scores, how the calls ended (None: there were none to make), and the hits of the cache."""
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def _work(self) -> None:
        try:
            self._result = _carry_out(self.request, lambda: self._stops)
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            self._error = error
        finally:
            self.ended()


def _carry_out(request: Request, stops: Callable[[], int]) -> tuple[Scores, RunSummary | None, int]:
    from .results import score_audit, write_audit

    check_environment()
    path, settings = settings_of(request.audit)
    if request.out is not None:
        prepare_folder(request.out)
    try:
        audit = load_named(path, settings)
        cache = Cache(request.cache or default_cache(path), notify=request.notify)
        found = outstanding(audit, cache, request.notify)
        summary, facts = None, run_facts(None, "", found.hits)
        if not found.missing.is_empty():
            summary, facts = _make(audit, found, cache, request, stops)
            fold(cache, request.notify)
        if request.out is None:
            return score_audit(audit, found.table, cache), summary, found.hits
        return write_audit(audit, found.table, cache, request.out, facts), summary, found.hits
    finally:
        remove_unused_folders()


def _make(
    audit: Audit, found: Outstanding, cache: Cache, request: Request, stops: Callable[[], int]
) -> tuple[RunSummary, dict[str, Any]]:
    from .display import quiet_display
    from .live import Beside, keys_of, make_calls, warn_of_wires

    session = new_session()
    task = task_of(audit, found, cache, session)
    redactor = keys_of(task.endpoints)
    warn_of_wires(audit.settings, task.endpoints.values(), request.notify)
    if not request.yes:
        cost = charge(estimate(audit.plan), found.missing, audit.settings.run.budget_usd)
        refuse_unless_free(cost, str(audit.path), "yes=True")
    summary = make_calls(task, redactor, quiet_display(request.notify), Beside(stops=stops))
    return summary, dict(redactor.tree(run_facts(summary, session, found.hits)))


def planned(
    audit: str | Path | Mapping[str, Any], cache_path: Path | None, notify: Notify
) -> tuple[Audit, Estimate, Outstanding]:
    """Read, plan and look up; no call is made, nothing is written."""
    path, settings = settings_of(audit)
    loaded = load_named(path, settings)
    cache = Cache(cache_path or default_cache(path), notify=notify)
    return loaded, estimate(loaded.plan), looked_up(loaded, cache, notify)
