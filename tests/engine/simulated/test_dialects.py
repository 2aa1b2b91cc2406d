"""The simulated server against the program's own dialects: what one writes the other reads as it was meant."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from molaudit.engine.conditions.zero_shot import zero_shot
from molaudit.engine.models.dialects.common import Request
from molaudit.engine.models.dialects.registry import dialect
from molaudit.engine.models.records import Decoded, Outcome, Response, question
from molaudit.engine.simulated.core import Server, ServeSettings
from molaudit.engine.simulated.labels import Book, load

MEDIUM: Mapping[str, Mapping[str, Any]] = {
    "openai-chat": {"reasoning_effort": "medium"},
    "openai-responses": {"reasoning": {"effort": "medium"}},
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    "gemini": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1024}}},
}
FIELDS = {
    "openai-chat": "max_completion_tokens",
    "openai-responses": "max_output_tokens",
    "anthropic": "max_tokens",
    "gemini": "maxOutputTokens",
}
SYSTEM, USER = zero_shot("normal boiling point", "°C", "Ethanol", "CCO")


@pytest.fixture(scope="module")
def book() -> Book:
    return load()


def ask(book: Book, name: str, faults: str = "", limit: int = 2048) -> Decoded:
    request = Request("reciter-100", question(SYSTEM, USER), limit, FIELDS[name], fragment=MEDIUM[name])
    spoken = dialect(name)
    path, body = spoken.encode(request)
    delivery = Server(ServeSettings(faults=faults), book, lambda: 0.0).respond(
        "POST", "/v1" + path, json.dumps(body).encode()
    )
    headers = {"content-type": delivery.content_type, **dict(delivery.headers)}
    return spoken.decode(Response(delivery.status, headers, delivery.body), max_output_tokens=limit)


@pytest.mark.parametrize("name", MEDIUM)
def test_an_answer_is_read_with_its_tokens(book: Book, name: str) -> None:
    found = ask(book, name)
    assert (found.outcome, found.text, found.finish) == (Outcome.ANSWERED, "Answer: 78.2", "stop")
    assert found.returned_model == "reciter-100"
    usage = found.usage
    assert usage.input_tokens is not None
    assert usage.input_tokens > 50
    assert usage.reasoning_tokens is not None
    assert 512 <= usage.reasoning_tokens <= 1536
    assert usage.output_tokens == usage.reasoning_tokens + len("Answer: 78.2") // 4 + 1


@pytest.mark.parametrize("name", MEDIUM)
@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("empty", Outcome.EMPTY),
        ("truncated", Outcome.TRUNCATED),
        ("refusal", Outcome.REFUSED),
        ("html", Outcome.MALFORMED),
        ("half-json", Outcome.MALFORMED),
        ("429", Outcome.THROTTLED),
        ("500", Outcome.FAILED),
        ("503", Outcome.OVERLOADED),
        ("401", Outcome.REJECTED),
        ("504", Outcome.TIMED_OUT),
        ("wrong-model", Outcome.ANSWERED),
        ("nul", Outcome.ANSWERED),
    ],
)
def test_a_fault_is_read_as_the_outcome_that_it_stands_for(
    book: Book, name: str, fault: str, outcome: Outcome
) -> None:
    # Gemini has no word for a refusal: what the model will not say is blocked.
    if (name, fault) == ("gemini", "refusal"):
        outcome = Outcome.FILTERED
    assert ask(book, name, f"{fault}=1").outcome is outcome


@pytest.mark.parametrize("name", MEDIUM)
def test_an_exhausted_quota_is_not_a_throttle(book: Book, name: str) -> None:
    assert ask(book, name, "quota=1").outcome is Outcome.QUOTA


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "gemini"])
def test_a_filtered_reply_is_filtered(book: Book, name: str) -> None:
    assert ask(book, name, "filtered=1").outcome is Outcome.FILTERED


@pytest.mark.parametrize("name", MEDIUM)
def test_the_wait_of_a_429_is_found(book: Book, name: str) -> None:
    assert ask(book, name, "429=1").retry_after_s == pytest.approx(1.0)


@pytest.mark.parametrize("name", MEDIUM)
def test_reasoning_that_fills_the_limit_is_truncated(book: Book, name: str) -> None:
    assert ask(book, name, limit=400).outcome is Outcome.TRUNCATED
