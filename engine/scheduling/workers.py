"""One limit pool at work: a fixed number of workers, one line of calls, one decision at a time.

Every decision (which call next, may it go now, when to look again) is made in synchronous code by `Pool.take`, so
there is no race to close: a worker that ends a call asks for the next one, and a time keeper asks when a limit has
become free by the passing of time alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from ..models.records import Call, Response, TransportFailure
from .budgets import Budget, Purse
from .lanes import Job, Lane, Source
from .limits import Limiter, PoolLimits
from .progress import Pace
from .retries import RetryPolicy
from .states import move

Send = Callable[[Call], Awaitable[Response | TransportFailure]]


class Host(Protocol):
    """What a pool needs of the run that it belongs to."""

    admitting: bool
    budget: Budget | None

    async def attempt(self, pool: Pool, job: Job) -> None: ...

    def dropped(self, job: Job) -> bool: ...

    def skip(self, job: Job) -> None: ...

    def refill(self, source: Source) -> None: ...

    def halt(self, reason: str) -> None: ...


class _Seat:
    """Where an idle worker waits for its next call; None sends it home."""

    __slots__ = ("event", "job")

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.job: Job | None = None


class Pool:
    """The calls, limits and workers of one account."""

    def __init__(self, name: str, limits: PoolLimits, policy: RetryPolicy, host: Host, now: float) -> None:
        self.name = name
        self.limits = limits
        self.limiter = Limiter(limits, policy, now)
        self.lanes: list[Lane] = []
        self.pace = Pace(now)
        self.parked: str | None = None
        self.replied: set[str] = set()
        self.away: set[str] = set()
        self.starved = True
        self.short_of_money = False
        self._host = host
        self._head: Lane | None = None
        self._later: list[tuple[float, int, Job]] = []
        self._order = count()
        self._seats: deque[_Seat] = deque()
        self._workers = 0
        self._wake_at = inf
        self._alarm = anyio.Event()

    def take(self, now: float) -> Job | None:
        """Admit the next call if every limit allows; otherwise note when to look again."""
        limiter = self.limiter
        if not self._host.admitting or limiter.in_flight >= limiter.slots:
            return None
        self._recall(now)
        while True:
            lane = self._choose()
            if lane is None:
                self.starved = True
                self.wake(self._later[0][0] if self._later else inf)
                return None
            self.starved = False
            job = lane.queue[0]
            if self._host.dropped(job):
                self._pop(lane)
                self._host.skip(job)
                continue
            tokens = lane.reserve(job.call)
            wait = limiter.wait(tokens, now)
            if wait > 0:
                self.wake(now + wait)
                return None
            if not self._afford(job):
                return None
            self._launch(lane, job, tokens, now)
            return job

    def pump(self, now: float) -> None:
        """Start as many calls as the limits allow, on idle workers or new ones."""
        while self._seats or self._workers < self.limits.in_flight:
            job = self.take(now)
            if job is None:
                return
            if self._seats:
                seat = self._seats.pop()
                seat.job = job
                seat.event.set()
            else:
                self._workers += 1
                self._tasks.start_soon(self._work, job)

    def wake(self, at: float) -> None:
        """Have the time keeper look again at ``at``, if it would not sooner."""
        if at < self._wake_at:
            self._wake_at = at
            self._alarm.set()

    def retry(self, job: Job, at: float) -> None:
        """Put a call back until ``at``; it holds no worker and no slot meanwhile."""
        move(job, "retrying")
        heappush(self._later, (at, next(self._order), job))
        self.wake(at)

    def requeue(self, job: Job) -> None:
        """Put a call back to the head of its line: it has waited before."""
        job.lane.push(job, front=True)

    def park(self, reason: str) -> None:
        """Give up the account: what waits is skipped, what is in flight may end."""
        self.parked = reason
        self._head = None
        for lane in self.lanes:
            while lane.queue:
                job = lane.queue[0]
                self._pop(lane)
                self._host.skip(job)
        for _, _, job in self._later:
            self._host.skip(job)
        self._later.clear()

    async def keep_time(self, tasks: TaskGroup) -> None:
        """Look again whenever a limit has become free by time alone."""
        self._tasks = tasks
        while True:
            delay = self._wake_at - anyio.current_time()
            if delay > 0:
                with anyio.move_on_after(None if delay == inf else delay):
                    await self._alarm.wait()
                self._alarm = anyio.Event()
                continue
            self._wake_at = inf
            self.pump(anyio.current_time())
            await anyio.lowlevel.checkpoint()

    async def _work(self, job: Job | None) -> None:
        while job is not None:
            await self._host.attempt(self, job)
            now = anyio.current_time()
            job = self.take(now)
            if job is None:
                seat = _Seat()
                self._seats.append(seat)
                await seat.event.wait()
                job = seat.job
            elif self.limiter.in_flight < self.limiter.slots:
                self.pump(now)

    def _choose(self) -> Lane | None:
        """The lane with the fewest calls out, then the one served least.

        Equal shares of the slots and not equal turns: with turns, calls of a slow model fill all slots in the end and
        everyone runs at its pace. A lane once chosen stays chosen until its call is out, so a call that needs
        many tokens is not overtaken for ever by small ones.
        """
        most = self.limits.in_flight
        head = self._head
        if head is not None and head.ready(most):
            return head
        best: Lane | None = None
        least = (inf, inf)
        for lane in self.lanes:
            load = (len(lane.flying), lane.progress.attempts)
            if load < least and lane.ready(most):
                best, least = lane, load
        self._head = best
        return best

    def _pop(self, lane: Lane) -> None:
        job = lane.queue[0]
        source = job.source
        lane.pop()
        if source is not None and source.wanting:
            self._host.refill(source)

    def _launch(self, lane: Lane, job: Job, tokens: float, now: float) -> None:
        self._head = None
        lane.flying[job.call.key] = job
        if not lane.proven:
            lane.probe = job
        job.ticket = self.limiter.launch(tokens, now)
        job.started_at = now
        if job.first_at is None:
            job.first_at = now
        lane.progress.attempts += 1
        move(job, "running")
        self._pop(lane)

    def _afford(self, job: Job) -> bool:
        budget = self._host.budget
        if budget is None:
            return True
        cost = budget.worst_case(job.call)
        purse = budget.check(cost)
        if purse is not Purse.FITS:
            self.short_of_money = purse is Purse.WAIT
            if purse is Purse.SPENT:
                self._host.halt("budget")
            return False
        budget.reserve(cost)
        job.cost_reserved = cost
        return True

    def _recall(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            _, _, job = heappop(self._later)
            self.requeue(job)
