"""Each provider's replies, read; each request, written. The fixtures' expectations come from outside this code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.engine.errors import SettingsError
from molaudit.engine.models.dialects import common
from molaudit.engine.models.dialects.common import Request, merged
from molaudit.engine.models.dialects.registry import DIALECTS, auth_headers, dialect
from molaudit.engine.models.records import Decoded, Outcome, Response

SHARED = Path(os.environ.get("MOLAUDIT_SHARED", Path(__file__).resolve().parents[4] / "shared"))
FIXTURES = SHARED / "data/fixtures/provider_responses.jsonl"
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
    if not FIXTURES.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{FIXTURES} is missing"))]
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
    if not FIXTURES.exists():
        pytest.skip(f"{FIXTURES} is missing")
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
        "system": "S",
        "user": "U",
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
    assert dialect("anthropic").encode(request(system="")) == (
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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [here]
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        found += paths(inner, (*here, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def check(got: Decoded) -> None:
    """Whatever came in, what goes out can be stored: encodable text, short words, sane numbers."""
    for text in (got.text, got.reasoning, got.reason, got.message, got.returned_model, got.provider):
        if text is not None:
            text.encode()
    assert got.retry_after_s is None or got.retry_after_s >= 0
    counts = (got.usage.input_tokens, got.usage.output_tokens, got.usage.reasoning_tokens)
    assert all(value is None or 0 <= value < 2**62 for value in counts)
    assert got.outcome is not Outcome.ANSWERED or (got.text or "").strip()


SAMPLES: list[Any] = [one.values[0] for one in fixtures() if one.values[0] is not None] or [
    {"api": "chat", "status": 200, "headers": {}, "body": chat({"content": "1"}, usage={})}
]


@settings(deadline=None, max_examples=400)
@given(st.data(), json_values, st.sampled_from(list(DIALECTS)))
def test_any_field_may_have_any_type(data: st.DataObject, new: Any, other: str) -> None:
    line = data.draw(st.sampled_from(SAMPLES))
    body = replaced(line["body"], data.draw(st.sampled_from(paths(line["body"]))), new)
    status = data.draw(st.sampled_from([line["status"], 200]))
    headers = {
        key: str(new)[:80] if data.draw(st.booleans()) else value for key, value in line["headers"].items()
    }
    for name in {BY_API[line["api"]], other}:
        check(dialect(name).decode(Response(status, headers, raw(body)), max_output_tokens=100, now=0.0))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200) | st.sampled_from(SAMPLES).map(lambda one: raw(one["body"])), st.data())
def test_any_bytes_decode(body: bytes, data: st.DataObject) -> None:
    cut = body[: data.draw(st.integers(0, len(body)))]
    status = data.draw(st.sampled_from([200, 204, 301, 400, 402, 429, 500, 529, 999]))
    for name in DIALECTS:
        for start in (b"", b"data: ", b"\xef\xbb\xbf", b"\n\n"):
            check(dialect(name).decode(Response(status, {}, start + cut), max_output_tokens=100))


@pytest.mark.parametrize("name", list(DIALECTS))
def test_deep_huge_and_strange_bodies_are_survived(name: str) -> None:
    for body in (
        b"[" * 100_000,
        b'{"a":' * 990 + b"1" + b"}" * 990,
        b"9" * 5000,
        b"NaN",
        b'"\\ud800"',
        b"\x00",
        b"\xff\xfe",
    ):
        check(dialect(name).decode(Response(200, {}, body), max_output_tokens=100))
    nested: Any = 1
    for _ in range(900):
        nested = [nested]
    body = json.dumps(
        {"error": {"detail": nested, "details": nested, "message": nested}, "choices": nested}
    ).encode()
    for status in (200, 422, 429):
        check(dialect(name).decode(Response(status, {}, body), max_output_tokens=100))


@given(
    st.dictionaries(st.sampled_from("abc"), json_values), st.dictionaries(st.sampled_from("abc"), json_values)
)
@settings(deadline=None, max_examples=100)
def test_merging_keeps_every_key_and_changes_no_argument(
    base: dict[str, Any], overlay: dict[str, Any]
) -> None:
    before = repr((base, overlay))
    result = merged(base, overlay)
    assert set(result) == set(base) | set(overlay)
    assert all(repr(result[k]) == repr(v) for k, v in overlay.items() if not isinstance(v, dict))
    assert repr((base, overlay)) == before


def test_lone_surrogates_do_not_reach_the_answer() -> None:
    got = decode(
        "openai-chat", '{"choices":[{"message":{"content":"a\\ud800b\\u0000"},"finish_reason":"stop"}]}'
    )
    assert got.text == "a?b\x00"
    assert common.encodable("é") == "é"
