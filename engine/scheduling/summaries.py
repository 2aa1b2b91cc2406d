"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass

from ..models.records import Outcome
from .breakers import Stopped
from .causes import Cause


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The end of a run.

    Parameters
    ----------
    ended
        "complete", "interrupted", "deadline", "budget" or "journal" (results could no longer be written).
    read
        Calls taken from the plan; ``unread`` says whether the plan may hold more.
    outcomes
        How the calls ended that did. The rest of ``read`` are ``skipped`` (stopped cells, parked pools) or
        ``open`` (the run ended first).
    stopped, parked
        What was given up, in the providers' words; ``parked`` by pool.
    causes
        Why the calls failed that did, each sentence once.
    internal_errors
        Tracebacks of faults of ours, at most 20; ``internal_error_count`` counts all.
    """

    ended: str
    read: int
    unread: bool
    outcomes: dict[Outcome, int]
    skipped: int
    open: int
    attempts: int
    stopped: tuple[Stopped, ...]
    parked: dict[str, str]
    internal_errors: tuple[str, ...]
    internal_error_count: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    elapsed_s: float
    lag_p50_s: float | None
    lag_p99_s: float | None
    lag_max_s: float | None
    causes: tuple[Cause, ...] = ()

    @property
    def answered(self) -> int:
        """Calls with an answer."""
        return self.outcomes.get(Outcome.ANSWERED, 0)

    @property
    def exit_code(self) -> int:
        """0 complete, 3 partial, 130 interrupted."""
        if self.ended == "interrupted":
            return 130
        unmade = self.skipped + self.open + sum(self.outcomes.get(one, 0) for one in _UNMADE)
        whole = self.ended == "complete" and not unmade and not self.unread and not self.internal_error_count
        return 0 if whole else 3


_UNMADE = (
    Outcome.MALFORMED,
    Outcome.FAILED,
    Outcome.OVERLOADED,
    Outcome.UNREACHABLE,
    Outcome.TIMED_OUT,
    Outcome.THROTTLED,
    Outcome.QUOTA,
    Outcome.REJECTED,
)
