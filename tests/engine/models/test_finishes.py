"""The same end of a reply means the same in every dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from molaudit.engine.models.dialects.registry import DIALECTS, dialect
from molaudit.engine.models.records import Decoded, Outcome, Response


def body(name: str, text: str | None, word: Any, usage: dict[str, int] | None = None) -> dict[str, Any]:
    """A plain reply of the dialect with a text and a finish word."""
    if name == "openai-chat":
        return {"choices": [{"message": {"content": text}, "finish_reason": word}], "usage": usage}
    if name == "anthropic":
        return {"content": [{"type": "text", "text": text or ""}], "stop_reason": word, "usage": usage}
    if name == "gemini":
        parts = [] if text is None else [{"text": text}]
        return {"candidates": [{"content": {"parts": parts}, "finishReason": word}], "usageMetadata": usage}
    output = [{"type": "message", "content": [{"type": "output_text", "text": text or ""}]}]
    if word in ("stop", "STOP"):
        return {"status": "completed", "output": output, "usage": usage}
    if word == "a_new_word":
        return {"status": word, "output": output, "usage": usage}
    return {
        "status": "incomplete",
        "incomplete_details": {"reason": word},
        "output": output,
        "usage": usage,
    }


def decode(name: str, value: Any, status: int = 200) -> Decoded:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return dialect(name).decode(Response(status, {}, raw), max_output_tokens=4096)


BROKEN = [
    *("abort", "cancelled", "canceled", "network_error", "timeout"),
    *("incomplete", "interrupted", "error", "server_error"),
]


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("word", [*BROKEN, "ABORTED", "upstream disconnected"])
def test_a_text_that_was_broken_off_is_never_an_answer_and_is_retried(name: str, word: str) -> None:
    got = decode(name, body(name, "ANSWER: -3", word))
    assert got.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)
    assert (got.text, got.finish, got.retryable) == ("ANSWER: -3", "error", True)


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_new_word_with_a_whole_text_is_an_answer_and_flagged(name: str) -> None:
    got = decode(name, body(name, "ANSWER: -3.05", "a_new_word"))
    assert (got.outcome, got.text, got.finish) == (Outcome.ANSWERED, "ANSWER: -3.05", "unknown")
    assert got.flags == ("unknown_finish",)


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("word", ["stop", "STOP"])
def test_an_ordinary_end_is_not_flagged(name: str, word: str) -> None:
    assert decode(name, body(name, "1", word)).flags == ()


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize(
    "word",
    ["PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "sensitive", "guardrail_intervened", "content_filtered"],
)
@pytest.mark.parametrize("text", [None, "The toxicity is"])
def test_a_block_word_is_final_with_or_without_text(name: str, word: str, text: str | None) -> None:
    got = decode(name, body(name, text, word))
    assert (got.outcome, got.finish, got.retryable) == (Outcome.FILTERED, "content_filter", False)


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("word", ["RECITATION", "content_filter: RECITATION", "recitation"])
def test_recitation_is_told_from_other_blocks(name: str, word: str) -> None:
    assert decode(name, body(name, "-2.", word)).outcome is Outcome.RECITATION


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("word", ["max_length", "MAX_TOKENS", "max_output_tokens", "model_length"])
def test_a_length_cut_is_truncated(name: str, word: str) -> None:
    assert decode(name, body(name, "The value", word)).outcome is Outcome.TRUNCATED


ERRORS = [
    ("Error code: 429 - {'error': {'message': 'too many requests'}}", Outcome.THROTTLED),
    ("Error: Error code: 408 - The request timed out after 60 s.", Outcome.TIMED_OUT),
    ("Error: 400 INVALID_ARGUMENT. {'error': {'code': 400}}", Outcome.REJECTED),
    ("APIError: HTTP 500 - internal error, request fx-778-12", Outcome.FAILED),
    ("litellm.RateLimitError: limit 20", Outcome.THROTTLED),
    ("502 Bad Gateway", Outcome.FAILED),
    ("<html><head><title>503 Service Unavailable</title></head></html>", Outcome.OVERLOADED),
    ('{"error": {"message": "slow", "type": "rate_limit_error"}}', Outcome.THROTTLED),
]


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize(("text", "outcome"), ERRORS)
def test_an_error_as_the_text_of_a_success_is_an_error(name: str, text: str, outcome: Outcome) -> None:
    got = decode(name, body(name, text, "stop"))
    assert (got.outcome, got.text, "suspect" in got.flags) == (outcome, text, True)


ZERO = {
    "openai-chat": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "openai-responses": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
    "anthropic": {"input_tokens": 0, "output_tokens": 0},
    "gemini": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
}


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_notice_that_cost_no_token_is_throttling_with_its_wait(name: str) -> None:
    text = "You are going a little fast. Please slow down and wait 30 seconds."
    got = decode(name, body(name, text, "stop", ZERO[name]))
    assert (got.outcome, got.retry_after_s, got.retryable) == (Outcome.THROTTLED, 30.0, True)


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize(
    "text",
    [
        "ANSWER: 1.50",
        "The standard error of such models is 0.6; Answer: 4.08",
        "Error: 0.42 log units",
        "Error 178.3",
        "error 451 K",
        "Error: 451 Kelvin is my estimate",
        "In my estimate the TimeoutError of 3 s does not matter: 4.5",
        '{"value": 3.05, "error": "0.2"}',
        "The rate limiting step is slow; log k = -3.2",
        "500",
        "404.2",
    ],
)
def test_an_answer_that_mentions_errors_stays_one(name: str, text: str) -> None:
    for usage in (ZERO[name], None):
        got = decode(name, body(name, text, "stop", usage))
        assert (got.outcome, got.text) == (Outcome.ANSWERED, text)


PLAIN = {
    "openai-chat": {"choices": [{"message": {"content": "7.4"}, "finish_reason": "stop"}]},
    "openai-responses": {"status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "7.4"}]}]},
    "anthropic": {"content": [{"type": "text", "text": "7.4"}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "7.4"}]}, "finishReason": "STOP"}]},
}  # fmt: skip


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_stands_around_a_whole_body_does_not_lose_it(name: str, end: str) -> None:
    whole = json.dumps(PLAIN[name])
    for text in (
        f"{whole}{end}{end}data: [DONE]{end}{end}",
        f": OPENROUTER PROCESSING{end}{end}: again{end}{end}{whole}",
        f"\ufeff{whole}",
        f"{end}{end}{whole}{end}",
        f"{whole}{end}<!-- proxy -->",
    ):
        assert decode(name, text.encode()).text == "7.4"


@pytest.mark.parametrize("name", list(DIALECTS))
def test_one_byte_that_is_not_utf8_loses_no_reply(name: str) -> None:
    raw = json.dumps(PLAIN[name]).encode().replace(b"7.4", b"7.4 \xff K")
    got = decode(name, raw)
    assert (got.outcome, got.text, got.flags) == (Outcome.ANSWERED, "7.4 \ufffd K", ("not_utf8",))


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_body_cut_short_is_malformed(name: str) -> None:
    raw = json.dumps(PLAIN[name]).encode()
    assert {decode(name, raw[:cut]).outcome for cut in range(len(raw))} == {Outcome.MALFORMED}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("openai-chat", {"choices": [{"delta": {"content": "7.4"}, "finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"text": "7.4", "finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"message": "7.4", "finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"message": {"content": [{"type": "output_text", "text": "7.4"}]}}]}),
        ("openai-chat", {"choices": [{"message": {"content": [{"text": "7"}, ".4"]}}]}),
        ("openai-chat", {"choices": [{"message": {"content": {"text": "7.4"}}}]}),
        ("openai-responses", {"status": "completed", "output": [{"content": [{"text": "7.4"}]}]}),
        ("openai-responses", {"status": "completed", "output": [{"type": "message", "content": "7.4"}]}),
        ("openai-responses", {"status": "completed", "output": [], "output_text": "7.4"}),
        ("anthropic", {"content": [{"text": "7.4"}], "stop_reason": "end_turn"}),
        ("anthropic", {"content": [{"type": "output_text", "text": "7.4"}], "stop_reason": "end_turn"}),
        ("gemini", {"candidates": [{"content": {"parts": {"text": "7.4"}}, "finishReason": "STOP"}]}),
        ("gemini", {"candidates": [{"content": "7.4", "finishReason": "STOP"}]}),
    ],
)
def test_the_text_is_found_where_gateways_put_it(name: str, value: Any) -> None:
    got = decode(name, value)
    assert (got.outcome, got.text) == (Outcome.ANSWERED, "7.4")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("openai-chat", {"choices": [{"message": {"role": "assistant", "answer": "7.4"}}]}),
        ("openai-chat", {"choices": [{"answer": {"is": "7.4"}, "finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"message": {"content": [{"type": "new", "answer": "7.4"}]}}]}),
        ("openai-responses", {"status": "completed", "output": [{"type": "message", "answer": ["7.4"]}]}),
        ("anthropic", {"content": [{"type": "new", "answer": "7.4"}], "stop_reason": "end_turn"}),
        ("gemini", {"candidates": [{"content": {"parts": [{"answer": "7.4"}]}, "finishReason": "STOP"}]}),
    ],
)
def test_a_text_that_is_not_found_is_malformed_with_the_keys_and_not_empty(name: str, value: Any) -> None:
    got = decode(name, value)
    assert got.outcome is Outcome.MALFORMED
    assert "answer" in (got.message or "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("openai-chat", {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"message": {"content": None, "reasoning": "hm"}}]}),
        ("openai-chat", {"choices": [{"message": {"content": ""}, "native_finish_reason": "stop"}]}),
        ("openai-chat", {"choices": [{"message": {"content": None, "x-trace": "abc"}}]}),
        ("openai-chat", {"choices": []}),
        ("openai-chat", {"choices": [{"message": {"content": None, "tool_calls": [{"id": "x"}]}}]}),
        ("anthropic", {"content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "end_turn"}),
        ("gemini", {"candidates": [
            {"content": {"parts": [{"text": "hm", "thought": True}]}, "finishReason": "STOP"}]}),
    ],
)  # fmt: skip
def test_a_reply_without_words_is_empty(name: str, value: Any) -> None:
    assert decode(name, value).outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}}, 0.75),
        ({"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_prompt_cost": 0.25,
                                                       "upstream_inference_completions_cost": 0.5}}, 0.75),
        ({"cost": 0.25, "is_byok": True}, None),
        ({"cost": 0.25, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.25}}, 0.25),
        ({"cost": 0.25}, 0.25),
    ],
)  # fmt: skip
def test_with_a_key_of_ones_own_the_fee_is_not_the_cost(usage: dict[str, Any], cost: float | None) -> None:
    got = decode("openai-chat", body("openai-chat", "1", "stop", usage))
    assert got.usage.cost_usd == cost


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("openai-chat", {"prompt_tokens": 61, "total_tokens": 75}),
        ("openai-responses", {"input_tokens": 61, "total_tokens": 75}),
        ("gemini", {"promptTokenCount": 61, "totalTokenCount": 75}),
    ],
)
def test_output_tokens_that_are_not_stated_follow_from_the_rest(name: str, usage: dict[str, int]) -> None:
    got = decode(name, body(name, "1", "stop", usage)).usage
    assert (got.input_tokens, got.output_tokens) == (61, 14)
