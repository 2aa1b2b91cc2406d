"""Each provider's replies, read; each request, written. The fixtures' expectations come from outside this code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shared_data import DATA, is_missing, reason, require

from molaudit.engine.errors import SettingsError
from molaudit.engine.models.dialects.common import Request
from molaudit.engine.models.dialects.registry import DIALECTS, auth_headers, dialect
from molaudit.engine.models.records import Decoded, Outcome, Response, question

FIXTURES = DATA / "fixtures/provider_responses.jsonl"
BY_API = {
    "chat": "openai-chat",
    "responses": "openai-responses",
    "messages": "anthropic",
    "generateContent": "gemini",
}
OUTCOME = {
    "ok": "answered",
    "refusal": "refused",
    "content_filter": "filtered",
    "server_error": "failed",
    "timeout": "timed_out",
    "rate_limit": "throttled",
}
SAME = {"truncated", "empty", "malformed", "overloaded", "quota"}


def fixtures() -> list[Any]:
    if is_missing(FIXTURES):
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason(FIXTURES)))]
    lines = FIXTURES.read_text("utf-8").split("\n")
    return [pytest.param(one, id=one["id"]) for one in map(json.loads, filter(None, lines))]


def raw(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def decode(name: str, body: Any, status: int = 200, limit: int = 4096) -> Decoded:
    return dialect(name).decode(Response(status, {}, raw(body)), max_output_tokens=limit)


def chat(message: Any, finish: Any = "stop", **top: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"message": message, "finish_reason": finish}], **top}


@pytest.mark.parametrize("line", fixtures())
def test_recorded_replies_mean_what_the_reference_says(line: dict[str, Any]) -> None:
    response = Response(line["status"], line["headers"], raw(line["body"]))
    got = dialect(BY_API[line["api"]]).decode(response, max_output_tokens=4096)
    want = line["expect"]
    rejected = want["kind"] not in OUTCOME | dict.fromkeys(SAME)
    assert got.outcome == ("rejected" if rejected else OUTCOME.get(want["kind"], want["kind"]))
    if rejected:
        assert got.reason == want["kind"]
    assert (got.text, got.finish) == (want["text"], want["finish"])
    assert got.usage.input_tokens == want["input_tokens"]
    assert got.usage.output_tokens == want["output_tokens"]
    assert got.usage.reasoning_tokens == want["reasoning_tokens"]
    assert (got.retryable, got.retry_after_s) == (want["retryable"], want["retry_after_s"])


def test_all_fixtures_are_there() -> None:
    require(FIXTURES)
    assert len(fixtures()) == 80


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("openai-chat", chat({"content": None}, "content_filter"), "content_filter"),
        ("openai-responses", {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
         "content_filter"),
        ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, "SAFETY"),
        ("gemini", {"promptFeedback": {"blockReason": "BLOCKLIST"}}, "BLOCKLIST"),
        ("gemini", {"candidates": [{"finishReason": "IMAGE_SAFETY"}]}, "IMAGE_SAFETY"),
    ],
)  # fmt: skip
def test_filter_verdicts_keep_the_providers_word(name: str, body: Any, reason: str) -> None:
    got = decode(name, body)
    assert (got.outcome, got.reason, got.retryable) == (Outcome.FILTERED, reason, False)


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("body", [{}, {"id": "x"}, {"ok": True}, [], [1], 5, None, "text", "x"])
def test_a_body_of_another_program_is_malformed_and_not_an_empty_answer(name: str, body: Any) -> None:
    got = decode(name, body)
    assert (got.outcome, got.retryable, got.text) == (Outcome.MALFORMED, True, None)


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("body", [{"message": "Unknown route"}, {"detail": "no such endpoint"}])
def test_a_flat_error_in_200_is_an_error(name: str, body: Any) -> None:
    got = decode(name, body)
    assert (got.outcome, got.reason) == (Outcome.REJECTED, "not_found")


@pytest.mark.parametrize(
    ("name", "body", "outcome"),
    [
        ("openai-chat", chat({"content": "4"}, "MAX_TOKENS"), "truncated"),
        ("openai-chat", chat({"content": "4"}, "end_turn"), "answered"),
        ("openai-chat", chat({"content": "4"}, "RECITATION"), "recitation"),
        ("openai-chat", chat({"content": "4"}, "a new word"), "answered"),
        ("openai-responses", {"status": "incomplete", "incomplete_details": {"reason": "new"}}, "failed"),
        ("openai-responses", {"status": "in_progress", "output": []}, "malformed"),
        ("openai-responses", {"status": "cancelled", "output": []}, "failed"),
        ("anthropic", {"content": "4", "stop_reason": "end_turn"}, "answered"),
        ("anthropic", {"content": [], "stop_reason": "end_turn"}, "empty"),
        ("gemini", {"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}, "failed"),
        ("gemini", {"candidates": [], "usageMetadata": {}}, "empty"),
    ],
)  # fmt: skip
def test_finish_words_of_neighbours_and_of_the_future(name: str, body: Any, outcome: str) -> None:
    assert decode(name, body).outcome == outcome


def test_recitation_is_an_outcome_of_its_own() -> None:
    got = decode(
        "gemini", {"candidates": [{"finishReason": "RECITATION", "content": {"parts": [{"text": "-2.3"}]}}]}
    )
    assert (got.outcome, got.reason, got.text) == (Outcome.RECITATION, "RECITATION", "-2.3")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("openai-chat", chat({"content": None, "refusal": "I cannot."})),
        ("openai-chat", chat({"content": [{"type": "refusal", "refusal": "I cannot."}]})),
        ("openai-responses", {"status": "completed", "output": [
            {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}]}),
        ("anthropic", {"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "I cannot."}}),
    ],
)  # fmt: skip
def test_refusals_are_recognised(name: str, body: Any) -> None:
    got = decode(name, body)
    assert (got.outcome, got.finish, got.text, got.message) == (Outcome.REFUSED, "refusal", "", "I cannot.")


@pytest.mark.parametrize(
    ("content", "answer", "reasoning", "outcome"),
    [
        ("<think>maybe -2.1 or -3.0</think> -3.05", "-3.05", "maybe -2.1 or -3.0", "answered"),
        ("<think>it is -2.1", "", "it is -2.1", "truncated"),
        ("first</think>second</think>\n\n7", "7", "firstsecond", "answered"),
        ("<think></think>\n", "", None, "empty"),
        ("<think>a</think>b<think>c", "b", "ac", "truncated"),
        ("a < b and think", "a < b and think", None, "answered"),
    ],
)
def test_inline_reasoning_is_parted_from_the_answer(
    content: str, answer: str, reasoning: str | None, outcome: str
) -> None:
    got = decode("openai-chat", chat({"content": content}))
    assert (got.text, got.reasoning, got.outcome) == (answer, reasoning, outcome)


@pytest.mark.parametrize(
    "body",
    [
        chat({"content": None, "reasoning_content": "long"}, "length"),
        chat({"content": ""}, usage={"prompt_tokens": 9, "completion_tokens": 96,
                                     "completion_tokens_details": {"reasoning_tokens": 96}}),
        chat({"content": "<think>so far"}, "length", usage={"completion_tokens_details": {"reasoning_tokens": 0}}),
    ],
)  # fmt: skip
def test_reasoning_that_ate_the_limit_is_seen_in_three_shapes(body: Any) -> None:
    got = decode("openai-chat", body, limit=100)
    assert (got.outcome, got.text, got.retryable) == (Outcome.TRUNCATED, "", False)
    assert "reasoning_filled_limit" in got.flags


def test_a_limit_that_the_provider_ignores_is_flagged() -> None:
    body = chat({"content": "x"}, usage={"prompt_tokens": 1, "completion_tokens": 459, "total_tokens": 460})
    assert decode("openai-chat", body, limit=16).flags == ("cap_not_enforced",)
    assert decode("openai-chat", body, limit=459).flags == ()


@pytest.mark.parametrize(
    ("name", "usage", "expected"),
    [
        ("openai-chat", {"prompt_tokens": 51, "completion_tokens": 136, "total_tokens": 187,
                         "completion_tokens_details": {"reasoning_tokens": 31}}, (51, 136, 31)),
        ("openai-chat", {"prompt_tokens": 70, "completion_tokens": 6, "total_tokens": 395,
                         "completion_tokens_details": {"reasoning_tokens": 319}}, (70, 325, 319)),
        ("openai-chat", {"completion_tokens": 6, "completion_tokens_details": {"reasoning_tokens": 319}},
         (None, 325, 319)),
        ("openai-chat", {"prompt_tokens": 8, "completion_tokens": 40, "reasoning_tokens": 30}, (8, 40, 30)),
        ("gemini", {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 40,
                    "totalTokenCount": 55}, (10, 45, 40)),
        ("gemini", {"promptTokenCount": 10}, (10, None, None)),
        ("anthropic", {"input_tokens": 25, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7,
                       "output_tokens": 9}, (132, 9, None)),
        ("anthropic", {"cache_read_input_tokens": 100, "output_tokens": 9}, (None, 9, None)),
        ("openai-chat", {"prompt_tokens": None, "completion_tokens": "12", "total_tokens": True}, (None, None, None)),
        ("openai-chat", {"prompt_tokens": -1, "completion_tokens": 10**30}, (None, None, None)),
        ("openai-chat", {}, (None, None, None)),
    ],
)  # fmt: skip
def test_tokens_follow_one_vocabulary(name: str, usage: Any, expected: tuple[int | None, ...]) -> None:
    body = {
        "openai-chat": chat({"content": "1"}, usage=usage),
        "anthropic": {"content": [{"type": "text", "text": "1"}], "stop_reason": "end_turn", "usage": usage},
        "gemini": {
            "candidates": [{"content": {"parts": [{"text": "1"}]}, "finishReason": "STOP"}],
            "usageMetadata": usage,
        },
    }[name]
    got = decode(name, body)
    assert (got.usage.input_tokens, got.usage.output_tokens, got.usage.reasoning_tokens) == expected
    assert (got.outcome, got.flags) == (Outcome.ANSWERED, ())


def test_counts_that_contradict_each_other_are_flagged() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 11}
    assert decode("openai-chat", chat({"content": "1"}, usage=usage)).flags == ("usage_mismatch",)


def test_money_and_provider_are_kept_where_given() -> None:
    got = decode("openai-chat", chat({"content": "1"}, provider="HostA", usage={"cost": 0.0125}))
    assert (got.usage.cost_usd, got.provider, got.returned_model) == (0.0125, "HostA", "m")
    ticks = decode("openai-chat", chat({"content": "1"}, usage={"cost_in_usd_ticks": 12345678}))
    assert ticks.usage.cost_usd == pytest.approx(0.0012345678)


def test_only_the_final_message_of_a_phased_response_is_the_answer() -> None:
    def message(text: str, **more: str) -> dict[str, Any]:
        return {"type": "message", "content": [{"type": "output_text", "text": text}], **more}

    output = [message("Let me see. ", phase="commentary"), message("3.02", phase="final_answer")]
    assert decode("openai-responses", {"status": "completed", "output": output}).text == "3.02"
    assert (
        decode("openai-responses", {"status": "completed", "output": [message("a"), message("b")]}).text
        == "ab"
    )


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("openai-chat", [
            {"model": "m", "choices": [{"delta": {"role": "assistant", "content": "-2"}}]},
            {"choices": [{"delta": {"content": ".31"}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}]),
        ("openai-responses", [
            {"type": "response.created", "response": {"status": "in_progress", "output": []}},
            {"type": "response.completed", "response": {"status": "completed", "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "-2.31"}]}],
                "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}}}]),
        ("anthropic", [
            {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}},
            {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "-2"}},
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": ".31"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}]),
        ("gemini", [
            {"candidates": [{"content": {"parts": [{"text": "-2"}]}}]},
            {"candidates": [{"content": {"parts": [{"text": ".31"}]}, "finishReason": "STOP"}],
             "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}}]),
    ],
)  # fmt: skip
def test_a_stream_that_nobody_asked_for_is_still_an_answer(name: str, lines: list[Any]) -> None:
    body = (
        ": comment\n" + "".join(f"event: x\ndata: {json.dumps(one)}\n\n" for one in lines) + "data: [DONE]\n"
    )
    got = decode(name, body)
    assert (got.outcome, got.text, got.finish) == (Outcome.ANSWERED, "-2.31", "stop")
    assert (got.usage.input_tokens, got.usage.output_tokens) == (3, 2)


def request(**changes: Any) -> Request:
    values: dict[str, Any] = {
        "model": "m/1",
        "messages": question("S", "U"),
        "max_output_tokens": 64,
        "limit_field": "cap",
    }
    return Request(**(values | changes))


def test_requests_have_the_documented_shape() -> None:
    assert dialect("openai-chat").encode(request(temperature=0.0)) == (
        "/chat/completions",
        {
            "model": "m/1",
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
            "cap": 64,
            "temperature": 0.0,
        },
    )
    assert dialect("openai-responses").encode(request()) == (
        "/responses",
        {"model": "m/1", "instructions": "S", "input": "U", "cap": 64, "store": False},
    )
    assert dialect("anthropic").encode(request(messages=question("", "U"))) == (
        "/messages",
        {"model": "m/1", "cap": 64, "messages": [{"role": "user", "content": "U"}]},
    )
    fragment = {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}}
    assert dialect("gemini").encode(request(fragment=fragment)) == (
        "/models/m%2F1:generateContent",
        {
            "contents": [{"role": "user", "parts": [{"text": "U"}]}],
            "systemInstruction": {"parts": [{"text": "S"}]},
            "generationConfig": {"cap": 64, "thinkingConfig": {"thinkingLevel": "low"}},
        },
    )


@pytest.mark.parametrize("name", list(DIALECTS))
def test_extra_body_is_merged_last_and_deep(name: str) -> None:
    asked = request(fragment={"r": {"a": 1, "b": 1}, "x": 1}, extra_body={"r": {"b": 2}, "x": [2]})
    body = dialect(name).encode(asked)[1]
    assert (body["r"], body["x"]) == ({"a": 1, "b": 2}, [2])
    assert asked.fragment == {"r": {"a": 1, "b": 1}, "x": 1}


def test_keys_travel_in_the_header_of_the_dialect_only() -> None:
    assert auth_headers("openai-chat", "k") == {"authorization": "Bearer k"}
    assert auth_headers("anthropic", "k") == {"x-api-key": "k"}
    assert auth_headers("gemini", "k") == {"x-goog-api-key": "k"}
    assert auth_headers("gemini", None) == {}


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="openai-chat, openai-responses, anthropic, gemini"):
        dialect("openai")
