"""Google Gemini generateContent. Blocked prompts have no candidate; reasoning is counted beside the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ..records import Decoded, Response, Usage
from . import common, streams
from .common import Body, Reply, Request, count, items, mapping, string

_FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "FINISH_REASON_UNSPECIFIED": "unknown",
}


_ROLES = {"user": "user", "assistant": "model"}


def encode(request: Request) -> tuple[str, Body]:
    """The path and the body of one call; the model stands in the path."""
    system, turns = common.parted(request.messages)
    settings: Body = {request.limit_field: request.max_output_tokens}
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    body: Body = {
        "contents": [{"role": _ROLES[one.role], "parts": [{"text": one.text}]} for one in turns],
        "generationConfig": settings,
    }
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    path = f"/models/{quote(request.model.removeprefix('models/'), safe='')}:generateContent"
    return path, common.merged(body, request.fragment, request.extra_body)


def decode(response: Response, *, max_output_tokens: int, now: float | None = None) -> Decoded:
    """What the reply means; never raises."""
    body = streams.gemini(common.load(response))
    verdict = common.unreadable(response, body, now)
    if verdict is not None:
        return verdict
    body = mapping(body)
    if body.get("error"):
        return common.failed(response, body["error"], now)
    if not body.keys() & {"candidates", "promptFeedback", "usageMetadata"}:
        return common.foreign(response, body, now)
    reply = _reply(body)
    if reply.finish == "error":
        return common.failed(response, {"status": reply.reason}, now, reply)
    return common.settle(reply, max_output_tokens)


def _reply(body: Mapping[str, Any]) -> Reply:
    candidates = items(body.get("candidates"))
    candidate = mapping(candidates[0]) if candidates else {}
    content = mapping(candidate.get("content"))
    parts = [part for part in items(content.get("parts")) if isinstance(part, dict)]
    reply = Reply(
        text="".join(string(part.get("text")) or "" for part in parts if part.get("thought") is not True),
        reasoning="".join(string(part.get("text")) or "" for part in parts if part.get("thought") is True),
        returned_model=string(body.get("modelVersion")),
    )
    reply.usage, reply.total_tokens = _usage(mapping(body.get("usageMetadata")))
    blocked = string(mapping(body.get("promptFeedback")).get("blockReason"))
    raw = candidate.get("finishReason")
    if blocked and not candidate:
        reply.finish, reply.reason = "content_filter", blocked
    elif candidate:
        reply.finish = _finish(raw)
        reply.reason = raw if isinstance(raw, str) and raw != "STOP" else None
        if reply.finish == "stop" and any("functionCall" in part for part in parts):
            reply.finish = "tool_calls"
    return reply


def _finish(raw: object) -> str:
    if not isinstance(raw, str):
        return "unknown"
    return _FINISH.get(raw) or ("content_filter" if raw.startswith("IMAGE_") else "error")


def _usage(raw: Mapping[str, Any]) -> tuple[Usage, int | None]:
    prompt, tools = count(raw.get("promptTokenCount")), count(raw.get("toolUsePromptTokenCount"))
    answer, thoughts = count(raw.get("candidatesTokenCount")), count(raw.get("thoughtsTokenCount"))
    all_tokens = count(raw.get("totalTokenCount"))
    output = common.total(answer, thoughts)
    if (
        output is None
        and prompt is not None
        and all_tokens is not None
        and all_tokens >= prompt + (tools or 0)
    ):
        # A blocked prompt reports only these two; their difference is a number, not a guess.
        output = all_tokens - prompt - (tools or 0)
    usage = Usage(
        input_tokens=None if prompt is None else prompt + (tools or 0),
        output_tokens=output,
        reasoning_tokens=thoughts,
        cached_tokens=count(raw.get("cachedContentTokenCount")),
    )
    return usage, all_tokens
