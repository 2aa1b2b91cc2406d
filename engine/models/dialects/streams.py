"""Bodies that came as server-sent events although none were asked for, put together to the ordinary shape.

Some gateways stream whatever the request says. Each function returns its argument untouched unless it is text
that begins with an event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .common import Body, items, mapping

_STARTS = ("data:", "event:", "id:", "retry:", ":")


def events(text: str) -> list[Body]:
    """The JSON objects of the ``data`` lines; other lines and the end mark are passed over."""
    found: list[Body] = []
    for line in text.splitlines():
        if not line.startswith("data:"):
            continue
        try:
            value = json.loads(line[5:])
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def chat(body: object) -> object:
    """Chat completion chunks as one completion."""
    chunks = _events(body)
    if not chunks:
        return body
    result: Body = {"choices": []}
    parts: dict[str, str] = {}
    finish = None
    for chunk in chunks:
        result |= {key: value for key, value in chunk.items() if key != "choices" and value is not None}
        choices = items(chunk.get("choices"))
        choice = mapping(choices[0]) if choices else {}
        for key, value in mapping(choice.get("delta") or choice.get("message")).items():
            if isinstance(value, str) and key != "role":
                parts[key] = parts.get(key, "") + value
        finish = choice.get("finish_reason") or finish
    result["choices"] = [{"message": parts, "finish_reason": finish}] if parts or finish else []
    return result


def responses(body: object) -> object:
    """The response object of the last event that carries one."""
    chunks = _events(body)
    if not chunks:
        return body
    whole = [chunk["response"] for chunk in chunks if isinstance(chunk.get("response"), dict)]
    broken = [chunk for chunk in chunks if chunk.get("type") == "error"]
    return {"error": broken[-1]} if broken else whole[-1] if whole else body


def anthropic(body: object) -> object:
    """Message events as one message."""
    chunks = _events(body)
    if not chunks:
        return body
    result: Body = {}
    usage: Body = {}
    blocks: list[Body] = []
    for chunk in chunks:
        delta = mapping(chunk.get("delta"))
        match chunk.get("type"):
            case "error":
                return {"error": chunk.get("error") or {"type": "api_error"}}
            case "message_start":
                result |= mapping(chunk.get("message"))
                usage |= mapping(result.get("usage"))
            case "content_block_start":
                blocks.append(dict(mapping(chunk.get("content_block"))))
            case "content_block_delta" if blocks:
                _append(blocks[-1], delta.items())
            case "message_delta":
                result |= delta
                usage |= mapping(chunk.get("usage"))
    return result | {"content": blocks, "usage": usage}


def gemini(body: object) -> object:
    """Partial responses, as events or as one list, as one response."""
    chunks = _events(body)
    if not chunks and isinstance(body, list) and len(body) > 1 and all(isinstance(one, dict) for one in body):
        chunks = body
    if not chunks:
        # One response in a list; an error in a list is left to the common rule.
        single = isinstance(body, list) and len(body) == 1 and isinstance(body[0], dict)
        return body[0] if isinstance(body, list) and single else body
    result: Body = {}
    parts: list[Any] = []
    candidate: Body = {}
    for chunk in chunks:
        result |= chunk
        found = items(chunk.get("candidates"))
        one = mapping(found[0]) if found else {}
        parts += items(mapping(one.get("content")).get("parts"))
        candidate |= one
    if candidate:
        result["candidates"] = [candidate | {"content": {"parts": parts}}]
    return result


def _events(body: object) -> list[Body]:
    return events(body) if isinstance(body, str) and body.startswith(_STARTS) else []


def _append(block: Body, delta: Iterable[tuple[str, Any]]) -> None:
    for key, value in delta:
        if isinstance(value, str) and key != "type":
            before = block.get(key)
            block[key] = before + value if isinstance(before, str) else value
