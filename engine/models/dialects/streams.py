"""Bodies that came as server-sent events although none were asked for, put together to the ordinary shape.

Some gateways stream whatever the request says. Each function returns its argument untouched unless it is text that
begins with an event. An event ends at an empty line, and a line at LF, CR or CRLF and nowhere else: other characters
that end lines somewhere (U+2028, U+0085) may stand raw within a JSON text. What cannot be read, or ends before it is
finished, is `Broken` and never a shorter answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import finishes, texts
from .common import Body, items, mapping
from .reading import Broken

_STARTS = ("data:", "event:", "id:", "retry:", ":")
_LINE_END = re.compile(r"\r\n|\n|\r")
_END_MARK = "[DONE]"
_BLOCKS = {"text_delta": "text", "thinking_delta": "thinking"}
_FINAL_STATUSES = ("completed", "incomplete", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Events:
    """The objects of a stream in order, and whether an end mark came."""

    chunks: list[Body]
    ended: bool


def events(text: str) -> Events | Broken:
    """Read server-sent events: the JSON object of each, comments and other fields passed over."""
    chunks: list[Body] = []
    ended = False
    for data in _data(text):
        for value in _values(data):
            if value == _END_MARK:
                ended = True
            elif isinstance(value, dict):
                chunks.append(value)
            elif value is not None:
                return Broken("stream_event", f"an event of the stream cannot be read: {' '.join(data)}")
    return Events(chunks, ended)


def _data(text: str) -> Iterable[list[str]]:
    """The ``data`` lines of each event."""
    lines: list[str] = []
    for line in (*_LINE_END.split(text), ""):
        if not line:
            if any(lines):
                yield lines
            lines = []
            continue
        name, _, value = line.partition(":")
        if name == "data":
            lines.append(value.removeprefix(" "))


def _values(lines: list[str]) -> list[Any]:
    """What an event's lines say: one value, or, from servers that leave out the empty lines, one a line."""
    whole = _value("\n".join(lines))
    if whole is not Ellipsis or len(lines) == 1:
        return [whole]
    return [_value(line) for line in lines if line.strip()]


def _value(text: str) -> Any:
    """The JSON value of a text or the end mark; Ellipsis, which no JSON gives, where it is neither."""
    text = text.strip()
    if text == _END_MARK:
        return text
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return Ellipsis
    return Ellipsis if isinstance(value, str) else value


def chat(body: object) -> object:
    """Chat completion chunks as one completion, of the choice with index 0."""
    found = _events(body)
    if not isinstance(found, Events):
        return found if isinstance(found, Broken) else body
    result: Body = {}
    message: Body = {}
    choices = [one for chunk in found.chunks for one in items(chunk.get("choices")) if isinstance(one, dict)]
    wanted = first_index(choices)
    finish = error = None
    whole = 0
    for chunk in found.chunks:
        result |= {key: value for key, value in chunk.items() if key != "choices" and value is not None}
    for choice in choices:
        if choice.get("index") != wanted:
            continue
        whole += isinstance(choice.get("message"), dict)
        _extend(message, choice)
        finish = choice.get("finish_reason") or finish
        error = choice.get("error") or error
    if whole > 1:
        return Broken("several_replies", "the body holds several whole replies")
    if not (finish or found.ended or error or result.get("error")):
        return _cut(str(texts.text_of(message.get("content")) or ""))
    if any("choices" in chunk for chunk in found.chunks):
        result["choices"] = [{"message": message, "finish_reason": finish, "error": error}] if choices else []
    return result


def first_index(choices: list[Body]) -> object:
    """The index of the choice that is the answer: 0, or where none has it, that of the first."""
    found = [one.get("index") for one in choices]
    return 0 if 0 in found else found[0] if found else None


def _extend(message: Body, choice: Mapping[str, Any]) -> None:
    """Add what one chunk says; a whole message replaces what its deltas have said before."""
    if isinstance(choice.get("message"), dict):
        message.clear()
    delta = mapping(choice.get("message") or choice.get("delta"))
    if not delta and isinstance(choice.get("text"), str):
        delta = {"content": choice["text"]}
    for key, value in delta.items():
        before = message.get(key)
        if key == "role" or value is None:
            continue
        if isinstance(value, list) or isinstance(before, list):
            message[key] = [*_parts(before), *_parts(value)]
        elif isinstance(value, str):
            message[key] = (before if isinstance(before, str) else "") + value


def _parts(value: object) -> list[Any]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    return items(value)


def responses(body: object) -> object:
    """The response object of the last event that carries one."""
    found = _events(body)
    if not isinstance(found, Events):
        return found if isinstance(found, Broken) else body
    broken = [one for one in found.chunks if one.get("type") == "error" or one.get("error")]
    if broken:
        return {"error": broken[-1].get("error") or broken[-1]}
    whole = [chunk["response"] for chunk in found.chunks if isinstance(chunk.get("response"), dict)]
    if not whole or whole[-1].get("status") not in _FINAL_STATUSES:
        return _cut(
            "".join(str(one.get("delta")) for one in found.chunks if isinstance(one.get("delta"), str))
        )
    last: Body = whole[-1]
    if not last.get("output"):
        # Some servers leave the output out of the last event, since its items have come before.
        done = [
            one["item"]
            for one in found.chunks
            if one.get("type") == "response.output_item.done" and "item" in one
        ]
        last = last | {"output": done}
    return last


def anthropic(body: object) -> object:
    """Message events as one message."""
    found = _events(body)
    if not isinstance(found, Events):
        return found if isinstance(found, Broken) else body
    result: Body = {}
    usage: Body = {}
    blocks: dict[object, Body] = {}
    ended = found.ended
    for chunk in found.chunks:
        delta = mapping(chunk.get("delta"))
        place = chunk.get(
            "index", len(blocks) - 1 if chunk.get("type") == "content_block_delta" else len(blocks)
        )
        match chunk.get("type"):
            case "message_start":
                result |= mapping(chunk.get("message"))
                usage |= mapping(result.get("usage"))
            case "content_block_start":
                blocks[_hashable(place)] = dict(mapping(chunk.get("content_block")))
            case "content_block_delta":
                kind = _BLOCKS.get(str(delta.get("type")), "other")
                _append(blocks.setdefault(_hashable(place), {"type": kind}), delta.items())
            case "message_delta":
                result |= delta
                usage |= mapping(chunk.get("usage"))
            case "message_stop":
                ended = True
            case kind if kind == "error" or chunk.get("error"):
                return {"error": chunk.get("error") or {"type": "api_error"}}
    content = list(blocks.values())
    if not (ended or result.get("stop_reason")):
        return _cut(texts.text_of(content) or "")
    return result | {"content": content, "usage": usage}


def gemini(body: object) -> object:
    """Partial responses, as events or as one list, as one response."""
    found = _events(body)
    if isinstance(found, Broken):
        return found
    if (
        found is None
        and isinstance(body, list)
        and len(body) > 1
        and all(isinstance(one, dict) for one in body)
    ):
        found = Events(body, ended=False)
    if found is None:
        # One response in a list; an error in a list is left to the common rule.
        single = isinstance(body, list) and len(body) == 1 and isinstance(body[0], dict)
        return body[0] if isinstance(body, list) and single else body
    result: Body = {}
    parts: list[Any] = []
    candidate: Body = {}
    for chunk in found.chunks:
        result |= chunk
        some = [one for one in items(chunk.get("candidates")) if isinstance(one, dict)]
        one = next((one for one in some if one.get("index") in (None, 0)), {})
        content = mapping(one.get("content")).get("parts")
        parts += items(content)
        candidate |= one
    blocked = mapping(result.get("promptFeedback")).get("blockReason")
    said = finishes.word_of(candidate.get("finishReason"))
    if not (said or blocked or found.ended or result.get("error")):
        return _cut(texts.text_of(parts) or "")
    if candidate:
        result["candidates"] = [candidate | {"content": {"parts": parts}}]
    return result


def _events(body: object) -> Events | Broken | None:
    """The events of a body; None where it is no stream, or one that says nothing."""
    if not isinstance(body, str) or not body.startswith(_STARTS):
        return None
    found = events(body)
    return found if isinstance(found, Broken) or found.chunks else None


def _cut(text: str) -> Broken:
    said = f"; it had said: {text}" if text else ""
    return Broken("stream_cut", f"the stream ended with neither a finish reason nor an end mark{said}")


def _hashable(place: object) -> object:
    return place if isinstance(place, int | str) else 0


def _append(block: Body, delta: Iterable[tuple[str, Any]]) -> None:
    for key, value in delta:
        if isinstance(value, str) and key != "type":
            before = block.get(key)
            block[key] = before + value if isinstance(before, str) else value
