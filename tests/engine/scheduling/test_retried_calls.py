"""Gate, retries and errors, on a virtual clock."""

from __future__ import annotations

from itertools import pairwise

import anyio
import pytest

from molaudit.engine.models.records import Decoded, Outcome, TransportFailure
from molaudit.engine.scheduling.limits import PoolLimits
from molaudit.engine.scheduling.progress import Progress
from molaudit.engine.scheduling.retries import RetryPolicy

pytestmark = pytest.mark.anyio


def failing_first(bench, *statuses, hint=None):
    """The first attempts of every call end in ``statuses``, the next in an answer."""
    seen = {}

    def answer(call, _number):
        seen[call.key] = seen.get(call.key, 0) + 1
        if seen[call.key] > len(statuses):
            return bench.reply()
        status = statuses[seen[call.key] - 1]
        return bench.reply(status) if hint is None else bench.reply(status, retry_after=hint)

    return answer


@pytest.mark.parametrize(
    ("status", "attempts", "outcome"),
    [
        (200, 1, Outcome.ANSWERED),
        (206, 1, Outcome.TRUNCATED),
        (204, 2, Outcome.EMPTY),
        (400, 1, Outcome.REJECTED),
        (500, 6, Outcome.FAILED),
        (299, 6, Outcome.MALFORMED),
        (503, 6, Outcome.OVERLOADED),
        (402, 1, Outcome.QUOTA),
    ],
)
async def test_what_always_ends_the_same_way_is_asked_so_often(bench, status, attempts, outcome):
    provider = bench.provider(lambda _call, _number: bench.reply(status))
    summary = await bench.run(provider, bench.calls(1))
    assert len(provider.arrivals) == attempts
    assert summary.outcomes == {outcome: 1}
    assert [record.final for record in bench.records] == [False] * (attempts - 1) + [True]
    assert [record.attempt for record in bench.records] == list(range(1, attempts + 1))


async def test_an_empty_reply_is_repeated_once_and_the_answer_taken(bench):
    summary = await bench.run(bench.provider(failing_first(bench, 204)), bench.calls(1))
    assert summary.outcomes == {Outcome.ANSWERED: 1}
    assert [record.outcome for record in bench.records] == [Outcome.EMPTY, Outcome.ANSWERED]


async def test_each_wait_follows_the_latest_hint(bench):
    hints = iter(["1", "4", "16"])

    def answer(_call, _number):
        hint = next(hints, None)
        return bench.reply() if hint is None else bench.reply(429, retry_after=hint)

    provider = bench.provider(answer)
    await bench.run(provider, bench.calls(1))
    for gap, hint in zip((b - a for a, b in pairwise(provider.times)), (1, 4, 16), strict=True):
        assert hint <= gap < 1.1 * hint + 0.1


async def test_a_hint_in_seconds_and_a_fraction_is_a_minimum_for_failures_too(bench):
    provider = bench.provider(failing_first(bench, 500, 503, hint="2.75"))
    await bench.run(provider, bench.calls(1))
    assert all(b - a >= 1.0 + 2.75 for a, b in pairwise(provider.times))


async def test_a_rejection_closes_the_gate_for_every_endpoint_of_the_pool(bench):
    answers = failing_first(bench, 429, hint="5")
    provider = bench.provider(lambda call, n: answers(call, n) if call.key == "key-0" else bench.reply())
    calls = [bench.call(0), bench.call(1, endpoint="b", model="n"), bench.call(2, endpoint="b", model="n")]
    await bench.run(provider, calls, PoolLimits(in_flight=1), endpoint_pool={"a": "p", "b": "p"})
    assert provider.times[1] >= 5.0


async def test_an_episode_of_twenty_seconds_loses_nothing_and_is_hardly_probed(bench):
    def answer(_call, _number):
        return bench.reply(429, retry_after="1") if 3 < anyio.current_time() < 23 else bench.reply()

    provider = bench.provider(answer, latency=0.5)
    summary = await bench.run(provider, bench.calls(300), PoolLimits(in_flight=20))
    assert summary.outcomes == {Outcome.ANSWERED: 300}
    assert sum(3 < at < 23 for at in provider.times) <= 20 + 25


async def test_a_hint_of_ten_minutes_fails_no_queued_call(bench):
    provider = bench.provider(failing_first(bench, 429, hint="600"))
    answers = provider.answer
    provider.answer = lambda call, n: answers(call, n) if call.key == "key-0" else bench.reply()
    summary = await bench.run(provider, bench.calls(100))
    assert summary.outcomes == {Outcome.ANSWERED: 100}
    assert provider.times[1] >= 600


@pytest.mark.parametrize("status", [429, 500, 204, 503])
async def test_one_attempt_means_one_attempt(bench, status):
    provider = bench.provider(lambda _call, _number: bench.reply(status))
    summary = await bench.run(provider, bench.calls(2), policy=RetryPolicy(max_attempts=1))
    assert sorted(key for _, key in provider.arrivals) == ["key-0", "key-1"]
    assert sum(summary.outcomes.values()) == 2


async def test_a_pool_that_accepts_nothing_for_two_hours_is_given_up(bench):
    provider = bench.provider(lambda _call, _number: bench.reply(429, retry_after="60"))
    summary = await bench.run(provider, bench.calls(50))
    assert 7200 <= summary.elapsed_s < 7500
    assert "throttled for" in summary.parked["p"]
    assert summary.exit_code == 3


async def test_failures_end_with_the_elapsed_time(bench):
    provider = bench.provider(lambda _call, _number: bench.reply(500), latency=100.0)
    summary = await bench.run(
        provider, bench.calls(1), policy=RetryPolicy(max_attempts=99, max_elapsed_s=350.0)
    )
    assert len(provider.arrivals) == 4
    assert summary.outcomes == {Outcome.FAILED: 1}


async def test_a_wrong_key_costs_three_calls_and_its_words_are_kept(bench):
    provider = bench.provider(lambda _call, _number: bench.reply(401, words="no such key"))
    summary = await bench.run(provider, bench.calls(500))
    assert len(provider.arrivals) == 3
    assert summary.outcomes == {Outcome.REJECTED: 3}
    assert summary.skipped == 497
    assert {stop.scope for stop in summary.stopped} == {"cell", "effort", "model"}
    assert all(stop.message == "no such key" for stop in summary.stopped)
    assert summary.exit_code == 3


async def test_a_refused_parameter_stops_the_effort_and_no_other(bench):
    provider = bench.provider(lambda call, _n: bench.reply(400 if call.effort == "off" else 200))
    calls = {"off": bench.calls(50, effort="off"), "on": bench.calls(50, start=50)}
    summary = await bench.run(provider, calls)
    assert summary.answered == 50
    assert sum(1 for _, key in provider.arrivals if int(key[4:]) < 50) == 3
    assert {stop.name for stop in summary.stopped if stop.scope == "effort"} == {"m / off"}


async def test_a_key_withdrawn_in_the_night_stops_the_model_after_thirty_errors(bench):
    provider = bench.provider(lambda _call, number: bench.reply(200 if number < 100 else 401))
    summary = await bench.run(provider, bench.calls(1000), PoolLimits(in_flight=10))
    assert summary.answered == 100
    assert 30 <= len(provider.arrivals) - 100 <= 40


@pytest.mark.parametrize("away_s", [20.0, 300.0])
@pytest.mark.parametrize("in_flight", [50, 200])
async def test_a_network_that_is_away_for_minutes_costs_no_call(bench, away_s, in_flight):
    def answer(_call, _number):
        away = 3.0 <= anyio.current_time() < 3.0 + away_s
        return TransportFailure(Outcome.UNREACHABLE, "no_route", False) if away else bench.reply()

    progress = Progress()
    summary = await bench.run(
        bench.provider(answer), bench.calls(1000), PoolLimits(in_flight=in_flight), progress=progress
    )
    assert (summary.answered, summary.skipped, summary.exit_code) == (1000, 0, 0)
    assert ["no_route" in one.text for one in progress.notices if one.kind == "unreachable"] == [True]


async def test_an_address_where_nobody_ever_replied_is_given_up_soon(bench):
    provider = bench.provider(
        lambda _call, _n: TransportFailure(Outcome.UNREACHABLE, "connection_refused", False)
    )
    summary = await bench.run(provider, bench.calls(500))
    assert summary.elapsed_s < 60
    assert len(provider.arrivals) <= 6
    assert [stop.scope for stop in summary.stopped] == ["endpoint"]
    assert {stop.reason for stop in summary.stopped} == {"connection_refused"}


async def test_a_network_that_stays_away_ends_the_run(bench):
    def answer(_call, number):
        return bench.reply() if number < 100 else TransportFailure(Outcome.UNREACHABLE, "dns", False)

    summary = await bench.run(bench.provider(answer), bench.calls(1000), PoolLimits(in_flight=50))
    assert summary.answered == 100
    assert 600 <= summary.elapsed_s < 900
    assert "dns" in {stop.reason for stop in summary.stopped}


async def test_errors_of_a_server_that_pass_stop_nothing(bench):
    def answer(_call, _number):
        return bench.reply(500 if 10.0 <= anyio.current_time() < 40.0 else 200)

    summary = await bench.run(bench.provider(answer), bench.calls(1500), PoolLimits(in_flight=50))
    assert (summary.skipped, summary.stopped) == (0, ())
    assert summary.answered >= 1300


async def test_errors_of_a_server_that_do_not_pass_stop_what_has_answered_before(bench):
    provider = bench.provider(lambda _call, number: bench.reply(200 if number < 100 else 500))
    summary = await bench.run(provider, bench.calls(2500), PoolLimits(in_flight=50))
    assert summary.answered == 100
    assert summary.elapsed_s < 300
    assert summary.skipped > 500
    assert "effort" in {stop.scope for stop in summary.stopped}


async def test_differing_errors_stop_nothing(bench):
    def answer(call, _number):
        return bench.reply(400 if int(call.key[4:]) % 2 else 404)

    summary = await bench.run(bench.provider(answer), bench.calls(20))
    assert summary.outcomes == {Outcome.REJECTED: 20}
    assert not [stop for stop in summary.stopped if stop.scope != "model"]


async def test_an_exhausted_quota_parks_its_pool_while_others_go_on(bench):
    provider = bench.provider(
        lambda call, _n: bench.reply(402 if call.endpoint == "a" else 200, words="no credit")
    )
    calls = {"a": bench.calls(100), "b": bench.calls(100, start=100, endpoint="b", model="n")}
    summary = await bench.run(
        provider, calls, pools={"p": PoolLimits(), "q": PoolLimits()}, endpoint_pool={"a": "p", "b": "q"}
    )
    assert summary.answered == 100
    assert sum(1 for _, key in provider.arrivals if int(key[4:]) < 100) == 1
    assert summary.parked == {"p": "no credit"}
    assert (summary.skipped, summary.open, summary.exit_code) == (99, 0, 3)


async def test_a_rate_limit_that_asks_for_hours_is_a_quota(bench):
    provider = bench.provider(lambda _call, _number: bench.reply(429, retry_after="30000"))
    summary = await bench.run(provider, bench.calls(10))
    assert len(provider.arrivals) == 1
    assert "p" in summary.parked


@pytest.mark.parametrize("status", [500, 503])
async def test_one_failure_that_asks_for_hours_parks_no_account(bench, status):
    provider = bench.provider(failing_first(bench, status, hint="30000"))
    answers = provider.answer
    provider.answer = lambda call, n: answers(call, n) if call.key == "key-0" else bench.reply()
    summary = await bench.run(provider, bench.calls(100))
    assert summary.outcomes == {Outcome.ANSWERED: 100}
    assert (summary.parked, summary.elapsed_s < 60) == ({}, True)


async def test_a_rate_limit_with_a_hint_of_no_seconds_is_left_alone_for_longer_each_time(bench):
    provider = bench.provider(failing_first(bench, 429, 429, 429, 429, 429, 429, hint="0"))
    await bench.run(provider, bench.calls(1))
    gaps = [b - a for a, b in pairwise(provider.times)]
    assert min(gaps) >= 0.1
    assert gaps[-1] >= 3.0


async def test_failures_with_a_hint_of_no_seconds_wait_by_jitter(bench):
    provider = bench.provider(failing_first(bench, 500, 500, 500, 500, hint="0"), latency=0.0)
    await bench.run(provider, bench.calls(1))
    gaps = [b - a for a, b in pairwise(provider.times)]
    assert len(set(gaps)) == 4
    assert sum(gaps) > 1.0


async def test_a_connection_that_never_answers_is_cut_and_the_run_ends(bench):
    silent = {"key-150"}

    async def send(call):
        if call.key in silent:
            silent.clear()
            await anyio.sleep_forever()
        await anyio.sleep(1)
        return bench.reply()

    summary = await bench.run(send, bench.calls(200, timeout_s=90.0), PoolLimits(in_flight=20))
    assert summary.outcomes == {Outcome.ANSWERED: 200}
    first, second = bench.attempts_of("key-150")
    assert (first.outcome, first.latency_s, first.sent) == (Outcome.TIMED_OUT, pytest.approx(90.0), True)
    assert second.outcome is Outcome.ANSWERED


async def test_a_straggler_is_named(bench):
    progress = Progress()
    provider = bench.provider(latency=lambda call: 250.0 if call.key == "key-30" else 1.0)
    await bench.run(provider, bench.calls(60), progress=progress)
    texts = [notice.text for notice in progress.notices if notice.kind == "straggler"]
    assert len(texts) == 1
    assert texts[0].startswith("1 left, oldest ")
    assert "model m" in texts[0]


async def test_transport_failures_are_repeated_and_their_words_kept(bench):
    lost = iter([TransportFailure(Outcome.UNREACHABLE, "connection_refused", False)])
    provider = bench.provider(lambda _call, _number: next(lost, None) or bench.reply())
    summary = await bench.run(provider, bench.calls(1))
    assert summary.answered == 1
    first = bench.records[0]
    assert (first.decoded.reason, first.sent, first.http_status, first.body) == (
        "connection_refused",
        False,
        None,
        None,
    )


async def test_running_out_of_descriptors_lowers_the_calls_in_flight(bench):
    short = lambda _call, number: (  # noqa: E731
        TransportFailure(Outcome.UNREACHABLE, "descriptors", False) if 40 <= number < 50 else bench.reply()
    )
    provider = bench.provider(short)
    summary = await bench.run(provider, bench.calls(400), PoolLimits(in_flight=64))
    assert summary.answered == 400


async def test_a_decoder_that_raises_costs_one_call(bench):
    def decode(call, _response):
        if call.key == "key-7":
            raise ValueError("sk-test-SECRET123 in a text")
        return Decoded(Outcome.ANSWERED)

    summary = await bench.run(bench.provider(), bench.calls(100), decode=decode)
    assert summary.outcomes == {Outcome.ANSWERED: 99, Outcome.MALFORMED: 1}
    assert summary.internal_error_count == 1
    assert "ValueError" in summary.internal_errors[0]
    assert summary.exit_code == 3
    (record,) = bench.attempts_of("key-7")
    assert (record.decoded.reason, record.decoded.message, record.body) == (
        "internal_error",
        "ValueError",
        b"{}",
    )


async def test_a_sender_that_raises_costs_one_call(bench):
    provider = bench.provider()

    async def send(call):
        if call.key == "key-7":
            raise RuntimeError("broken")
        return await provider.send(call)

    summary = await bench.run(send, bench.calls(30))
    assert summary.answered == 29
    assert summary.internal_error_count == 1


async def test_results_that_cannot_be_written_stop_the_spending(bench):
    def record(_attempt):
        raise OSError("disk full")

    provider = bench.provider()
    summary = await bench.run(provider, bench.calls(1000), record=record)
    assert summary.ended == "journal"
    assert len(provider.arrivals) <= 20 + 10
    assert summary.answered == 0
    assert summary.exit_code == 3


async def test_one_result_that_cannot_be_written_costs_one_call(bench):
    def record(attempt):
        if attempt.key == "key-3":
            raise OSError("hiccup")

    summary = await bench.run(bench.provider(), bench.calls(30), record=record)
    assert summary.answered == 29
    assert (summary.internal_error_count, summary.exit_code) == (1, 3)


async def test_what_could_not_be_written_is_written_later(bench):
    """The disk is full for a while: replies that came then are stored when there is room, and never asked again."""
    written, offered = [], 0

    def record(attempt):
        nonlocal offered
        offered += 1
        if 10 <= offered < 15:
            raise OSError("no space left")
        written.append(attempt.key)

    summary = await bench.run(bench.provider(), bench.calls(30), record=record)
    assert sorted(written) == sorted(f"key-{n}" for n in range(30))
    assert (summary.answered, summary.exit_code) == (25, 3)


async def test_infrastructure_failures_are_counted_apart(bench):
    def answer(call, _number):
        return bench.reply(429 if int(call.key[4:]) % 25 == 0 else 200)

    policy = RetryPolicy(max_attempts=1)
    summary = await bench.run(bench.provider(answer), bench.calls(500, start=1), policy=policy)
    assert summary.outcomes == {Outcome.ANSWERED: 480, Outcome.THROTTLED: 20}
    assert summary.exit_code == 3
