"""The calls of a run made: plan, scheduler, wire and journal brought together."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from time import time
from typing import Any

import anyio
import anyio.to_thread

from molaudit.storage.cache.store import Cache
from molaudit.storage.errors import CacheError
from molaudit.storage.journal.attempts import FIELDS, StoredAttempt
from molaudit.storage.journal.journal import Journal

from ..models.descriptors import fit_descriptors
from ..models.dialects.registry import auth_headers, dialect
from ..models.records import Call, Decoded, Endpoint, Response, Usage
from ..models.transport import Transport, api_key
from ..models.transport_proxies import warnings
from ..plan.estimate import DEFAULT_IN_FLIGHT
from ..plan.plans import Plan
from ..scheduling.attempts import AttemptRecord
from ..scheduling.budgets import Budget
from ..scheduling.limits import PoolLimits
from ..scheduling.progress import Progress
from ..scheduling.run import run_calls
from ..scheduling.stops import StopRequest, stop_on_signals
from ..scheduling.summaries import RunSummary
from ..settings.environment import check_certificates
from ..settings.loading import Settings
from ..settings.schema import LIMITS
from .large_pages import use_large_pages
from .pricing import prices
from .redaction import Redactor
from .stopping import stop_when_asked

FOLD_EVERY_S = 180.0
BEAT_EVERY_S = 30.0
WAITING_AFTER_S = 0.05

_OPEN_AHEAD_FROM = 1000
"""Connections. Fewer are opened in no time when they are needed, and need not stand idle at a server before it has
answered anything."""
_FOLD_WAIT_S = 2.0
"""A fold beside the calls gives up early on a cache that another process holds: the next one takes its share too,
and a run that is told to stop does not wait for it."""


@dataclass(frozen=True, slots=True)
class Display:
    """What a person is shown: a loop that runs beside the calls, and a word at each signal."""

    watch: Callable[[Progress], Coroutine[object, object, None]]
    announce: Callable[[int], None]
    notify: Callable[[str], None]
    progress: Progress


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Beside:
    """What is done beside the calls; all must return at once.

    ``waiting`` is called once if the first reply takes its time: the processor is idle then. ``made`` is called
    when every attempt is in the closed journal, while the connections are still to be closed. ``stops``, from any
    thread, says how often the run has been asked to stop: it stands in for the signals of a process of its own.
    """

    waiting: Callable[[], None] = _nothing
    made: Callable[[RunSummary], None] = _nothing
    stops: Callable[[], int] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be made: the calls of ``plan`` whose keys are not in ``done``, as one session of ``cache``.

    ``missing`` counts them by pool. ``endpoints`` are those that have such calls; ``spent_usd`` is what earlier
    sessions paid for this plan.
    """

    plan: Plan
    cache: Cache
    session: str
    done: frozenset[str]
    missing: Mapping[str, int]
    endpoints: Mapping[str, Endpoint]
    spent_usd: float


def keys_of(endpoints: Mapping[str, Endpoint]) -> Redactor:
    """Check that every endpoint has its key and certificates, and return what keeps the keys out of records.

    Raises
    ------
    SettingsError
        An environment variable is not set or holds no key; the message names it, never its value.
    """
    if _over_tls(endpoints):
        check_certificates()
    found = [api_key(one, os.environ) for one in endpoints.values()]
    return Redactor(key for key in found if key is not None)


def _over_tls(endpoints: Mapping[str, Endpoint]) -> bool:
    return any(one.base_url.startswith("https:") for one in endpoints.values())


def warn_of_wires(settings: Settings, endpoints: Iterable[Endpoint], warn: Callable[[str], None]) -> None:
    """Say what a person should know before keys and prompts go out."""
    for warning in warnings(endpoints, os.environ, [one.name for one in settings.endpoints if one.insecure]):
        warn(warning)


def make_calls(task: Task, redactor: Redactor, display: Display, beside: Beside | None = None) -> RunSummary:
    """Make the calls of a task.

    Returns when all are made, or when the run was stopped, ran out of money or of providers; every attempt is in
    the journal by then.
    """
    with task.cache.journal(task.session) as journal:
        return anyio.run(_run, task, journal, redactor, display, beside or Beside())


async def _run(
    task: Task, journal: Journal, redactor: Redactor, display: Display, beside: Beside
) -> RunSummary:
    plan = task.plan
    limits = pool_limits(plan.settings)
    connections, note = fit_descriptors(sum(one.in_flight for one in limits.values()))
    if note is not None:
        display.notify(note)
        share = connections / sum(one.in_flight for one in limits.values())
        limits = {name: _narrowed(one, share) for name, one in limits.items()}
    price = prices(plan)
    minutes = plan.settings.run.deadline_minutes
    stop, replied = StopRequest(), anyio.Event()
    async with Transport(connections, certificates=_over_tls(task.endpoints)) as transport:
        connect_s = {one.name: one.connect_s for one in plan.settings.endpoints}
        send = redactor.guard(transport.sender(task.endpoints, auth_headers, connect_s))
        async with anyio.create_task_group() as tasks:
            if threading.current_thread() is threading.main_thread():
                tasks.start_soon(stop_on_signals, stop, display.announce)
            if beside.stops is not None:
                tasks.start_soon(stop_when_asked, stop, beside.stops)
            tasks.start_soon(_beat, journal, display.notify)
            tasks.start_soon(_fold_now_and_then, task.cache, journal, display.notify)
            tasks.start_soon(display.watch, display.progress)
            tasks.start_soon(
                _while_waiting, replied, beside.waiting, transport, _connections_ahead(task, limits)
            )
            summary = await run_calls(
                {pool: _missing(plan, pool, task.done) for pool in plan.pools},
                send=send,
                decode=_decoder(plan),
                record=_recorder(plan, journal, price, replied),
                pools=limits,
                endpoint_pool={name: one.pool for name, one in plan.endpoints.items()},
                now=time,
                random=Random(plan.settings.run.seed),
                budget=Budget(price, plan.settings.run.budget_usd, spent_usd=task.spent_usd),
                deadline_s=None if minutes is None else 60.0 * minutes,
                progress=display.progress,
                stop=stop,
            )
            tasks.cancel_scope.cancel()
        journal.close()
        beside.made(summary)
    return summary


def pool_limits(settings: Settings) -> dict[str, PoolLimits]:
    """The limits of each pool; endpoints that share a pool state the same ones (settings see to that)."""
    found: dict[str, PoolLimits] = {}
    for name in dict.fromkeys(one.pool or one.name for one in settings.endpoints):
        mine = [one for one in settings.endpoints if (one.pool or one.name) == name]
        stated = {
            key: next((getattr(one, key) for one in mine if getattr(one, key) is not None), None)
            for key in LIMITS
        }
        found[name] = PoolLimits(
            in_flight=stated["in_flight"] or DEFAULT_IN_FLIGHT,
            requests_per_minute=stated["requests_per_minute"],
            tokens_per_minute=stated["tokens_per_minute"],
            burst=stated["burst"],
        )
    return found


def _narrowed(limits: PoolLimits, share: float) -> PoolLimits:
    return replace(limits, in_flight=max(1, int(limits.in_flight * share)))


def _missing(plan: Plan, pool: str, done: frozenset[str]) -> Iterator[Call]:
    return (call for call in plan.calls(pool) if call.key not in done)


def _decoder(plan: Plan) -> Callable[[Call, Response], Decoded]:
    decoders = {name: dialect(one.dialect).decode for name, one in plan.endpoints.items()}

    def decode(call: Call, response: Response) -> Decoded:
        return decoders[call.endpoint](response, max_output_tokens=call.output_tokens, now=time())

    return decode


def _recorder(
    plan: Plan, journal: Journal, price: Callable[[Call, Usage], float | None], replied: anyio.Event
) -> Callable[[AttemptRecord], None]:
    wire = {asked.model.name: asked.model.id for asked in plan.asked}
    identity = {name: one.identity for name, one in plan.endpoints.items()}

    def record(attempt: AttemptRecord) -> None:
        replied.set()
        call, usage = attempt.call, attempt.decoded.usage
        cost = usage.cost_usd if usage.cost_usd is not None else price(call, usage)
        journal.append(
            StoredAttempt(
                **_found(attempt.decoded) | {"cost_usd": cost},
                key=call.key,
                attempt=attempt.attempt,
                endpoint=call.endpoint,
                identity=identity[call.endpoint],
                model=wire[call.model],
                effort=call.effort,
                repeat=call.repeat,
                started_at=attempt.started_at,
                latency_s=attempt.latency_s,
                http_status=attempt.http_status,
                body=attempt.body,
                body_size=attempt.size,
                sent=attempt.sent,
                preimage=plan.preimage(call).decode() if attempt.attempt == 1 else None,
            )
        )

    return record


DERIVED = frozenset({"text", "reasoning", "retryable", "usage"})
"""Fields of `Decoded` that are not stored as they are: the body says them, and tokens are stored one by one."""

_STORED = tuple(one.name for one in fields(Decoded) if one.name in FIELDS)
_TOKENS = tuple(one.name for one in fields(Usage))


def _found(decoded: Decoded) -> dict[str, Any]:
    """What is stored of a decoded reply: every field that the store has, by its name, so that none is forgotten."""
    found: dict[str, Any] = {name: getattr(decoded, name) for name in _STORED}
    found |= {name: getattr(decoded.usage, name) for name in _TOKENS}
    return found | {"outcome": decoded.outcome.value, "flags": " ".join(decoded.flags) or None}


async def _while_waiting(
    replied: anyio.Event, use: Callable[[], None], transport: Transport, ahead: Sequence[tuple[Endpoint, int]]
) -> None:
    """Use the time until the first reply, if it takes some."""
    with anyio.move_on_after(WAITING_AFTER_S):
        await replied.wait()
        return
    use()
    await anyio.to_thread.run_sync(use_large_pages)
    async with anyio.create_task_group() as opening:
        for endpoint, count in ahead:
            opening.start_soon(transport.open_ahead, endpoint, count)
        await replied.wait()
        opening.cancel_scope.cancel()


def _connections_ahead(task: Task, limits: Mapping[str, PoolLimits]) -> list[tuple[Endpoint, int]]:
    """Where many connections will be needed at once: pools of one address and no limit but the calls in flight."""
    found = []
    for pool, limit in limits.items():
        endpoints = [one for one in task.endpoints.values() if one.pool == pool]
        needed = min(limit.in_flight, task.missing.get(pool, 0)) - 1
        paced = limit.requests_per_minute is not None or limit.tokens_per_minute is not None
        if len(endpoints) == 1 and needed + 1 >= _OPEN_AHEAD_FROM and not paced:
            found.append((endpoints[0], needed))
    return found


async def _beat(journal: Journal, notify: Callable[[str], None]) -> None:
    """Show that the process lives, also while no reply comes: other hosts take the journal of a dead one."""
    while True:
        await anyio.sleep(BEAT_EVERY_S)
        try:
            journal.beat()
        except (CacheError, OSError) as error:
            notify(f"the journal's heartbeat: {error}")


async def _fold_now_and_then(cache: Cache, journal: Journal, notify: Callable[[str], None]) -> None:
    """Take closed segments into the database in a thread, so that the loop never waits for a disk."""
    beside = Cache(cache.path, notify=notify, wait_s=_FOLD_WAIT_S)
    while True:
        await anyio.sleep(FOLD_EVERY_S)
        try:
            journal.rotate()
            await anyio.to_thread.run_sync(beside.fold)
        except (CacheError, OSError) as error:
            # What the journal has, the next fold or the next run takes.
            notify(str(error))
