"""Failures that cost no attempts, that end no model, and what a person is told of them. On a virtual clock."""

from __future__ import annotations

import anyio
import pytest

from molaudit.engine.models.outcomes import LOADING
from molaudit.engine.models.records import Decoded, Outcome, TransportFailure, Usage
from molaudit.engine.scheduling.budgets import Budget
from molaudit.engine.scheduling.limits import PoolLimits
from molaudit.engine.scheduling.progress import Progress
from molaudit.engine.scheduling.verdicts import Verdict

pytestmark = pytest.mark.anyio


async def test_a_server_that_loads_its_model_takes_no_attempts(bench):
    """Ten minutes of "Loading model", then answers: no call is lost, and a person is told once."""

    def decode(_call, response):
        if response.status == 503:
            return Decoded(Outcome.OVERLOADED, reason=LOADING, message="Loading model", retryable=True)
        return Decoded(Outcome.ANSWERED, usage=Usage(1, 1))

    progress = Progress()
    provider = bench.provider(lambda _c, _n: bench.reply(503 if anyio.current_time() < 600 else 200), 0.1)
    summary = await bench.run(provider, bench.calls(20), decode=decode, progress=progress)
    assert (summary.outcomes, summary.exit_code) == ({Outcome.ANSWERED: 20}, 0)
    assert ["Loading model" in one.text for one in progress.notices if one.kind == "unreachable"] == [True]


async def test_a_server_that_loads_for_ever_is_given_up(bench):
    def decode(_call, _response):
        return Decoded(Outcome.OVERLOADED, reason=LOADING, message="Loading model", retryable=True)

    summary = await bench.run(bench.provider(lambda _c, _n: bench.reply(503)), bench.calls(3), decode=decode)
    assert summary.exit_code == 3
    assert summary.elapsed_s < 4 * 3600


async def test_a_reply_that_was_too_large_is_not_asked_for_again(bench):
    huge = TransportFailure(Outcome.FAILED, "body_too_large", True, "40 MB", 40_000_000, retryable=False)
    provider = bench.provider(lambda call, _n: huge if call.key == "key-1" else bench.reply())
    summary = await bench.run(provider, bench.calls(3))
    assert len(provider.arrivals) == 3
    (record,) = bench.attempts_of("key-1")
    assert (record.size, record.final, record.decoded.message) == (40_000_000, True, "40 MB")
    assert summary.outcomes == {Outcome.ANSWERED: 2, Outcome.FAILED: 1}


async def test_each_cause_is_told_once_with_its_calls(bench):
    def answer(call, _number):
        number = int(call.key[4:])
        if number % 4 == 0:
            return bench.reply(400, words=f"the prompt of request {number}0000 is not allowed")
        return bench.reply(401, words="no key") if number == 21 else bench.reply()

    summary = await bench.run(bench.provider(answer), bench.calls(40, start=1))
    assert [(one.http_status, one.words, one.calls) for one in summary.causes] == [
        (400, "the prompt of request 40000 is not allowed", 10),
        (401, "no key", 1),
    ]


async def test_blocked_questions_stop_nothing(bench):
    """Nine of ten are blocked by a 403 that the decoder calls filtered: the calls go on, and are final."""

    def decode(_call, response):
        outcome = Outcome.FILTERED if response.status == 403 else Outcome.ANSWERED
        return Decoded(outcome, usage=Usage(1, 1))

    provider = bench.provider(lambda call, _n: bench.reply(200 if call.key.endswith("9") else 403))
    summary = await bench.run(provider, bench.calls(100), decode=decode)
    assert summary.outcomes == {Outcome.FILTERED: 90, Outcome.ANSWERED: 10}
    assert (summary.stopped, summary.exit_code) == ((), 0)


async def test_a_question_blocked_by_its_status_costs_nothing_and_an_answer_withheld_may(bench):
    """A call may cost 1 USD and nobody says what these did: the first kind leaves the budget whole."""

    def decode(_call, _response):
        return Decoded(Outcome.FILTERED)

    def price(_call, usage):
        return None if usage.output_tokens is None else 1.0

    for status, made in ((403, 10), (200, 3)):
        provider = bench.provider(lambda _c, _n, status=status: bench.reply(status))
        budget = Budget(price, 3.0)
        summary = await bench.run(
            provider, bench.calls(10), PoolLimits(in_flight=1), decode=decode, budget=budget
        )
        assert summary.outcomes == {Outcome.FILTERED: made}


async def test_a_gateway_that_timed_out_may_have_been_billed(bench):
    verdict = Verdict(Decoded(Outcome.TIMED_OUT), bench.reply(504), True)
    assert verdict.tokens_used is None
