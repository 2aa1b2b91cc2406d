"""The cap on calls in flight that the lag of our own loop sets, by hand and in whole runs on a virtual clock."""

from __future__ import annotations

import gc

import anyio
import pytest

from molaudit.engine.scheduling.collecting import rare_collections
from molaudit.engine.scheduling.crowds import FLOOR, Crowd
from molaudit.engine.scheduling.lags import LagMonitor
from molaudit.engine.scheduling.limits import PoolLimits


def crowded(most=300, latency_s=0.1):
    crowd = Crowd(most)
    crowd.launch(most)
    crowd.reply(latency_s)
    return crowd


def lowered(most):
    crowd = crowded(most)
    for _ in range(8):
        crowd.feel(0.5, 16)
    assert crowd.limit == FLOOR
    return crowd


def test_a_late_loop_halves_the_calls_in_flight_at_most_and_never_goes_below_16():
    crowd = crowded()
    seen = []
    for _ in range(10):
        crowd.feel(0.12, crowd.limit)
        seen.append(crowd.limit)
    # What was in flight at the start of a tick counts for it: a cut shows in the tick after the next.
    assert seen == [150, 150, 75, 75, 37, 37, 18, 18, 16, 16]
    assert FLOOR == 16


def test_a_cut_is_in_proportion_to_the_lag():
    crowd = crowded(latency_s=0.05)
    crowd.feel(0.03, 300)
    assert crowd.limit == 180  # 300 x 18 ms / 30 ms


def test_a_pool_of_fewer_than_16_is_left_alone():
    crowd = crowded(most=8)
    crowd.feel(1.0, 8)
    assert crowd.limit == 8


@pytest.mark.parametrize(("latency_s", "lag_s"), [(0.3, 0.2), (1.0, 5.0), (0.25, 0.15), (0.1, 0.039)])
def test_a_server_that_takes_its_time_is_never_cut(latency_s, lag_s):
    crowd = crowded(latency_s=latency_s)
    for _ in range(50):
        crowd.feel(lag_s, 300)
    assert crowd.limit == 300


def test_without_a_reply_nothing_is_concluded():
    crowd = Crowd(300)
    crowd.launch(300)
    crowd.feel(1.0, 300)
    assert crowd.limit == 300


def test_between_calm_and_late_the_cap_stays_at_what_is_in_flight():
    crowd = crowded(latency_s=0.04)
    crowd.feel(0.02, 60)
    assert crowd.limit == 300
    crowd.feel(0.02, 60)
    assert crowd.limit == 60
    crowd.feel(0.015, 20)
    assert crowd.limit == 60


def test_a_calm_loop_lets_a_cap_that_binds_rise_slowly_and_back_to_the_limit():
    crowd = lowered(200)
    ticks = 0
    while crowd.limit < 200:
        crowd.feel(0.001, crowd.limit)
        ticks += 1
    assert 60 <= ticks <= 120  # 1.5 to 3 s at 25 ms
    crowd.feel(0.001, 200)
    assert crowd.limit == 200


def test_a_cap_that_does_not_bind_does_not_rise():
    crowd = lowered(200)
    for _ in range(50):
        crowd.feel(0.001, 10)
    assert crowd.limit == FLOOR


@pytest.mark.anyio
async def test_the_monitor_tells_of_the_lag_of_each_tick(anyio_backend):
    clock = anyio_backend[1]["clock"]
    felt = []
    monitor = LagMonitor(felt.append)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(monitor.watch)
        await anyio.sleep(0.11)
        clock.jump(0.2)
        await anyio.sleep(0.1)
        tasks.cancel_scope.cancel()
    assert max(felt) == pytest.approx(0.185, abs=0.016)
    assert sorted(felt)[-2] < 1e-6
    assert len(felt) >= 7


def busy(bench, clock, latency_s, cpu_s=0.0004):
    """A provider whose replies cost us ``cpu_s`` each: the loop's clock goes on while nothing else can run."""
    provider = bench.provider(latency=latency_s)

    async def send(call):
        result = await provider.send(call)
        clock.jump(cpu_s)
        return result

    return provider, send


@pytest.mark.anyio
@pytest.mark.parametrize("in_flight", [100, 300])
async def test_a_quick_server_leaves_the_loop_in_time_at_no_loss(bench, anyio_backend, in_flight):
    _, send = busy(bench, anyio_backend[1]["clock"], 0.002)
    limits = PoolLimits(in_flight=in_flight)
    summary = await bench.run(send, bench.calls(20_000), limits, monitor_lag=True)
    assert summary.answered == 20_000
    assert summary.lag_p99_s < 0.035
    # 0.4 ms a call is 2,500 a second at best.
    assert 20_000 / summary.elapsed_s > 0.85 * 2500


@pytest.mark.anyio
async def test_a_server_of_a_second_keeps_all_its_slots_however_late_the_loop_is(bench, anyio_backend):
    provider, send = busy(bench, anyio_backend[1]["clock"], 1.0)
    await bench.run(send, bench.calls(3000), PoolLimits(in_flight=1000), monitor_lag=True)
    assert provider.most_in_flight == 1000
    late = [at for at in provider.times if at > provider.times[1500]]
    assert len(late) / (late[-1] - late[0]) > 600


@pytest.mark.anyio
async def test_a_server_that_becomes_slow_gets_its_slots_back(bench, anyio_backend):
    provider, send = busy(bench, anyio_backend[1]["clock"], 0.002)
    provider.latency = lambda call: 0.002 if int(call.key[4:]) < 3000 else 0.5
    await bench.run(send, bench.calls(6000), PoolLimits(in_flight=300), monitor_lag=True)
    assert provider.most_in_flight == 300


def test_the_collector_is_as_before_after_a_run():
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count() > 1000
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
