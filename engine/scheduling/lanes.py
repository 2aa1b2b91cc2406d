"""Calls waiting to go out: a lane per (endpoint, model, effort), filled from lazy sources with bounded look-ahead.

Memory follows the look-ahead and the calls in flight, never the length of the plan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..models.records import Call
from .limits import Ticket
from .progress import LaneProgress
from .states import State, move

_REMEMBERED = 64
"""Replies whose tokens and latencies a lane remembers for its 95th percentiles."""

_FEWEST_FOR_P95 = 8


@dataclass(slots=True, eq=False)
class Job:
    """A call on its way: its attempts so far and where it is."""

    call: Call
    lane: Lane
    source: Source | None
    attempts: int = 0
    failures: int = 0
    unreached: int = 0
    empties: int = 0
    copies: int = 1
    first_at: float | None = None
    started_at: float = 0.0
    ticket: Ticket | None = None
    cost_reserved: float = 0.0
    named: bool = False
    state: State = "read"


class Percentile95:
    """The 95th percentile of the last 64 values; None before there are 8."""

    __slots__ = ("_fresh", "_value", "_values")

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=_REMEMBERED)
        self._value: float | None = None
        self._fresh = 0

    def add(self, value: float) -> None:
        """Take a value; the percentile is found anew after every 8th, so that a call costs no sort."""
        self._values.append(value)
        self._fresh += 1
        if self._fresh >= _FEWEST_FOR_P95:
            self._fresh = 0
            ordered = sorted(self._values)
            self._value = ordered[int(0.95 * (len(ordered) - 1))]

    @property
    def value(self) -> float | None:
        """The percentile as of the last 8th value."""
        return self._value


@dataclass(slots=True, eq=False)
class Lane:
    """The calls of one (endpoint, model, effort): one goes alone until the provider has answered one."""

    endpoint: str
    model: str
    effort: str
    progress: LaneProgress
    queue: deque[Job] = field(default_factory=deque)
    flying: dict[str, Job] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    proven: bool = False
    probe: Job | None = None
    tokens: Percentile95 = field(default_factory=Percentile95)
    latency: Percentile95 = field(default_factory=Percentile95)

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it a lane."""
        return self.endpoint, self.model, self.effort

    def ready(self, most_retrying: int) -> bool:
        """Whether its head may be considered for launch.

        A lane whose calls pile up waiting for a repeat takes no new ones, so retries cannot grow with the plan.
        """
        if not self.queue:
            return False
        head = self.queue[0]
        if not self.proven and self.probe is not None and self.probe is not head:
            return False
        return self.progress.retrying < most_retrying or head.attempts > 0

    def reserve(self, call: Call) -> float:
        """Tokens to take from the bucket: all that are planned, until the 95th percentile of replies is learned."""
        planned = float(call.input_tokens + call.output_tokens)
        learned = self.tokens.value
        return planned if learned is None else min(planned, learned)

    def push(self, job: Job, *, front: bool = False) -> None:
        """Queue a job, at the front when it has waited before."""
        if not self.queue:
            for source in self.sources:
                source.hungry -= 1
        if front:
            self.queue.appendleft(job)
        else:
            self.queue.append(job)
        move(job, "queued")

    def pop(self) -> Job:
        """Take the head."""
        job = self.queue.popleft()
        if job.source is not None:
            job.source.buffered -= 1
            job.source = None
        if not self.queue:
            for source in self.sources:
                source.hungry += 1
        return job


@dataclass(slots=True, eq=False)
class Source:
    """A lazy stream of calls. It is read ahead while a lane that it feeds is empty, at most ``look_ahead`` calls."""

    calls: Iterator[Call]
    look_ahead: int
    low: int
    buffered: int = 0
    hungry: int = 0
    exhausted: bool = False
    lanes: set[tuple[str, str, str]] = field(default_factory=set)

    @property
    def wanting(self) -> bool:
        """Whether it should be read now."""
        if self.exhausted or self.buffered >= self.look_ahead:
            return False
        return self.buffered < self.low or self.hungry > 0

    def feed(self, lane: Lane) -> None:
        """Note that it feeds a lane."""
        if lane.key not in self.lanes:
            self.lanes.add(lane.key)
            lane.sources.append(self)
            if not lane.queue:
                self.hungry += 1
