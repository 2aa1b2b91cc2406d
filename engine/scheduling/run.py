"""`run_calls`: every call of a plan made once, within the limits, recorded before it counts as done."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from random import Random

import anyio

from ..errors import SettingsError
from ..models.records import Call, Decoded, Outcome, Response, TransportFailure
from .breakers import Breaker
from .budgets import Budget
from .collecting import rare_collections
from .intake import Intake
from .lags import LagMonitor
from .lanes import Job, Source
from .ledger import LOST_RECORDS, Ledger, Record
from .limits import PoolLimits
from .overviews import name_stragglers, overview, summarise
from .progress import Progress
from .retries import RetryPolicy
from .states import move
from .stops import StopRequest
from .summaries import RunSummary
from .verdicts import INTERRUPTED, Decode, Verdict, blame, interpret
from .workers import Pool, Send

_LATE_GRACE_S = 1.0
_WATCH_S = 10.0


async def run_calls(
    calls: Iterable[Call] | Mapping[str, Iterable[Call]],
    *,
    send: Send,
    decode: Decode,
    record: Record,
    pools: Mapping[str, PoolLimits],
    endpoint_pool: Mapping[str, str],
    now: Callable[[], float],
    random: Random,
    policy: RetryPolicy | None = None,
    budget: Budget | None = None,
    deadline_s: float | None = None,
    drain_s: float = 10.0,
    progress: Progress | None = None,
    stop: StopRequest | None = None,
    monitor_lag: bool = True,
) -> RunSummary:
    """Make the calls of a plan.

    Parameters
    ----------
    calls
        Lazily read. One iterable is read ahead by up to 10,000 calls while a model that it feeds has none waiting;
        a mapping of iterables (by model, say) is read each at its own pace, and then no model can hold up another.
    send
        Makes one request; returns whatever happened and raises nothing.
    decode
        Pure; finds the meaning of a response.
    record
        Writes an attempt down, synchronously; only then it counts.
    pools, endpoint_pool
        The limits of each account, and the account of each endpoint.
    now
        Wall clock, for the records only; all waiting is by `anyio.current_time`.
    random
        For the jitter of the back-off.
    deadline_s
        For the whole run: then what is in flight has one more second.
    drain_s
        What is in flight has so long to end after a stop request.

    Raises
    ------
    SettingsError
        When a call names an endpoint or pool that is not described.
    """
    run = _Run(send, decode, now, policy or RetryPolicy(), budget)
    progress = progress or Progress()
    run.prepare(calls, record, pools, endpoint_pool, random, progress)
    progress.attach(lambda: overview(run))
    with rare_collections():
        await _carry_out(run, progress, stop, drain_s, deadline_s, monitor_lag=monitor_lag)
    run.ledger.write_late()
    if run.fault is not None:
        raise run.fault
    return summarise(run)


async def _carry_out(
    run: _Run,
    progress: Progress,
    stop: StopRequest | None,
    drain_s: float,
    deadline_s: float | None,
    *,
    monitor_lag: bool,
) -> None:
    async with anyio.create_task_group() as tasks:
        for pool in run.pools.values():
            tasks.start_soon(pool.keep_time, tasks)
        tasks.start_soon(run.feed)
        tasks.start_soon(_watch, run, progress)
        if monitor_lag:
            tasks.start_soon(run.lag.watch)
        if stop is not None:
            tasks.start_soon(run.obey, stop, drain_s)
        if deadline_s is not None:
            tasks.start_soon(run.end_at, deadline_s)
        await run.over.wait()
        tasks.cancel_scope.cancel()


async def _watch(run: _Run, progress: Progress) -> None:
    while True:
        await anyio.sleep(_WATCH_S)
        name_stragglers(run.pools.values(), anyio.current_time(), progress)


class _Run:
    """The state of one run. It is what `workers.Host` asks for."""

    def __init__(
        self, send: Send, decode: Decode, now: Callable[[], float], policy: RetryPolicy, budget: Budget | None
    ) -> None:
        self.admitting = True
        self.budget = budget
        self.ended = "complete"
        self.fault: SettingsError | None = None
        self.lag = LagMonitor(self._feel)
        self.pools: dict[str, Pool] = {}
        self.breaker = Breaker(policy.repeated_errors, policy.outage_s)
        self.started = anyio.current_time()
        self.over = anyio.Event()
        self._send = send
        self._decode = decode
        self._now = now
        self._policy = policy
        self._running = 0

    def prepare(
        self,
        calls: Iterable[Call] | Mapping[str, Iterable[Call]],
        record: Record,
        pools: Mapping[str, PoolLimits],
        endpoint_pool: Mapping[str, str],
        random: Random,
        progress: Progress,
    ) -> None:
        """Set up pools, books and intake."""
        for name, limits in pools.items():
            self.pools[name] = Pool(name, limits, self._policy, self, self.started)
        self.ledger = Ledger(record, self._policy, self.budget, random, self.breaker, progress)
        self.intake = Intake(calls, self.pools, endpoint_pool, self.breaker, self.ledger.fail)

    async def feed(self) -> None:
        """Read the plan; a plan that names an unknown endpoint ends the run."""
        try:
            await self.intake.feed()
        except SettingsError as fault:
            self._break_off(fault)
        self._check_end()

    async def attempt(self, pool: Pool, job: Job) -> None:
        """Make one request and deal with what comes of it. Raises nothing but cancellation."""
        self._running += 1
        started_at = self._now()
        try:
            verdict = await self._request(job.call)
        except anyio.get_cancelled_exc_class():
            cut = Decoded(Outcome.TIMED_OUT, reason=INTERRUPTED, retryable=True)
            self._conclude(pool, job, Verdict(cut, None, True), started_at)
            raise
        self._conclude(pool, job, verdict, started_at)

    async def _request(self, call: Call) -> Verdict:
        result: Response | TransportFailure = TransportFailure(Outcome.TIMED_OUT, "attempt_timeout", True)
        try:
            with anyio.move_on_after(call.timeout_s):
                result = await self._send(call)
        except Exception as error:  # noqa: BLE001 - a fault of ours costs this call, and no other
            return Verdict(blame(error), None, True, "".join(traceback.format_exception(error)))
        return interpret(call, result, self._decode, self._policy)

    def _conclude(self, pool: Pool, job: Job, verdict: Verdict, started_at: float) -> None:
        self._running -= 1
        self.ledger.conclude(pool, self.intake, job, verdict, started_at, anyio.current_time())
        if self.ledger.lost_records >= LOST_RECORDS:
            self.halt("journal")
        if self.budget is not None:
            for other in self.pools.values():
                if other.short_of_money:
                    other.short_of_money = False
                    other.wake(anyio.current_time())
        self._check_end()

    def dropped(self, job: Job) -> bool:
        """Whether a queued call belongs to what has been stopped."""
        return self.breaker.holds(job.call)

    def skip(self, job: Job) -> None:
        """Give up a queued call."""
        move(job, "skipped")
        self.intake.leave(job)
        self._check_end()

    def refill(self, source: Source) -> None:
        """Read on after a call has left the queue."""
        try:
            self.intake.refill(source)
        except SettingsError as fault:
            self._break_off(fault)

    def halt(self, reason: str) -> None:
        """Admit nothing more; the first reason stands."""
        if self.admitting:
            self.admitting = False
            self.ended = reason
        self._check_end()

    async def obey(self, stop: StopRequest, drain_s: float) -> None:
        """Drain on the first stop request, leave on the second."""
        await stop.wait(1)
        self.halt("interrupted")
        with anyio.move_on_after(drain_s):
            await stop.wait(2)
        self.over.set()

    async def end_at(self, deadline_s: float) -> None:
        """Drain at the deadline, briefly."""
        await anyio.sleep(deadline_s)
        self.halt("deadline")
        await anyio.sleep(_LATE_GRACE_S)
        self.over.set()

    def _feel(self, lag_s: float) -> None:
        for pool in self.pools.values():
            if pool.limiter.crowd.feel(lag_s, pool.limiter.in_flight):
                pool.wake(anyio.current_time())

    def _break_off(self, fault: SettingsError) -> None:
        self.fault = fault
        self.halt("fault")

    def _check_end(self) -> None:
        done = not self.intake.active and self.intake.exhausted
        if done or (not self.admitting and self._running == 0):
            self.over.set()
