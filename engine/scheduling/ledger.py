"""What an attempt changes: the record first, then limits, purse, counters, and the call's next step."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from random import Random

from ..models.outcomes import LOADING
from ..models.records import PAID_FOR, Outcome
from .attempts import AttemptRecord
from .breakers import Breaker, widest
from .budgets import Budget
from .causes import Causes
from .headers import read_state
from .intake import Intake
from .lanes import Job
from .progress import Progress
from .retries import ACTIONS, Action, RetryPolicy
from .states import move
from .verdicts import DESCRIPTORS, INTERNAL, INTERRUPTED, Verdict, decide
from .workers import Pool

Record = Callable[[AttemptRecord], None]

LOST_RECORDS = 20
"""Records in a row that could not be written, after which going on would be paying for nothing."""

_LATE_TRIES = 20
_TRACEBACKS = 20


class Ledger:
    """Takes verdicts in and keeps the books of a run."""

    def __init__(
        self,
        record: Record,
        policy: RetryPolicy,
        budget: Budget | None,
        random: Random,
        breaker: Breaker,
        progress: Progress,
    ) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self.causes = Causes()
        self.attempts = 0
        self.internal_errors = 0
        self.tracebacks: list[str] = []
        self.lost_records = 0
        self._unwritten: list[tuple[AttemptRecord, int]] = []
        self._record = record
        self._policy = policy
        self._budget = budget
        self._random = random
        self._breaker = breaker
        self._progress = progress

    def fail(self, error: Exception) -> None:
        """Note a fault of ours, to be shown at the end."""
        self._note("".join(traceback.format_exception(error)))

    def conclude(
        self, pool: Pool, intake: Intake, job: Job, verdict: Verdict, started_at: float, now: float
    ) -> None:
        """Deal with the end of an attempt."""
        decoded = verdict.decoded
        interrupted = decoded.reason == INTERRUPTED
        job.attempts += 1
        action = Action.WAIT_AT_GATE if interrupted else self._next_action(pool, job, verdict, now)
        final = action is Action.FINISH or action is Action.PARK_POOL
        recorded = self._write(job, verdict, started_at, now, final=final)
        self._settle(pool, job, verdict, now)
        if verdict.error is not None:
            self._note(verdict.error)
        if final or not recorded:
            self._finish(pool, intake, job, verdict, now, counted=recorded)
            if action is Action.PARK_POOL:
                self._park(pool, decoded.message or decoded.reason or "quota exhausted")
        elif pool.parked is not None:
            move(job, "skipped")
            intake.leave(job)
        elif action is Action.RETRY:
            wait = self._policy.backoff(job.failures + job.unreached, verdict.wait_s, self._random)
            pool.retry(job, now + wait)
        else:
            pool.requeue(job)
            troubled = pool.limiter.troubled_since
            if troubled is not None and now - troubled > self._policy.throttled_s:
                self._park(pool, f"throttled for {now - troubled:.0f} s without one accepted call")

    def _next_action(self, pool: Pool, job: Job, verdict: Verdict, now: float) -> Action:
        decoded, policy = verdict.decoded, self._policy
        elapsed = now - (job.first_at if job.first_at is not None else now)
        patience = self._patience(pool, job, verdict)
        if patience > 0 and policy.max_attempts > 1 and elapsed < patience:
            job.unreached += 1
            self._say_away(pool, job, decoded.message or decoded.reason, patience)
            return Action.RETRY
        if self._is_nowhere(pool, job, verdict):
            self._say_away(pool, job, decoded.message or decoded.reason, policy.first_contact_s)
            if elapsed >= policy.first_contact_s:
                return Action.FINISH
        job.failures += ACTIONS[decoded.outcome] not in (Action.FINISH, Action.WAIT_AT_GATE)
        job.empties += decoded.outcome is Outcome.EMPTY
        return decide(verdict, policy, failures=job.failures, empties=job.empties, elapsed_s=elapsed)

    def _patience(self, pool: Pool, job: Job, verdict: Verdict) -> float:
        """Seconds for which a call is repeated at no cost of attempts: the endpoint is away, or loads its model."""
        if verdict.decoded.reason == LOADING:
            return self._policy.loading_s
        away = not verdict.sent and job.call.endpoint in pool.replied
        return self._policy.unreachable_s if away else 0.0

    def _is_nowhere(self, pool: Pool, job: Job, verdict: Verdict) -> bool:
        """Whether the attempt did not reach an endpoint that has never replied."""
        lost = not verdict.sent and verdict.decoded.outcome is Outcome.UNREACHABLE
        return lost and verdict.decoded.reason != DESCRIPTORS and job.call.endpoint not in pool.replied

    def _write(self, job: Job, verdict: Verdict, started_at: float, now: float, *, final: bool) -> bool:
        attempt = AttemptRecord(
            call=job.call,
            attempt=job.attempts,
            started_at=started_at,
            latency_s=now - job.started_at,
            decoded=verdict.decoded,
            response=verdict.response,
            sent=verdict.sent,
            final=final,
            size=verdict.size,
        )
        self.attempts += 1
        try:
            self._record(attempt)
        except Exception as error:  # noqa: BLE001 - what cannot be written costs this call, and no other
            self.fail(error)
            self.lost_records += 1
            self._unwritten.append((attempt, 0))
            return False
        self.lost_records = 0
        if self._unwritten:
            self.write_late()
        return True

    def write_late(self) -> None:
        """Offer again what could not be written: a call that failed in this run is then answered for the next."""
        waiting, self._unwritten = self._unwritten, []
        for attempt, tries in waiting:
            try:
                self._record(attempt)
            except Exception:  # noqa: BLE001 - said when it was offered first
                if tries < _LATE_TRIES:
                    self._unwritten.append((attempt, tries + 1))

    def _settle(self, pool: Pool, job: Job, verdict: Verdict, now: float) -> None:
        lane, decoded = job.lane, verdict.decoded
        lane.flying.pop(job.call.key, None)
        used = verdict.tokens_used
        if job.ticket is not None:
            pool.limiter.finish(job.ticket, verdict.feedback, now, used=used, hint_s=verdict.wait_s)
            job.ticket = None
        if verdict.response is not None:
            pool.replied.add(job.call.endpoint)
            if decoded.reason != LOADING:
                pool.away.discard(job.call.endpoint)
            state = read_state(verdict.response.headers)
            if state is not None:
                pool.limiter.observe(state, now)
        if decoded.outcome in PAID_FOR:
            lane.latency.add(now - job.started_at)
            if used:
                lane.tokens.add(used)
        cost = decoded.usage.cost_usd
        if self._budget is not None:
            cost = self._budget.settle(job.cost_reserved, job.call, decoded.usage, billed=verdict.billed)
            job.cost_reserved = 0.0
        lane.progress.spend(decoded.usage, cost)

    def _finish(
        self, pool: Pool, intake: Intake, job: Job, verdict: Verdict, now: float, *, counted: bool
    ) -> None:
        decoded, lane = verdict.decoded, job.lane
        intake.leave(job)
        if not counted:
            move(job, "failed")
            return
        self.outcomes[decoded.outcome] += job.copies
        lane.progress.outcomes[decoded.outcome] += job.copies
        pool.pace.count(now)
        if decoded.outcome in PAID_FOR:
            move(job, "done")
            lane.proven = True
            self._breaker.succeed(job.call)
            return
        move(job, "failed")
        status = None if verdict.response is None else verdict.response.status
        words = decoded.message or decoded.reason or decoded.outcome.value
        self.causes.add(decoded.outcome.value, status, words, job.copies)
        if decoded.outcome is Outcome.QUOTA or decoded.outcome is Outcome.THROTTLED:
            return
        if self._is_nowhere(pool, job, verdict) and self._policy.max_attempts > 1:
            stops = self._breaker.condemn(job.call, decoded.outcome, decoded.reason, decoded.message)
        else:
            stops = self._breaker.fail(
                job.call, decoded.outcome, status, decoded.reason, decoded.message, now
            )
        for stop in [one for one in widest(self._breaker.stopped.values()) if one in stops]:
            self._progress.notice("stopped", pool.name, f"{stop.scope} {stop.name}: {words}")

    def _say_away(self, pool: Pool, job: Job, why: str | None, patience_s: float) -> None:
        endpoint = job.call.endpoint
        if endpoint not in pool.away:
            pool.away.add(endpoint)
            span = f"{patience_s / 60:.0f} min" if patience_s >= 120 else f"{patience_s:.0f} s"
            self._progress.notice(
                "unreachable", pool.name, f"{endpoint}: {why}; every call is tried for {span}"
            )

    def _park(self, pool: Pool, reason: str) -> None:
        if pool.parked is None:
            pool.park(reason)
            self._progress.notice("parked", pool.name, f"{pool.name}: {reason}")

    def _note(self, trace: str) -> None:
        self.internal_errors += 1
        if len(self.tracebacks) < _TRACEBACKS:
            self.tracebacks.append(trace)
        if self.internal_errors == 1:
            self._progress.notice(INTERNAL, "", trace.strip().rpartition("\n")[2])
