"""Anthropic Messages. A refusal is HTTP 200 with no content; cached input is left out of ``input_tokens``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import Decoded, Response, Usage
from . import common, streams
from .common import Body, Reply, Request, count, mapping, string

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "tool_use": "tool_calls",
    "pause_turn": "tool_calls",
}


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
    body = streams.anthropic(common.load(response))
    verdict = common.unreadable(response, body, now)
    if verdict is not None:
        return verdict
    body = mapping(body)
    if body.get("error") or body.get("type") == "error":
        return common.failed(response, body.get("error") or {"type": "api_error"}, now)
    if "content" not in body and "stop_reason" not in body:
        return common.foreign(response, body, now)
    content, raw = body.get("content"), body.get("stop_reason")
    reply = Reply(
        text=content if isinstance(content, str) else common.joined(content, "text"),
        reasoning=common.joined(content, "thinking", "thinking"),
        usage=_usage(mapping(body.get("usage"))),
        returned_model=string(body.get("model")),
    )
    reply.finish = _FINISH.get(raw, "unknown") if isinstance(raw, str) else "unknown"
    reply.reason = raw if isinstance(raw, str) and reply.finish != "stop" else None
    if reply.finish == "refusal":
        details = mapping(body.get("stop_details"))
        reply.reason = string(details.get("category")) or "refusal"
        reply.refusal = string(details.get("explanation"))
    return common.settle(reply, max_output_tokens)


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
