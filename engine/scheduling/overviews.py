"""Looking at a run from outside: the snapshot for a display, the summary at the end, the stragglers by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import anyio

from .breakers import Breaker
from .intake import Intake
from .lags import LagMonitor
from .lanes import Lane
from .ledger import Ledger
from .progress import PoolSnapshot, Progress, Snapshot, Straggler
from .summaries import RunSummary
from .workers import Pool

_TIMES_USUAL = 3.0
_WORTH_NAMING_S = 5.0


class View(Protocol):
    """What can be seen of a run."""

    started: float
    ended: str
    admitting: bool
    lag: LagMonitor
    breaker: Breaker
    intake: Intake
    ledger: Ledger

    @property
    def pools(self) -> Mapping[str, Pool]: ...


def overview(run: View) -> Snapshot:
    """How the run stands."""
    now = anyio.current_time()
    return Snapshot(
        elapsed_s=now - run.started,
        pools=tuple(_pool(pool, now) for pool in run.pools.values()),
        lanes=tuple(lane.progress for lane in run.intake.lanes.values()),
        lag_p50_s=run.lag.quantile(0.5),
        lag_p99_s=run.lag.quantile(0.99),
        lag_max_s=run.lag.longest,
    )


def summarise(run: View) -> RunSummary:
    """How the run ended."""
    lanes = [lane.progress for lane in run.intake.lanes.values()]
    skipped = sum(lane.skipped for lane in lanes)
    ended = sum(run.ledger.outcomes.values())
    return RunSummary(
        ended=run.ended,
        read=run.intake.read,
        unread=not run.intake.exhausted,
        outcomes=dict(run.ledger.outcomes),
        skipped=skipped,
        open=run.intake.read - ended - skipped,
        attempts=run.ledger.attempts,
        stopped=tuple(run.breaker.stopped.values()),
        parked={name: pool.parked for name, pool in run.pools.items() if pool.parked is not None},
        internal_errors=tuple(run.ledger.tracebacks),
        internal_error_count=run.ledger.internal_errors,
        input_tokens=sum(lane.input_tokens for lane in lanes),
        output_tokens=sum(lane.output_tokens for lane in lanes),
        cost_usd=sum(lane.cost_usd for lane in lanes),
        elapsed_s=anyio.current_time() - run.started,
        lag_p50_s=run.lag.quantile(0.5),
        lag_p99_s=run.lag.quantile(0.99),
        lag_max_s=run.lag.longest,
        causes=run.ledger.causes.listed(),
    )


def name_stragglers(pools: Iterable[Pool], now: float, progress: Progress) -> None:
    """Tell of each call in flight that takes three times what 95 % of its lane's calls take, once."""
    for pool in pools:
        for lane in pool.lanes:
            straggler = find_straggler(lane, now)
            if straggler is None:
                continue
            job = next(iter(lane.flying.values()))
            if not job.named:
                job.named = True
                progress.notice(
                    "straggler",
                    pool.name,
                    f"{straggler.in_flight} left, oldest {straggler.oldest_s:.0f} s, model {lane.model} "
                    f"({lane.effort}; 95 % take less than {straggler.usual_s:.1f} s)",
                )


def find_straggler(lane: Lane, now: float) -> Straggler | None:
    """The lane's oldest call in flight, if it is one."""
    usual = lane.latency.value
    if usual is None or not lane.flying:
        return None
    # Launches keep the order of the dictionary, so its first is the oldest.
    oldest = now - next(iter(lane.flying.values())).started_at
    if oldest < max(_TIMES_USUAL * usual, _WORTH_NAMING_S):
        return None
    return Straggler(lane.model, lane.effort, len(lane.flying), oldest, usual)


def _pool(pool: Pool, now: float) -> PoolSnapshot:
    lanes = [lane.progress for lane in pool.lanes]
    limiter = pool.limiter
    queued, running = sum(lane.queued for lane in lanes), sum(lane.running for lane in lanes)
    rate = limiter.rate
    closed = limiter.gate.wait(now)
    return PoolSnapshot(
        pool=pool.name,
        queued=queued,
        running=running,
        waiting=queued if closed > 0 or limiter.pacer.holding else 0,
        retrying=sum(lane.retrying for lane in lanes),
        done=sum(lane.done for lane in lanes),
        failed=sum(lane.failed for lane in lanes),
        skipped=sum(lane.skipped for lane in lanes),
        attempts=sum(lane.attempts for lane in lanes),
        input_tokens=sum(lane.input_tokens for lane in lanes),
        output_tokens=sum(lane.output_tokens for lane in lanes),
        cost_usd=sum(lane.cost_usd for lane in lanes),
        in_flight_limit=limiter.slots,
        requests_per_minute=None if rate is None else 60 * rate,
        gate_closed_s=closed,
        gate_reason=limiter.gate.reason if closed > 0 else "",
        parked=pool.parked,
        per_second=pool.pace.per_second(now),
        stragglers=tuple(one for lane in pool.lanes if (one := find_straggler(lane, now)) is not None),
    )
