"""Whole runs on a virtual clock: fairness, single flight, preflight, budget, stopping, memory."""

from __future__ import annotations

from collections import Counter
from random import Random

import anyio
import pytest
import trio
import trio.testing

from molaudit.engine.errors import SettingsError
from molaudit.engine.models.records import Decoded, Outcome, Usage
from molaudit.engine.scheduling.budgets import Budget, Purse
from molaudit.engine.scheduling.limits import PoolLimits
from molaudit.engine.scheduling.progress import Progress
from molaudit.engine.scheduling.stops import StopRequest

pytestmark = pytest.mark.anyio


def price(_call, usage):
    """A dollar per thousand tokens."""
    return ((usage.input_tokens or 0) + (usage.output_tokens or 0)) / 1000


class CountedPlan:
    """A plan that knows how far it has been read."""

    def __init__(self, bench, size):
        self.size = size
        self.read = 0
        self._bench = bench

    def __iter__(self):
        for number in range(self.size):
            self.read += 1
            yield self._bench.call(number)


async def test_an_empty_plan_is_complete_at_once(bench):
    summary = await bench.run(bench.provider(), [])
    assert (summary.read, summary.attempts, summary.exit_code, summary.elapsed_s) == (0, 0, 0, 0.0)


async def test_every_call_is_made_once_and_recorded_once(bench):
    provider = bench.provider()
    summary = await bench.run(provider, bench.calls(500), PoolLimits(in_flight=50))
    assert Counter(key for _, key in provider.arrivals) == Counter(call.key for call in bench.calls(500))
    assert Counter(record.key for record in bench.records) == Counter(call.key for call in bench.calls(500))
    assert (summary.answered, summary.exit_code) == (500, 0)
    assert (summary.input_tokens, summary.output_tokens) == (50_000, 25_000)


async def test_a_result_is_recorded_before_it_counts(bench):
    progress = Progress()
    counts = []

    def record(_attempt):
        counts.append(sum(pool.done for pool in progress.snapshot().pools))

    await bench.run(
        bench.provider(), bench.calls(5), PoolLimits(in_flight=1), record=record, progress=progress
    )
    assert counts == [0, 1, 2, 3, 4]


async def test_records_carry_the_wall_clock_and_the_true_latency(bench):
    await bench.run(bench.provider(latency=2.5), bench.calls(2), PoolLimits(in_flight=1))
    assert [record.started_at for record in bench.records] == pytest.approx([1.8e9, 1.8e9 + 2.5])
    assert [record.latency_s for record in bench.records] == pytest.approx([2.5, 2.5])


async def test_identical_calls_in_flight_are_made_once(bench):
    provider = bench.provider(latency=5.0)
    calls = [bench.call(0), *[bench.call(1)] * 4, bench.call(0)]
    summary = await bench.run(provider, calls)
    assert sorted(key for _, key in provider.arrivals) == ["key-0", "key-1"]
    assert summary.outcomes == {Outcome.ANSWERED: 6}
    assert len(bench.records) == 2


@pytest.mark.parametrize("one_stream", [True, False])
async def test_a_slow_model_does_not_hold_up_another(bench, one_stream):
    slow = bench.calls(400, model="slow")
    fast = bench.calls(4000, start=400, model="fast")
    mixed = [call for n in range(400) for call in (slow[n], *fast[10 * n : 10 * n + 10])]
    provider = bench.provider(latency=lambda call: 100.0 if call.model == "slow" else 1.0)
    progress, ends = Progress(), {}

    def record(attempt):
        ends[attempt.call.model] = anyio.current_time()

    plan = mixed if one_stream else {"slow": slow, "fast": fast}
    await bench.run(provider, plan, PoolLimits(in_flight=20), record=record, progress=progress)
    # 19 slots while the slow model's first call is out for 100 s, half of the 20 for the 2,100 calls then left.
    assert ends["fast"] < 340
    # And the slow one has all slots afterwards: on 10 slots 20 calls, then 380 calls of 100 s on 20 slots.
    assert ends["slow"] < 2350


async def test_a_plan_in_blocks_is_served_evenly_by_its_streams(bench):
    provider = bench.provider()
    plan = {model: bench.calls(50, start=100 * n, model=model) for n, model in enumerate("abcd")}
    await bench.run(provider, plan, PoolLimits(in_flight=8))
    first = Counter(int(key[4:]) // 100 for _, key in provider.arrivals[:100])
    assert max(first.values()) - min(first.values()) <= 4


async def test_the_first_call_of_each_model_and_effort_goes_alone(bench):
    provider = bench.provider(latency=3.0)
    plan = {
        (model, effort): bench.calls(10, start=1000 * n, model=model, effort=effort)
        for n, (model, effort) in enumerate([("m", "low"), ("m", "high"), ("n", "low")])
    }
    await bench.run(provider, plan, PoolLimits(in_flight=30))
    early = [int(key[4:]) // 1000 for at, key in provider.arrivals if at < 3.0]
    assert sorted(early) == [0, 1, 2]
    assert sum(3.0 <= at < 6.0 for at in provider.times) == 27


async def test_a_first_call_that_fails_is_repeated_before_its_siblings_go(bench):
    provider = bench.provider(lambda _call, number: bench.reply(500 if number < 2 else 200))
    await bench.run(provider, bench.calls(10))
    assert [key for _, key in provider.arrivals[:3]] == ["key-0"] * 3


async def test_tasks_follow_the_calls_in_flight_and_not_the_plan(bench):
    plan = CountedPlan(bench, 12_000)
    most_tasks = most_ahead = answered = 0

    def record(_attempt):
        nonlocal most_tasks, most_ahead, answered
        answered += 1
        if answered % 97 == 0:
            most_tasks = max(most_tasks, trio.lowlevel.current_statistics().tasks_living)
            most_ahead = max(most_ahead, plan.read - answered)

    summary = await bench.run(bench.provider(), plan, PoolLimits(in_flight=50), record=record)
    assert summary.answered == 12_000
    assert most_tasks <= 50 + 12
    assert most_ahead <= 10_000


async def test_a_call_for_each_slot_is_ready_when_the_first_reply_comes(bench):
    """Each read takes time; while the first call is out there is time, and afterwards there may be none."""
    plan = CountedPlan(bench, 6_000)
    ahead: list[int] = []

    def record(_attempt):
        ahead.append(plan.read - len(ahead))

    await bench.run(bench.provider(), plan, PoolLimits(in_flight=2000), record=record)
    assert 2000 <= ahead[0] <= 2200
    assert max(ahead) <= 2000 + 2200


async def test_retries_do_not_pile_up_with_the_plan(bench):
    provider = bench.provider(lambda _call, number: bench.reply(200 if number == 0 else 500), latency=0.01)
    progress, most = Progress(), 0

    def record(_attempt):
        nonlocal most
        most = max(most, progress.snapshot().pools[0].retrying)

    await bench.run(provider, bench.calls(300), PoolLimits(in_flight=10), record=record, progress=progress)
    assert 0 < most <= 20


async def test_the_budget_is_never_passed_and_the_rest_is_left_open(bench):
    budget = Budget(price, limit_usd=2.0)
    provider = bench.provider()
    summary = await bench.run(provider, bench.calls(100), budget=budget)
    assert summary.ended == "budget"
    assert len(provider.arrivals) == 13
    assert budget.spent_usd == pytest.approx(summary.cost_usd) == pytest.approx(1.95)
    assert (summary.open, summary.exit_code) == (87, 3)


async def test_cheaper_replies_than_planned_free_the_budget(bench):
    budget = Budget(price, limit_usd=2.0)
    provider = bench.provider()
    calls = bench.calls(13, output_tokens=900)
    summary = await bench.run(provider, calls, budget=budget)
    assert summary.answered == 7
    assert provider.most_in_flight <= 2


async def test_a_lost_reply_counts_in_full_against_the_budget(bench):
    budget = Budget(price, limit_usd=10.0)
    calls = bench.calls(1, timeout_s=5.0)
    summary = await bench.run(bench.provider(latency=9.0), calls, budget=budget)
    assert summary.outcomes == {Outcome.TIMED_OUT: 1}
    assert budget.spent_usd == pytest.approx(6 * 0.15)
    assert budget.reserved_usd == 0


@pytest.mark.parametrize("usage", [Usage(), Usage(output_tokens=5), Usage(input_tokens=5)])
async def test_a_reply_that_does_not_say_what_it_cost_counts_in_full(bench, usage):
    def unsaid(_call, told):
        whole = told.input_tokens is not None and told.output_tokens is not None
        return (told.input_tokens + told.output_tokens) / 1000 if whole else None

    budget = Budget(unsaid, limit_usd=2.0)
    provider = bench.provider()
    decoded = Decoded(Outcome.ANSWERED, usage=usage)
    summary = await bench.run(
        provider, bench.calls(100), budget=budget, decode=lambda _call, _response: decoded
    )
    assert summary.ended == "budget"
    assert len(provider.arrivals) == 13
    assert budget.spent_usd == pytest.approx(13 * 0.15)


async def test_no_residue_of_rounding_lets_a_call_wait_for_nobody(bench):
    random, call = Random(1), bench.call(0)
    for _ in range(2000):
        budget = Budget(price, limit_usd=0.11)
        held = []
        for _ in range(random.randrange(1, 6)):
            amount = random.choice([0.01, 0.02, 0.03, 0.07])
            if budget.check(amount) is Purse.FITS:
                budget.reserve(amount)
                held.append(amount)
        random.shuffle(held)
        for amount in held:
            budget.settle(amount, call, Usage(input_tokens=0, output_tokens=0), billed=False)
        assert budget.reserved_usd == 0.0
        assert budget.check(0.11) is Purse.FITS


async def test_a_stop_request_drains_what_is_in_flight(bench):
    stop = StopRequest()
    provider = bench.provider(latency=4.0)
    async with anyio.create_task_group() as tasks:

        async def interrupt():
            await anyio.sleep(10)
            stop.request()

        tasks.start_soon(interrupt)
        summary = await bench.run(provider, bench.calls(1000), PoolLimits(in_flight=20), stop=stop)
    assert summary.elapsed_s == pytest.approx(12.0, abs=0.7)
    assert all(record.outcome is Outcome.ANSWERED for record in bench.records)
    assert len(bench.records) == len(provider.arrivals)
    assert (summary.ended, summary.exit_code, summary.unread or summary.open > 0) == (
        "interrupted",
        130,
        True,
    )


async def test_a_drain_ends_after_ten_seconds_and_says_what_was_cut(bench):
    stop = StopRequest()
    provider = bench.provider(latency=lambda call: 1.0 if call.key == "key-0" else 290.0)
    async with anyio.create_task_group() as tasks:

        async def interrupt():
            await anyio.sleep(20)
            stop.request()

        tasks.start_soon(interrupt)
        summary = await bench.run(provider, bench.calls(1000), PoolLimits(in_flight=20), stop=stop)
    assert summary.elapsed_s == pytest.approx(30.0)
    assert summary.answered == 1
    cut = [record for record in bench.records if record.decoded.reason == "interrupted"]
    assert len(cut) == 20
    assert all(record.sent and not record.final for record in cut)
    assert provider.in_flight == 0


async def test_a_second_stop_request_leaves_at_once(bench):
    stop = StopRequest()
    async with anyio.create_task_group() as tasks:

        async def interrupt():
            await anyio.sleep(20)
            stop.request()
            await anyio.sleep(0.5)
            stop.request()

        tasks.start_soon(interrupt)
        summary = await bench.run(bench.provider(latency=290.0), bench.calls(100), stop=stop)
    assert summary.elapsed_s == pytest.approx(20.5)


async def test_a_deadline_ends_a_run_whose_last_call_hangs(bench):
    provider = bench.provider(latency=lambda call: 280.0 if call.key == "key-50" else 0.5)
    summary = await bench.run(provider, bench.calls(100), deadline_s=30.0)
    assert summary.answered == 99
    assert (summary.ended, summary.exit_code, summary.open) == ("deadline", 3, 1)
    assert summary.elapsed_s <= 31.0


async def test_a_plan_that_breaks_leaves_the_calls_before_it(bench):
    def plan():
        yield from bench.calls(20)
        raise ZeroDivisionError

    summary = await bench.run(bench.provider(), plan())
    assert summary.answered == 20
    assert (summary.internal_error_count, summary.exit_code) == (1, 3)


async def test_an_unknown_endpoint_is_an_error_of_the_plan(bench):
    with pytest.raises(SettingsError, match="'zz'"):
        await bench.run(bench.provider(), [bench.call(0, endpoint="zz")])


async def test_a_snapshot_shows_where_every_call_is(bench):
    progress, seen = Progress(), []
    provider = bench.provider(
        lambda _call, number: bench.reply(429, retry_after="120") if number == 40 else bench.reply()
    )

    async with anyio.create_task_group() as tasks:

        async def look():
            while True:
                await anyio.sleep(1)
                seen.append(progress.snapshot())

        tasks.start_soon(look)
        await bench.run(provider, bench.calls(100), progress=progress)
        tasks.cancel_scope.cancel()
    closed = [snapshot.pools[0] for snapshot in seen if snapshot.pools[0].gate_closed_s > 0]
    assert 100 < closed[0].gate_closed_s <= 123
    assert (closed[0].gate_reason, closed[-1].running) == ("throttled", 0)
    assert closed[-1].waiting == closed[-1].queued > 0
    for snapshot in seen:
        pool = snapshot.pools[0]
        assert pool.queued + pool.running + pool.retrying + pool.done + pool.failed == 100
    last = progress.snapshot()
    assert last.pools[0].done == 100
    assert last.eta_s({"p": 0}) == 0.0


async def test_the_time_left_is_told_by_live_completions(bench):
    progress, estimates = Progress(), []

    async with anyio.create_task_group() as tasks:

        async def look():
            await anyio.sleep(60)
            snapshot = progress.snapshot()
            estimates.append(snapshot.eta_s({"p": 1000 - snapshot.pools[0].done}))

        tasks.start_soon(look)
        summary = await bench.run(
            bench.provider(), bench.calls(1000), PoolLimits(in_flight=5), progress=progress
        )
    assert estimates[0] == pytest.approx(summary.elapsed_s - 60, rel=0.2)


async def test_two_runs_in_one_process_work(bench):
    for _ in range(2):
        assert (await bench.run(bench.provider(), bench.calls(20))).answered == 20


async def test_the_learned_use_of_tokens_is_kept_apart_by_effort(bench):
    def decode(call, _response):
        return Decoded(Outcome.ANSWERED, usage=Usage(100, 100 if call.effort == "low" else 4000))

    plan = {
        effort: bench.calls(200, start=1000 * n, effort=effort, output_tokens=5000)
        for n, effort in enumerate(("low", "high"))
    }
    limits = PoolLimits(in_flight=20, tokens_per_minute=200_000)
    summary = await bench.run(bench.provider(), plan, limits, decode=decode)
    used = 200 * 200 + 200 * 4100
    assert used / summary.elapsed_s > 0.8 * 200_000 / 60
