"""OpenAI Responses. A failure may come as HTTP 200 with ``status: failed``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import Decoded, Response, Usage
from . import common, reading, streams, texts
from .common import Body, Request, count, items, mapping, string
from .reading import Broken, Reply

_UNFINISHED = ("in_progress", "queued")
_WITHOUT_TEXT = ("reasoning", "function_call", "web_search_call", "file_search_call", "custom_tool_call")


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
    return reading.decode(response, _reply, streams.responses, max_output_tokens, now)


def _reply(body: Mapping[str, Any]) -> Reply | Broken | None:
    if "output" not in body and "status" not in body:
        return None
    if body.get("status") in _UNFINISHED:
        return Broken(str(body["status"]), "the response is not finished")
    output = [item for item in items(body.get("output")) if isinstance(item, dict)]
    messages = [item for item in output if item.get("type") in ("message", None)]
    # Comments on the way are not the answer where the model marks the final message.
    final = [item for item in messages if item.get("phase") == "final_answer"] or messages
    found = [text for item in final if (text := texts.text_of(item.get("content"))) is not None]
    if not found and isinstance(body.get("output_text"), str):
        found = [body["output_text"]]
    reply = Reply(
        text="".join(found),
        reasoning=_reasoning(output),
        refusal="".join(common.joined(item.get("content"), "refusal", "refusal") for item in final) or None,
        returned_model=string(body.get("model")),
    )
    reply.usage, reply.total_tokens = _usage(mapping(body.get("usage")))
    _end(reply, body)
    if not found:
        held = [item for item in output if item.get("type") not in _WITHOUT_TEXT]
        parts = [part for item in held for part in items(item.get("content")) if isinstance(part, dict)]
        reply.unread = texts.unread_keys("output", *(parts or held))
    if reply.finish == "stop" and any(item.get("type") == "function_call" for item in output):
        reply.finish = "tool_calls"
    if reply.refusal is not None:
        reply.finish = "refusal"
    return reply


def _end(reply: Reply, body: Mapping[str, Any]) -> None:
    """A response is cut where it says by what; ``incomplete`` for another reason is broken off."""
    status = body.get("status")
    why = mapping(body.get("incomplete_details")).get("reason")
    reply.end_with(why if status == "incomplete" and string(why) else status)
    if status == "incomplete" and reply.finish not in ("length", "content_filter"):
        reply.finish, reply.reason = "error", reply.reason or "incomplete"
        reply.flags = ()


def _reasoning(output: list[dict[str, Any]]) -> str:
    return "\n".join(
        text
        for item in output
        if item.get("type") == "reasoning"
        for text in (
            common.joined(item.get("summary"), "summary_text"),
            common.joined(item.get("content"), "reasoning_text"),
        )
        if text
    )


def _usage(raw: Mapping[str, Any]) -> tuple[Usage, int | None]:
    all_tokens = count(raw.get("total_tokens"))
    put_in = count(raw.get("input_tokens"))
    usage = Usage(
        input_tokens=put_in,
        output_tokens=common.derived(put_in, count(raw.get("output_tokens")), all_tokens),
        reasoning_tokens=count(mapping(raw.get("output_tokens_details")).get("reasoning_tokens")),
        cached_tokens=count(mapping(raw.get("input_tokens_details")).get("cached_tokens")),
    )
    return usage, all_tokens
