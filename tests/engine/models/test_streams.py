"""Streams that nobody asked for: whole ones give the answer to the letter, broken ones never a shorter answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.engine.models.dialects.registry import DIALECTS, dialect
from molaudit.engine.models.records import Decoded, Outcome, Response


def decode(name: str, body: bytes | str) -> Decoded:
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return dialect(name).decode(Response(200, {}, data), max_output_tokens=4096)


def pieces(name: str, texts: list[str], *, finish: bool = True) -> list[dict[str, Any]]:
    """The events of a stream that says ``texts``, with or without the finish reason."""
    if name == "openai-chat":
        found: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"content": one}, "finish_reason": None}]} for one in texts
        ]
        return found + ([{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}] if finish else [])
    if name == "openai-responses":
        found = [{"type": "response.output_text.delta", "delta": one} for one in texts]
        part = {"type": "output_text", "text": "".join(texts)}
        output = [{"type": "message", "content": [part]}]
        end = {"type": "response.completed", "response": {"status": "completed", "output": output}}
        start = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
        return [start, *found, *([end] if finish else [])]
    if name == "anthropic":
        found = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}}
            for one in texts
        ]
        start = {"type": "message_start", "message": {"content": [], "stop_reason": None, "usage": {}}}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}
        return [start, block, *found, *([end] if finish else [])]
    found = [{"candidates": [{"index": 0, "content": {"parts": [{"text": one}]}}]} for one in texts]
    return found + ([{"candidates": [{"index": 0, "finishReason": "STOP"}]}] if finish else [])


def stream(events: list[dict[str, Any]], end: str = "\n", *, start: str = "", last: str = "") -> str:
    said = "".join(f"data: {json.dumps(one, ensure_ascii=False)}{end}{end}" for one in events)
    return start + said + last


# Other characters at which some languages end lines; they may stand raw in a JSON text.
LINE_ENDS_ELSEWHERE = ["\u2028", "\u2029", "\x85"]


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("letter", LINE_ENDS_ELSEWHERE)
def test_only_lf_cr_and_crlf_end_a_line(name: str, end: str, letter: str) -> None:
    got = decode(name, stream(pieces(name, ["ANSWER:", f"{letter}-3", ".05"]), end))
    assert (got.outcome, got.text) == (Outcome.ANSWERED, f"ANSWER:{letter}-3.05")


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize("start", ["\ufeff", ": comment\n\n", "\n\n", "retry: 10\n\n", "event: x\nid: 7\n"])
def test_what_stands_before_the_first_event_hides_nothing(name: str, start: str) -> None:
    assert decode(name, stream(pieces(name, ["-2", ".31"]), start=start)).text == "-2.31"


@pytest.mark.parametrize("name", list(DIALECTS))
def test_a_stream_that_ends_with_neither_reason_nor_mark_is_no_answer(name: str) -> None:
    got = decode(name, stream(pieces(name, ["-3"], finish=False)))
    assert (got.outcome, got.text, got.retryable) == (Outcome.MALFORMED, None, True)


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "gemini"])
def test_an_end_mark_without_a_reason_ends_a_whole_answer(name: str) -> None:
    last = "data: [DONE]\n\n"
    if name == "anthropic":
        last = 'data: {"type": "message_stop"}\n\n'
    got = decode(name, stream(pieces(name, ["-3", ".05"], finish=False), last=last))
    assert (got.outcome, got.text, got.finish) == (Outcome.ANSWERED, "-3.05", "unknown")


@pytest.mark.parametrize("name", list(DIALECTS))
@pytest.mark.parametrize(
    "broken", ['data: {"choices": [\n\n', "data: half\n\n", 'data: "text"\n\n', "data: [1]\n\n"]
)
def test_an_event_that_cannot_be_read_makes_the_reply_malformed(name: str, broken: str) -> None:
    events = pieces(name, ["-3", ".05"])
    for place in range(len(events) + 1):
        body = stream(events[:place]) + broken + stream(events[place:])
        assert decode(name, body).outcome is Outcome.MALFORMED


@pytest.mark.parametrize("name", list(DIALECTS))
def test_several_data_lines_are_one_event(name: str) -> None:
    events = pieces(name, ["-3", ".05"])
    lines = "".join(
        "".join(f"data: {line}\n" for line in json.dumps(one, indent=1).split("\n")) + "\n" for one in events
    )
    assert decode(name, lines).text == "-3.05"


@pytest.mark.parametrize("name", list(DIALECTS))
def test_events_without_empty_lines_between_them_are_read_too(name: str) -> None:
    body = "".join(f"data: {json.dumps(one)}\n" for one in pieces(name, ["-3", ".05"])) + "data: [DONE]\n"
    assert decode(name, body).text == "-3.05"


@pytest.mark.parametrize("name", list(DIALECTS))
def test_objects_a_line_without_events_are_a_stream(name: str) -> None:
    whole = "\n".join(json.dumps(one) for one in pieces(name, ["-3", ".05"]))
    cut = "\n".join(json.dumps(one) for one in pieces(name, ["-3", ".05"], finish=False))
    assert decode(name, whole).text == "-3.05"
    assert decode(name, cut).outcome is Outcome.MALFORMED


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_several_choices_that_with_index_0_is_the_answer(order: tuple[int, int]) -> None:
    said = {0: ["-2", ".31"], 1: ["-4", ".90"]}
    events = [
        {"choices": [{"index": index, "delta": {"content": said[index][part]}}]}
        for part in (0, 1)
        for index in order
    ]
    events += [{"choices": [{"index": index, "finish_reason": "stop"}]} for index in order]
    assert decode("openai-chat", stream(events)).text == "-2.31"
    plain = [{"index": i, "message": {"content": "".join(said[i])}, "finish_reason": "stop"} for i in order]
    assert decode("openai-chat", json.dumps({"choices": plain})).text == "-2.31"


def test_one_piece_of_a_stream_as_a_plain_body_is_no_answer() -> None:
    piece = {"choices": [{"index": 0, "delta": {"content": "-3"}, "finish_reason": None}]}
    assert decode("openai-chat", json.dumps(piece)).outcome is Outcome.MALFORMED


def test_two_different_whole_replies_in_one_body_are_no_answer() -> None:
    one, other = (
        json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}) for text in "12"
    )
    assert decode("openai-chat", f"{one}\n{other}").outcome is Outcome.MALFORMED
    assert decode("openai-chat", f"{one}\n{one}").text == "1"


def test_blocks_of_a_message_stay_apart() -> None:
    events = pieces("anthropic", ["-3.05"])
    thought = {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "thinking", "thinking": ""},
    }
    more = {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "thinking_delta", "thinking": "hm 4"},
    }
    late = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "!"}}
    got = decode("anthropic", stream([*events[:3], thought, more, late, *events[3:]]))
    assert (got.text, got.reasoning) == ("-3.05!", "hm 4")


@pytest.mark.parametrize("name", list(DIALECTS))
def test_an_error_in_the_middle_of_a_stream_is_an_error(name: str) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    got = decode(name, stream([*pieces(name, ["-3"], finish=False), error]))
    assert (got.outcome, got.message) == (Outcome.OVERLOADED, "Overloaded")


def test_a_last_event_without_output_takes_the_items_that_came_before() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "-3.05"}]}
    events = [
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ]
    assert decode("openai-responses", stream(events)).text == "-3.05"


texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=1, max_size=6)


@settings(deadline=None, max_examples=150)
@given(texts, st.sampled_from(list(DIALECTS)), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_a_stream_says_what_its_pieces_say(parts: list[str], name: str, end: str, escaped: bool) -> None:
    """Whatever the text, the line ends and JSON's spelling: the same text as in one plain body."""
    whole = "".join(parts)
    events = pieces(name, parts)
    data = "".join(f"data: {json.dumps(one, ensure_ascii=escaped)}{end}{end}" for one in events)
    got = decode(name, data)
    if whole.strip() and "think>" not in whole and "error" not in whole.lower():
        assert got.text == whole


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(list(DIALECTS)), st.data())
def test_a_stream_cut_anywhere_is_whole_or_no_answer(name: str, data: st.DataObject) -> None:
    """A number that lost its end is never taken for an answer."""
    body = stream(pieces(name, ["-3", ".0", "5"])).encode()
    got = decode(name, body[: data.draw(st.integers(0, len(body)))])
    assert got.outcome is not Outcome.ANSWERED or got.text == "-3.05"
