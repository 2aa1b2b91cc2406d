"""OpenAI Chat Completions, and every server that speaks it: DeepSeek, Mistral, xAI, OpenRouter, vLLM, SGLang,
Ollama, llama.cpp, LM Studio. Their differences are fields that the others lack, so one reader serves all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import Decoded, Response, Usage
from . import common, streams
from .common import Body, Reply, Request, count, items, mapping, string

# In lower case; gateways pass on the words of the API behind them.
_FINISH = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "refusal": "refusal",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "error": "error",
    "insufficient_system_resource": "error",
}
_TICKS_PER_USD = 1e10


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
    body = streams.chat(common.load(response))
    verdict = common.unreadable(response, body, now)
    if verdict is not None:
        return verdict
    body = mapping(body)
    if body.get("error"):
        return common.failed(response, body["error"], now)
    if "choices" not in body:
        return common.foreign(response, body, now)
    choices = items(body.get("choices"))
    choice = mapping(choices[0]) if choices else {}
    reply = _reply(body, choice)
    if choice.get("error"):
        return common.failed(response, choice["error"], now, reply)
    if reply.finish == "error":
        return common.failed(response, {"code": reply.reason or "error"}, now, reply)
    return common.settle(reply, max_output_tokens)


def _reply(body: Mapping[str, Any], choice: Mapping[str, Any]) -> Reply:
    message = mapping(choice.get("message"))
    usage, all_tokens = _usage(mapping(body.get("usage")))
    reply = Reply(
        usage=usage,
        total_tokens=all_tokens,
        returned_model=string(body.get("model")),
        provider=string(body.get("provider")),
    )
    content = message.get("content")
    if isinstance(content, str):
        reply.text = content
    else:
        reply.text = common.joined(content, "text")
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
    if choice:
        raw = choice.get("finish_reason")
        reply.finish = _FINISH.get(raw.lower(), "unknown") if isinstance(raw, str) else "unknown"
        reply.reason = raw if isinstance(raw, str) and reply.finish != "stop" else None
    if reply.refusal is not None:
        reply.finish = "refusal"
    return reply


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
    cached = count(mapping(raw.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = count(raw.get("prompt_cache_hit_tokens"))
    return Usage(prompt, completion, reasoning, cached, _cost(raw)), all_tokens


def _cost(raw: Mapping[str, Any]) -> float | None:
    ticks, cost = raw.get("cost_in_usd_ticks"), raw.get("cost")
    if isinstance(ticks, int) and 0 <= ticks < 10**18:
        return ticks / _TICKS_PER_USD
    if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 10**6:
        return float(cost)
    return None
