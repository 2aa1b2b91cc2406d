"""OpenAI Responses. A failure may come as HTTP 200 with ``status: failed``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import outcomes
from ..records import Decoded, Response, Usage
from . import common, streams
from .common import Body, Reply, Request, count, items, mapping, string

_UNFINISHED = ("in_progress", "queued")
_FINISH = {"completed": "stop", "failed": "error", "cancelled": "error"}


def encode(request: Request) -> tuple[str, Body]:
    """The path and the body of one call. ``store`` is off: the provider's default is to keep every reply."""
    system, turns = common.parted(request.messages)
    alone = len(turns) == 1 and turns[0].role == "user"
    body: Body = {
        "model": request.model,
        "input": turns[0].text if alone else [{"role": one.role, "content": one.text} for one in turns],
        request.limit_field: request.max_output_tokens,
        "store": False,
    }
    if system:
        body["instructions"] = system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return "/responses", common.merged(body, request.fragment, request.extra_body)


def decode(response: Response, *, max_output_tokens: int, now: float | None = None) -> Decoded:
    """What the reply means; never raises."""
    body = streams.responses(common.load(response))
    verdict = common.unreadable(response, body, now)
    if verdict is not None:
        return verdict
    body = mapping(body)
    if body.get("error"):
        return common.failed(response, body["error"], now)
    if "output" not in body and "status" not in body:
        return common.foreign(response, body, now)
    if body.get("status") in _UNFINISHED:
        return outcomes.malformed(str(body["status"]), "the response is not finished")
    reply = _reply(body)
    if reply.finish == "error":
        return common.failed(response, {"code": reply.reason}, now, reply)
    return common.settle(reply, max_output_tokens)


def _reply(body: Mapping[str, Any]) -> Reply:
    output = [item for item in items(body.get("output")) if isinstance(item, dict)]
    messages = [item for item in output if item.get("type") == "message"]
    # Comments on the way are not the answer where the model marks the final message.
    final = [item for item in messages if item.get("phase") == "final_answer"] or messages
    status = body.get("status")
    reply = Reply(
        text="".join(common.joined(item.get("content"), "output_text") for item in final),
        reasoning="\n".join(
            text
            for item in output
            if item.get("type") == "reasoning"
            for text in (
                common.joined(item.get("summary"), "summary_text"),
                common.joined(item.get("content"), "reasoning_text"),
            )
            if text
        ),
        refusal="".join(common.joined(item.get("content"), "refusal", "refusal") for item in final) or None,
        returned_model=string(body.get("model")),
    )
    reply.usage, reply.total_tokens = _usage(mapping(body.get("usage")))
    if status == "incomplete":
        reply.reason = string(mapping(body.get("incomplete_details")).get("reason")) or "incomplete"
        reply.finish = "content_filter" if reply.reason == "content_filter" else "length"
    else:
        reply.finish = _FINISH.get(status, "unknown") if isinstance(status, str) else "unknown"
        reply.reason = status if isinstance(status, str) and status != "completed" else None
    if reply.finish == "stop" and any(item.get("type") == "function_call" for item in output):
        reply.finish = "tool_calls"
    if reply.refusal is not None:
        reply.finish = "refusal"
    return reply


def _usage(raw: Mapping[str, Any]) -> tuple[Usage, int | None]:
    usage = Usage(
        input_tokens=count(raw.get("input_tokens")),
        output_tokens=count(raw.get("output_tokens")),
        reasoning_tokens=count(mapping(raw.get("output_tokens_details")).get("reasoning_tokens")),
        cached_tokens=count(mapping(raw.get("input_tokens_details")).get("cached_tokens")),
    )
    return usage, count(raw.get("total_tokens"))
