"""Counters of a running audit: cheap to keep (a few increments per call), frozen when a display asks."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from ..models.records import Outcome, Usage

_RATE_WINDOW_S = 60


@dataclass(slots=True)
class LaneProgress:
    """Counts of one (endpoint, model, effort). ``done`` and ``failed`` are calls; ``outcomes`` are their ends."""

    pool: str
    endpoint: str
    model: str
    effort: str
    queued: int = 0
    running: int = 0
    retrying: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """Add what an attempt used; the unknown adds nothing."""
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        self.cost_usd += cost_usd or 0.0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should read once: ``kind`` groups, ``text`` says it."""

    kind: str
    pool: str
    text: str


@dataclass(frozen=True, slots=True)
class Straggler:
    """The oldest of a lane's calls in flight, when it is far beyond what the lane's calls usually take."""

    model: str
    effort: str
    in_flight: int
    oldest_s: float
    usual_s: float


@dataclass(frozen=True, slots=True)
class PoolSnapshot:
    """One pool as it is now. ``waiting`` are calls that could run but for the limits."""

    pool: str
    queued: int
    running: int
    waiting: int
    retrying: int
    done: int
    failed: int
    skipped: int
    attempts: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    in_flight_limit: int
    requests_per_minute: float | None
    gate_closed_s: float
    gate_reason: str
    parked: str | None
    per_second: float
    stragglers: tuple[Straggler, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole run as it is now. Lags are those of the event loop, in seconds; None before the first measure."""

    elapsed_s: float
    pools: tuple[PoolSnapshot, ...]
    lanes: tuple[LaneProgress, ...]
    lag_p50_s: float | None
    lag_p99_s: float | None
    lag_max_s: float | None

    def eta_s(self, left: dict[str, int]) -> float | None:
        """Seconds until the slowest pool is through, from live completions; None while one has no pace yet.

        ``left`` are the calls that are still to be made, by pool.
        """
        paces = {pool.pool: pool.per_second for pool in self.pools}
        if any(calls and not paces.get(pool) for pool, calls in left.items()):
            return None
        return max((calls / paces[pool] for pool, calls in left.items() if calls), default=0.0)


class Pace:
    """Completions per second over the last minute."""

    __slots__ = ("_seconds", "_since")

    def __init__(self, now: float) -> None:
        self._since = now
        self._seconds: deque[list[int]] = deque(maxlen=_RATE_WINDOW_S)

    def count(self, now: float) -> None:
        """One completion."""
        second = int(now)
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1][1] += 1
        else:
            self._seconds.append([second, 1])

    def per_second(self, now: float) -> float:
        """The mean over the last minute, or over the run while it is younger."""
        span = min(_RATE_WINDOW_S, now - self._since)
        recent = sum(count for second, count in self._seconds if second >= now - span - 1)
        return recent / span if span > 0 else 0.0


class Progress:
    """The handle that a display holds before the run starts.

    Parameters
    ----------
    notify
        Called with every notice, from within the run: it must return at once and not raise.
    """

    def __init__(self, notify: Callable[[Notice], None] | None = None) -> None:
        self.notices: deque[Notice] = deque(maxlen=200)
        self._notify = notify
        self._look: Callable[[], Snapshot] | None = None

    def attach(self, look: Callable[[], Snapshot]) -> None:
        """Connect to the run, which alone knows how it stands."""
        self._look = look

    def notice(self, kind: str, pool: str, text: str) -> None:
        """Tell a person."""
        notice = Notice(kind, pool, text)
        self.notices.append(notice)
        if self._notify is not None:
            self._notify(notice)

    def snapshot(self) -> Snapshot | None:
        """How the run stands; None before it has started."""
        return None if self._look is None else self._look()
