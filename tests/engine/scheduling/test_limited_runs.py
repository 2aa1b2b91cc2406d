"""Whole runs against rate-limited providers on a virtual clock."""

from __future__ import annotations

from random import Random

import pytest

from molaudit.engine.models.records import Decoded, Outcome, Usage
from molaudit.engine.scheduling.limits import PoolLimits

pytestmark = pytest.mark.anyio

STATED = PoolLimits(in_flight=200, requests_per_minute=600)
UNKNOWN = PoolLimits(in_flight=200)


@pytest.mark.parametrize("latency", [0.02, 0.5, 1.0])
async def test_a_stated_limit_is_used_to_97_percent_without_a_rejection(bench, latency):
    server = bench.bucket_server(600, 20)
    summary = await bench.run(bench.provider(server, latency), bench.calls(300), STATED)
    assert summary.answered == 300
    assert server.rejected == 0
    assert 300 / summary.elapsed_s >= 0.97 * 10


@pytest.mark.parametrize("hint", ["1", "0.1", None])
@pytest.mark.parametrize("latency", [0.02, 0.5, 1.0])
async def test_an_unknown_limit_is_learned_with_few_rejections(bench, latency, hint):
    server = bench.bucket_server(600, 20, hint)
    summary = await bench.run(bench.provider(server, latency), bench.calls(300), UNKNOWN)
    assert summary.answered == 300
    assert server.rejected < 12
    assert (300 - 20) / summary.elapsed_s >= 0.9 * 10
    assert len({record.key for record in bench.records if record.outcome is Outcome.ANSWERED}) == 300


async def test_the_61st_request_of_a_sliding_minute_is_never_sent(bench):
    server = bench.window_server(60)
    limits = PoolLimits(in_flight=50, requests_per_minute=60)
    summary = await bench.run(bench.provider(server), bench.calls(200), limits)
    assert summary.answered == 200
    assert server.rejected == []


async def test_foreign_requests_on_our_account_cost_at_most_a_rejection_a_window(bench):
    foreign = tuple(60 * minute + 20 * third for minute in range(6) for third in range(3))
    server = bench.window_server(60, foreign=foreign)
    limits = PoolLimits(in_flight=50, requests_per_minute=60)
    summary = await bench.run(bench.provider(server), bench.calls(250), limits)
    assert summary.answered == 250
    for start in (0, 60, 120, 180):
        assert sum(start <= at < start + 60 for at in server.rejected) <= 2


async def test_a_limit_of_ten_a_minute_lets_ten_through_in_the_first(bench):
    provider = bench.provider()
    limits = PoolLimits(in_flight=100, requests_per_minute=10, burst=1)
    await bench.run(provider, bench.calls(100), limits, deadline_s=59.0)
    assert len(provider.arrivals) == 10


async def test_more_calls_than_slots_wait_and_none_fails(bench):
    provider = bench.provider()
    summary = await bench.run(provider, bench.calls(100), PoolLimits(in_flight=4))
    assert summary.answered == 100
    assert provider.most_in_flight == 4


async def test_waiting_in_our_queue_counts_against_no_time_out(bench):
    calls = bench.calls(1000, timeout_s=5.0)
    summary = await bench.run(bench.provider(), calls, PoolLimits(in_flight=4))
    assert summary.outcomes == {Outcome.ANSWERED: 1000}
    assert summary.elapsed_s > 240


async def test_reservations_are_settled_so_that_the_true_use_sets_the_pace(bench):
    limits = PoolLimits(in_flight=64, tokens_per_minute=60_000)

    def send_500_now_and_then(_call, number):
        return bench.reply(500) if number % 10 == 5 else bench.reply()

    def decode(_call, response):
        if response.status == 500:
            return Decoded(Outcome.FAILED, retryable=True)
        return Decoded(Outcome.ANSWERED, usage=Usage(100, 200))

    calls = bench.calls(2000, input_tokens=4000, output_tokens=4000)
    provider = bench.provider(send_500_now_and_then)
    summary = await bench.run(provider, calls, limits, decode=decode)
    assert summary.answered == 2000
    assert 300 * 2000 / summary.elapsed_s > 0.8 * 1000


async def test_a_call_above_the_token_limit_goes_once_and_alone(bench):
    limits = PoolLimits(in_flight=8, tokens_per_minute=1000)
    provider = bench.provider()
    calls = [bench.call(0, output_tokens=925), *bench.calls(3, start=1, input_tokens=10, output_tokens=10)]
    summary = await bench.run(provider, calls, limits)
    assert summary.answered == 4
    assert provider.arrivals[0][1] == "key-0"


async def test_calls_of_one_model_go_out_in_the_order_of_the_plan(bench):
    provider = bench.provider()
    limits = PoolLimits(in_flight=8, requests_per_minute=60, tokens_per_minute=50_000)
    calls = [bench.call(n, output_tokens=50 + 900 * (n % 7 == 3)) for n in range(60)]
    await bench.run(provider, calls, limits)
    assert [key for _, key in provider.arrivals] == [call.key for call in calls]


async def test_a_clock_that_jumps_three_hours_earns_no_flood(bench, anyio_backend):
    import anyio

    clock = anyio_backend[1]["clock"]
    provider = bench.provider()
    limits = PoolLimits(in_flight=500, requests_per_minute=600)

    async with anyio.create_task_group() as tasks:

        async def sleep_like_a_laptop():
            await anyio.sleep(5)
            clock.jump(3 * 3600)

        tasks.start_soon(sleep_like_a_laptop)
        calls = bench.calls(400, timeout_s=10**6)
        summary = await bench.run(provider, calls, limits)
    assert summary.answered == 400
    after = [at for at in provider.times if at >= 3 * 3600]
    assert sum(at < after[0] + 1 for at in after) <= 20 + 10 + 1


@pytest.mark.parametrize(("hint", "seconds"), [(None, 120), ("1", 250)])
async def test_random_rejections_do_not_drive_the_pace_down(bench, hint, seconds):
    random = Random(5)

    def answer(_call, _number):
        if random.random() >= 0.05:
            return bench.reply()
        return bench.reply(429) if hint is None else bench.reply(429, retry_after=hint)

    summary = await bench.run(bench.provider(answer, 0.01), bench.calls(2000), PoolLimits(in_flight=100))
    assert summary.answered == 2000
    assert summary.elapsed_s < seconds
