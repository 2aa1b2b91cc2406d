"""Reading the plan: lazily, into lanes, each distinct call once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import anyio

from ..errors import SettingsError
from ..models.records import Call
from .breakers import Breaker
from .lanes import Job, Lane, Source
from .progress import LaneProgress
from .states import move
from .workers import Pool

_LOOK_AHEAD = 10_000
"""Calls read ahead in all; at 2 kB a call, 20 MB."""

_LOW = 256
"""A source is read on when it has fewer calls waiting. At the start it is read until it has one for each slot, while
the first reply is awaited: later every call that goes out would have to wait for the making of another."""

_SLICE = 64
"""Calls read from a plan in one go: at 0.1 ms each the loop is held for 6 ms."""


class Intake:
    """Sources in, lanes out.

    Attributes
    ----------
    active
        The calls read and not yet ended, by key: an identical call that is read meanwhile joins its twin.
    """

    def __init__(
        self,
        calls: Iterable[Call] | Mapping[str, Iterable[Call]],
        pools: Mapping[str, Pool],
        endpoint_pool: Mapping[str, str],
        breaker: Breaker,
        fail: Callable[[Exception], None],
    ) -> None:
        streams = list(calls.values()) if isinstance(calls, Mapping) else [calls]
        ahead = max(2 * _SLICE, _LOOK_AHEAD // max(1, len(streams)))
        slots = max((pool.limits.in_flight for pool in pools.values()), default=0)
        first = min(max(_LOW, slots), ahead)
        self.sources = [Source(iter(stream), ahead, first) for stream in streams]
        self.lanes: dict[tuple[str, str, str], Lane] = {}
        self.active: dict[str, Job] = {}
        self.read = 0
        self._pools = pools
        self._endpoint_pool = endpoint_pool
        self._breaker = breaker
        self._fail = fail
        self._hungry = anyio.Event()

    @property
    def exhausted(self) -> bool:
        """Whether the whole plan has been read."""
        return all(source.exhausted for source in self.sources)

    def refill(self, source: Source) -> None:
        """Read a little now, since a call has just left; the rest is left to `feed`."""
        self._draw(source, 8)
        if source.wanting:
            self._hungry.set()

    async def feed(self) -> None:
        """Read the sources that want it, a slice at a time, until cancelled or all are read."""
        while not self.exhausted:
            self._hungry = anyio.Event()
            for source in self.sources:
                self._draw(source, _SLICE)
                if source.buffered >= source.low:
                    source.low = min(_LOW, source.low)
            if any(source.wanting for source in self.sources):
                await anyio.lowlevel.checkpoint()
            elif not self.exhausted:
                await self._hungry.wait()

    def leave(self, job: Job) -> None:
        """A call has ended, or is given up."""
        self.active.pop(job.call.key, None)
        if job.lane.probe is job:
            job.lane.probe = None

    def _draw(self, source: Source, most: int) -> None:
        for _ in range(most):
            if not source.wanting:
                return
            try:
                call = next(source.calls)
            except StopIteration:
                source.exhausted = True
            except Exception as error:  # noqa: BLE001 - the calls of other sources are still good
                source.exhausted = True
                self._fail(error)
            else:
                self._accept(call, source)

    def _accept(self, call: Call, source: Source) -> None:
        self.read += 1
        twin = self.active.get(call.key)
        if twin is not None:
            twin.copies += 1
            return
        pool = self._pool(call.endpoint)
        lane = self._lane(call, pool)
        job = Job(call, lane, source)
        if pool.parked is not None or self._breaker.holds(call):
            move(job, "skipped")
            return
        source.feed(lane)
        self.active[call.key] = job
        lane.push(job)
        source.buffered += 1
        if pool.starved:
            pool.starved = False
            pool.wake(anyio.current_time())

    def _pool(self, endpoint: str) -> Pool:
        try:
            return self._pools[self._endpoint_pool[endpoint]]
        except KeyError:
            raise SettingsError(f"endpoint {endpoint!r} of the plan has no limit pool") from None

    def _lane(self, call: Call, pool: Pool) -> Lane:
        key = call.endpoint, call.model, call.effort
        lane = self.lanes.get(key)
        if lane is None:
            lane = self.lanes[key] = Lane(*key, LaneProgress(pool.name, *key))
            pool.lanes.append(lane)
        return lane
