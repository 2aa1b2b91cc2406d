"""Hostile replies: any bytes, any JSON type in any field. Nothing raises, and what comes out can be stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA, is_missing

from molaudit.engine.models.dialects.common import merged
from molaudit.engine.models.dialects.registry import DIALECTS, dialect
from molaudit.engine.models.records import Decoded, Outcome, Response

FIXTURES = DATA / "fixtures/provider_responses.jsonl"
# These are mutated beside the recorded replies, and alone where those are missing.
OWN: list[Any] = [
    {
        "model": "m",
        "choices": [{"message": {"content": "1", "reasoning": "r"}, "finish_reason": "stop"}],
        "usage": {},
    },
    {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "1"}]}],
    },
    {"content": [{"type": "text", "text": "1"}], "stop_reason": "end_turn", "usage": {"input_tokens": 1}},
    {"candidates": [{"content": {"parts": [{"text": "1"}]}, "finishReason": "STOP"}], "usageMetadata": {}},
    {
        "error": {
            "code": "x",
            "message": "m",
            "details": [{"retryDelay": "1s", "violations": [{"quotaId": "q"}]}],
        }
    },
]


def samples() -> list[dict[str, Any]]:
    own = [{"status": 200, "headers": {}, "body": body} for body in OWN]
    if is_missing(FIXTURES):
        return own
    return own + [json.loads(line) for line in FIXTURES.read_text("utf-8").split("\n") if line]


SAMPLES = samples()


def raw(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


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


@settings(deadline=None, max_examples=400)
@given(st.data(), json_values)
def test_any_field_may_have_any_type(data: st.DataObject, new: Any) -> None:
    line = data.draw(st.sampled_from(SAMPLES))
    body = replaced(line["body"], data.draw(st.sampled_from(paths(line["body"]))), new)
    status = data.draw(st.sampled_from([line["status"], 200]))
    headers = {
        key: str(new)[:80] if data.draw(st.booleans()) else value for key, value in line["headers"].items()
    }
    response = Response(status, headers, raw(body))
    for name in DIALECTS:
        check(dialect(name).decode(response, max_output_tokens=100, now=0.0))


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
    body = b'{"choices":[{"message":{"content":"\xc3\xa9\\ud800b\\u0000"},"finish_reason":"stop"}]}'
    got = dialect("openai-chat").decode(Response(200, {}, body), max_output_tokens=9)
    assert got.text == "é?b\x00"
