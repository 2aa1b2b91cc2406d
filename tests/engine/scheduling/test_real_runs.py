"""Scheduler, transport and dialect together against the simulated server in another process, in real time."""

from __future__ import annotations

import json
import time
import urllib.request
from collections import Counter
from random import Random

import anyio
import pytest

from molaudit.engine.models.dialects.registry import auth_headers, dialect
from molaudit.engine.models.records import Endpoint, Outcome
from molaudit.engine.models.transport import Transport
from molaudit.engine.scheduling.limits import PoolLimits
from molaudit.engine.scheduling.retries import RetryPolicy
from molaudit.engine.scheduling.run import run_calls
from molaudit.engine.simulated.server import ServeSettings, start_process


def run_against(url, bench, count, limits, timeout_s=30.0, policy=None):
    """Run ``count`` calls; returns the summary, the records and what the server counted."""
    decode = dialect("openai-chat").decode
    records = []

    def plan():
        for number in range(count):
            question = f"What is the melting point of CCO, number {number}? Answer with a number."
            body = {"model": "reciter", "messages": [{"role": "user", "content": question}], "max_tokens": 64}
            yield bench.call(number, body=json.dumps(body).encode(), timeout_s=timeout_s)

    async def carry_out():
        async with Transport(limits.in_flight) as transport:
            return await run_calls(
                plan(),
                send=transport.sender({"a": Endpoint("a", "openai-chat", url, url, "p")}, auth_headers),
                decode=lambda _call, response: decode(response, max_output_tokens=64),
                record=records.append,
                pools={"p": limits},
                endpoint_pool={"a": "p"},
                now=time.time,
                random=Random(1),
                policy=policy,
            )

    summary = anyio.run(carry_out)
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return summary, records, json.load(reply)


def test_every_fault_is_survived_with_nothing_lost_and_nothing_asked_twice(bench):
    faults = (
        "500=0.03,503=0.01,reset=0.02,reset-body=0.02,reset-after=0.02,half-json=0.02,html=0.02,"
        "error200=0.02,drip=0.005,hang=0.005,huge=0.002,nul=0.02,empty=0.01,wrong-model=0.02"
    )
    policy = RetryPolicy(base_s=0.05)
    with start_process(ServeSettings(latency="0.01", faults=faults, seed=3)) as url:
        summary, records, stats = run_against(url, bench, 300, PoolLimits(in_flight=50), 3.0, policy)
    ends = Counter(record.key for record in records if record.final)
    assert len(ends) == 300
    assert set(ends.values()) == {1}
    assert summary.outcomes == {Outcome.ANSWERED: 300}
    assert summary.internal_error_count == 0
    # An attempt on a connection that the server has just reset is seen by one side only.
    assert len(records) >= stats["requests"] > 320
    assert stats["repeated_calls"] == 0


def test_two_runs_one_after_another_in_one_process_work(bench):
    with start_process(ServeSettings(latency="0.05")) as url:
        for _ in range(2):
            summary, _, _ = run_against(url, bench, 100, PoolLimits(in_flight=20))
            assert (summary.answered, summary.exit_code) == (100, 0)
            assert summary.lag_p99_s is not None


@pytest.mark.slow
@pytest.mark.parametrize(("stated", "most"), [(600, 0), (None, 19)])
def test_600_requests_a_minute_are_used_in_real_time(bench, stated, most):
    settings = ServeSettings(latency="0.3", rpm=600, burst=20, hints="retry-after")
    with start_process(settings) as url:
        limits = PoolLimits(in_flight=200, requests_per_minute=stated)
        summary, _, stats = run_against(url, bench, 300, limits)
    assert summary.answered == 300
    assert stats["rejected_429"] <= most
    assert 300 / summary.elapsed_s >= (0.97 if stated else 0.9) * 10
