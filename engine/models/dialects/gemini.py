"""Google Gemini generateContent. Blocked prompts have no candidate; reasoning is counted beside the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ..records import Decoded, Response, Usage
from . import common, reading, streams, texts
from .common import Body, Request, count, items, mapping, string
from .reading import Reply

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
    return reading.decode(response, _reply, streams.gemini, max_output_tokens, now)


def _reply(body: Mapping[str, Any]) -> Reply | None:
    if not body.keys() & {"candidates", "promptFeedback", "usageMetadata"}:
        return None
    candidates = [one for one in items(body.get("candidates")) if isinstance(one, dict)]
    candidate = next((one for one in candidates if one.get("index") in (None, 0)), (candidates or [{}])[0])
    raw = candidate.get("content")
    content = mapping(raw).get("parts", raw)
    parts = [part for part in items(content) if isinstance(part, dict)]
    text = texts.text_of(content)
    reply = Reply(
        text=text or "",
        reasoning="".join(string(part.get("text")) or "" for part in parts if part.get("thought") is True),
        returned_model=string(body.get("modelVersion")),
    )
    reply.usage, reply.total_tokens = _usage(mapping(body.get("usageMetadata")))
    blocked = string(mapping(body.get("promptFeedback")).get("blockReason"))
    if blocked and not candidate:
        reply.finish, reply.reason = "content_filter", blocked
    elif candidate:
        reply.end_with(candidate.get("finishReason"))
        if reply.finish == "stop" and any("functionCall" in part for part in parts):
            reply.finish = "tool_calls"
    if text is None and not any("functionCall" in part or part.get("thought") is True for part in parts):
        reply.unread = texts.unread_keys("candidates[0].content", *parts, mapping(raw))
    return reply


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
