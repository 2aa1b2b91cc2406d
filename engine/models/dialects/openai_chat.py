"""OpenAI Chat Completions, and every server that speaks it: DeepSeek, Mistral, xAI, OpenRouter, vLLM, SGLang,
Ollama, llama.cpp, LM Studio. Their differences are fields that the others lack, so one reader serves all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import Decoded, Response, Usage
from . import common, reading, streams, texts
from .common import Body, Request, count, items, mapping, string
from .reading import Broken, Reply

_TICKS_PER_USD = 1e10
_IN_CHOICE = ("finish_reason", "native_finish_reason", "logprobs", "error", "content_filter_results")


def encode(request: Request) -> tuple[str, Body]:
    """The path and the body of one call."""
    body: Body = {
        "model": request.model,
        "messages": [{"role": one.role, "content": one.text} for one in request.messages],
        request.limit_field: request.max_output_tokens,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return "/chat/completions", common.merged(body, request.fragment, request.extra_body)


def decode(response: Response, *, max_output_tokens: int, now: float | None = None) -> Decoded:
    """What the reply means; never raises."""
    return reading.decode(response, _reply, streams.chat, max_output_tokens, now)


def _reply(body: Mapping[str, Any]) -> Reply | Broken | None:
    if "choices" not in body:
        return None
    choices = [one for one in items(body.get("choices")) if isinstance(one, dict)]
    wanted = streams.first_index(choices)
    choice: Mapping[str, Any] = next((one for one in choices if one.get("index") == wanted), {})
    if "message" not in choice and choice.get("delta") and not choice.get("finish_reason"):
        return Broken("stream_cut", "the body is one piece of a stream, without a finish reason")
    message = choice.get("message") or choice.get("delta")
    if not isinstance(message, dict):
        message = {"content": message if isinstance(message, str) else choice.get("text")}
    reply = Reply(
        error=choice.get("error"),
        returned_model=string(body.get("model")),
        provider=string(body.get("provider")),
    )
    reply.usage, reply.total_tokens = _usage(mapping(body.get("usage")))
    _read_message(reply, message)
    if not choice.keys() & {"message", "delta", "text"}:
        reply.unread = texts.unread_keys(
            "choices[0]", {k: v for k, v in choice.items() if k not in _IN_CHOICE}
        )
    if choice:
        reply.end_with(choice.get("finish_reason"))
    if reply.refusal is not None:
        reply.finish = "refusal"
    return reply


def _read_message(reply: Reply, message: Mapping[str, Any]) -> None:
    content = message.get("content")
    text = texts.text_of(content)
    reply.text = text or ""
    if not isinstance(content, str):
        reply.reasoning = "".join(
            common.joined(part.get("thinking"), "text") or string(part.get("thinking")) or ""
            for part in items(content)
            if isinstance(part, dict) and part.get("type") == "thinking"
        )
        reply.refusal = common.joined(content, "refusal", "refusal") or None
    reply.reasoning = (
        string(message.get("reasoning_content"))
        or string(message.get("reasoning"))
        or reply.reasoning
        or common.joined(message.get("reasoning_details"), "reasoning.text")
    )
    reply.refusal = reply.refusal or string(message.get("refusal"))
    if text is None and not reply.reasoning and content:
        parts = [part for part in items(content) if isinstance(part, dict)]
        reply.unread = texts.unread_keys("choices[0].message.content", *parts, mapping(content))
    elif text is None and "content" not in message:
        reply.unread = texts.unread_keys("choices[0].message", message)


def _usage(raw: Mapping[str, Any]) -> tuple[Usage, int | None]:
    if not raw:
        return Usage(), None
    prompt, completion = count(raw.get("prompt_tokens")), count(raw.get("completion_tokens"))
    all_tokens = count(raw.get("total_tokens"))
    reasoning = count(mapping(raw.get("completion_tokens_details")).get("reasoning_tokens"))
    if reasoning is None:
        reasoning = count(raw.get("reasoning_tokens"))
    if reasoning and completion is not None:
        # xAI leaves reasoning out of completion_tokens; its total, or the size alone, gives it away.
        outside = all_tokens == (prompt or 0) + completion + reasoning
        if outside or (all_tokens is None and reasoning > completion):
            completion += reasoning
    completion = common.derived(prompt, completion, all_tokens)
    cached = count(mapping(raw.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = count(raw.get("prompt_cache_hit_tokens"))
    return Usage(prompt, completion, reasoning, cached, _cost(raw)), all_tokens


def _cost(raw: Mapping[str, Any]) -> float | None:
    ticks, cost = raw.get("cost_in_usd_ticks"), _usd(raw.get("cost"))
    if isinstance(ticks, int) and 0 <= ticks < 10**18:
        return ticks / _TICKS_PER_USD
    if raw.get("is_byok") is not True:
        return cost
    # With a key of one's own ``cost`` is the fee alone; without the price upstream the whole is not known.
    details = mapping(raw.get("cost_details"))
    upstream = _usd(details.get("upstream_inference_cost"))
    if upstream is None:
        halves = [_usd(details.get(f"upstream_inference_{one}_cost")) for one in ("prompt", "completions")]
        upstream = None if None in halves else sum(half for half in halves if half is not None)
    return None if upstream is None else (cost or 0.0) + upstream


def _usd(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**6:
        return float(value)
    return None
