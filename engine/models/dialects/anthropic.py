"""Anthropic Messages. A refusal is HTTP 200 with no content; cached input is left out of ``input_tokens``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import Decoded, Response, Usage
from . import common, reading, streams, texts
from .common import Body, Request, count, items, mapping, string
from .reading import Reply

_WITHOUT_TEXT = ("thinking", "redacted_thinking", "tool_use", "server_tool_use")


def encode(request: Request) -> tuple[str, Body]:
    """The path and the body of one call."""
    system, turns = common.parted(request.messages)
    body: Body = {
        "model": request.model,
        request.limit_field: request.max_output_tokens,
        "messages": [{"role": one.role, "content": one.text} for one in turns],
    }
    if system:
        body["system"] = system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return "/messages", common.merged(body, request.fragment, request.extra_body)


def decode(response: Response, *, max_output_tokens: int, now: float | None = None) -> Decoded:
    """What the reply means; never raises."""
    return reading.decode(response, _reply, streams.anthropic, max_output_tokens, now)


def _reply(body: Mapping[str, Any]) -> Reply | None:
    if "content" not in body and "stop_reason" not in body:
        return None
    content = body.get("content")
    text = texts.text_of(content)
    reply = Reply(
        text=text or "",
        reasoning=common.joined(content, "thinking", "thinking"),
        usage=_usage(mapping(body.get("usage"))),
        returned_model=string(body.get("model")),
    )
    reply.end_with(body.get("stop_reason"))
    if text is None:
        held = [
            one for one in items(content) if isinstance(one, dict) and one.get("type") not in _WITHOUT_TEXT
        ]
        reply.unread = texts.unread_keys("content", *held, mapping(content))
    if reply.finish == "refusal":
        details = mapping(body.get("stop_details"))
        reply.reason = string(details.get("category")) or "refusal"
        reply.refusal = string(details.get("explanation"))
    return reply


def _usage(raw: Mapping[str, Any]) -> Usage:
    cached = count(raw.get("cache_read_input_tokens"))
    fresh = count(raw.get("input_tokens"))
    return Usage(
        # Without the uncached part the rest is not the input.
        input_tokens=None
        if fresh is None
        else common.total(fresh, count(raw.get("cache_creation_input_tokens")), cached),
        output_tokens=count(raw.get("output_tokens")),
        reasoning_tokens=count(mapping(raw.get("output_tokens_details")).get("thinking_tokens")),
        cached_tokens=cached,
    )
