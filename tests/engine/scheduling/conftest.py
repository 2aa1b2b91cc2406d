"""A provider on a virtual clock, and one line to run calls against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio
import pytest
import trio.testing

from molaudit.engine.models.records import Call, Decoded, Outcome, Response, TransportFailure, Usage
from molaudit.engine.scheduling.attempts import AttemptRecord
from molaudit.engine.scheduling.limits import PoolLimits
from molaudit.engine.scheduling.run import run_calls
from molaudit.engine.scheduling.summaries import RunSummary


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "trio", {"clock": trio.testing.MockClock(autojump_threshold=0)}


def make_call(number: int, **labels: Any) -> Call:
    """A call; ``labels`` replace fields."""
    values: dict[str, Any] = {
        "key": f"key-{number}",
        "endpoint": "a",
        "path": "/chat/completions",
        "body": b"{}",
        "model": "m",
        "benchmark": "bench",
        "molecule": f"mol-{number}",
        "condition": "zero_shot",
        "effort": "standard",
        "repeat": 0,
        "input_tokens": 100,
        "output_tokens": 50,
        "timeout_s": 300.0,
    }
    return Call(**{**values, **labels})


def make_calls(count: int, start: int = 0, **labels: Any) -> list[Call]:
    """Distinct calls."""
    return [make_call(number, **labels) for number in range(start, start + count)]


def reply(status: int = 200, **headers: str) -> Response:
    """A response whose meaning is in its status; header names take dashes for underscores."""
    return Response(status, {name.replace("_", "-"): text for name, text in headers.items()}, b"{}")


_MEANINGS = {
    200: Outcome.ANSWERED,
    204: Outcome.EMPTY,
    206: Outcome.TRUNCATED,
    400: Outcome.REJECTED,
    401: Outcome.REJECTED,
    402: Outcome.QUOTA,
    404: Outcome.REJECTED,
    429: Outcome.THROTTLED,
    500: Outcome.FAILED,
    503: Outcome.OVERLOADED,
    299: Outcome.MALFORMED,
}


def decode(_call: Call, response: Response) -> Decoded:
    """The dialect of the virtual provider."""
    hint = response.headers.get("retry-after")
    outcome = _MEANINGS[response.status]
    used = outcome in {Outcome.ANSWERED, Outcome.EMPTY, Outcome.TRUNCATED}
    return Decoded(
        outcome,
        usage=Usage(100, 50) if used else Usage(),
        reason=None if used else f"status {response.status}",
        message=None if used else response.headers.get("words"),
        retryable=outcome not in {Outcome.REJECTED, Outcome.QUOTA},
        retry_after_s=None if hint is None else float(hint),
    )


@dataclass
class Provider:
    """Answers by a function of the call and its arrival number; keeps when each request came."""

    answer: Callable[[Call, int], Response | TransportFailure] = lambda _call, _number: reply()
    latency: float | Callable[[Call], float] = 1.0
    arrivals: list[tuple[float, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def send(self, call: Call) -> Response | TransportFailure:
        number = len(self.arrivals)
        self.arrivals.append((anyio.current_time(), call.key))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            result = self.answer(call, number)
            slow = not isinstance(result, Response) or result.status not in {429, 401}
            latency = self.latency(call) if callable(self.latency) else self.latency
            await anyio.sleep(latency if slow else 0.005)
            return result
        finally:
            self.in_flight -= 1

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.arrivals]

    def times_of(self, key: str) -> list[float]:
        return [at for at, one in self.arrivals if one == key]


class BucketServer:
    """Rejects by a token bucket, as most providers do; ``hint`` is its Retry-After."""

    def __init__(self, rpm: float, burst: float, hint: str | None = "1") -> None:
        self.rpm, self.burst, self.hint = rpm, burst, hint
        self.level, self.at, self.rejected = burst, 0.0, 0

    def __call__(self, _call: Call, _number: int) -> Response:
        now = anyio.current_time()
        self.level = min(self.burst, self.level + (now - self.at) * self.rpm / 60)
        self.at = now
        if self.level >= 1:
            self.level -= 1
            return reply()
        self.rejected += 1
        return reply(429) if self.hint is None else reply(429, retry_after=self.hint)


class WindowServer:
    """Rejects the request above ``limit`` in any window; counts foreign requests too."""

    def __init__(self, limit: int, window: float = 60.0, foreign: tuple[float, ...] = ()) -> None:
        self.limit, self.window = limit, window
        self.foreign = list(foreign)
        self.accepted: list[float] = []
        self.rejected: list[float] = []

    def __call__(self, _call: Call, _number: int) -> Response:
        now = anyio.current_time()
        recent = [
            at for at in self.accepted + [f for f in self.foreign if f <= now] if at > now - self.window
        ]
        if len(recent) >= self.limit:
            self.rejected.append(now)
            return reply(429, retry_after="5")
        self.accepted.append(now)
        return reply()


@dataclass
class Bench:
    """Runs calls and keeps the records. The helpers of this file hang on it, as tests cannot import each other."""

    records: list[AttemptRecord] = field(default_factory=list)

    call = staticmethod(make_call)
    calls = staticmethod(make_calls)
    reply = staticmethod(reply)
    provider = staticmethod(Provider)
    bucket_server = staticmethod(BucketServer)
    window_server = staticmethod(WindowServer)

    def attempts_of(self, key: str) -> list[AttemptRecord]:
        return [record for record in self.records if record.key == key]

    async def run(
        self,
        provider: Provider | Callable[[Call], Any],
        calls: Iterable[Call] | Mapping[str, Iterable[Call]],
        limits: PoolLimits | None = None,
        **options: Any,
    ) -> RunSummary:
        send = provider.send if isinstance(provider, Provider) else provider
        settings: dict[str, Any] = {
            "send": send,
            "decode": decode,
            "record": self.records.append,
            "pools": {"p": limits or PoolLimits(in_flight=10)},
            "endpoint_pool": {"a": "p"},
            "now": lambda: 1.8e9 + anyio.current_time(),
            "random": Random(1),
            "monitor_lag": False,
        }
        return await run_calls(calls, **{**settings, **options})


@pytest.fixture
def bench() -> Bench:
    return Bench()
