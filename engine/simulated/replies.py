"""The wire shapes of the simulated server: a request body to what is asked, a reply or an error to its body.

Four dialects share one core: OpenAI chat and Responses, Anthropic Messages, Gemini generateContent. Pure:
nothing here knows a socket. Errors are in `serve_errors`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CHAT, RESPONSES, ANTHROPIC, GEMINI = "openai-chat", "openai-responses", "anthropic", "gemini"

_GEMINI_PATH = re.compile(r"/models/([^/]+):generateContent$")
# Made once: json.dumps looks its options over on each call, and these dicts cannot be circular.
_encode = json.JSONEncoder(check_circular=False).encode
_CAPS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens")
_SUFFIXES = {"/chat/completions": CHAT, "/responses": RESPONSES, "/messages": ANTHROPIC}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks: the last user text, the model, the effort, the output limit, the repeat
    (``seed``).
    """

    dialect: str
    model: str
    user: str
    effort: str | None
    cap: int | None
    repeat: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says. ``finish`` is stop, length, refusal or filter; tokens as a provider would bill."""

    model: str
    text: str
    finish: str
    prompt_tokens: int
    reasoning_tokens: int
    output_tokens: int


class BadRequest(ValueError):
    """The request cannot be answered: status, provider's code, and a sentence that names the field."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def dialect_of(path: str) -> str | None:
    """Name the dialect that a path belongs to, whatever stands before its last parts."""
    for suffix, dialect in _SUFFIXES.items():
        if path.endswith(suffix):
            return dialect
    return GEMINI if _GEMINI_PATH.search(path) else None


def read(dialect: str, path: str, body: bytes) -> Asked:
    """Read a request.

    Raises
    ------
    BadRequest
        Not JSON, a field is missing or of the wrong type, or streaming is asked.
    """
    try:
        fields = json.loads(body)
    except ValueError as error:
        raise BadRequest(400, "invalid_json", f"the body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise BadRequest(400, "invalid_json", "the body must be a JSON object")
    if fields.get("stream"):
        raise BadRequest(400, "unsupported_value", "'stream' is not supported by the simulated server")
    if dialect == ANTHROPIC and not isinstance(fields.get("max_tokens"), int):
        raise BadRequest(400, "invalid_request_error", "max_tokens: Field required")
    found = _GEMINI_PATH.search(path)
    model = found[1] if dialect == GEMINI and found else fields.get("model")
    if not isinstance(model, str):
        raise BadRequest(400, "missing_required_parameter", "'model' must be a string")
    config = _mapping(fields.get("generationConfig")) if dialect == GEMINI else fields
    cap = next((config[name] for name in _CAPS if isinstance(config.get(name), int)), None)
    seed = config.get("seed")
    return Asked(
        dialect=dialect,
        model=model,
        user=_user_text(dialect, fields),
        effort=_effort(dialect, fields, config),
        cap=cap,
        repeat=seed if isinstance(seed, int) else 0,
        prompt_tokens=len(body) // 4,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _user_text(dialect: str, fields: Mapping[str, Any]) -> str:
    name = {GEMINI: "contents", RESPONSES: "input"}.get(dialect, "messages")
    turns = fields.get(name)
    if isinstance(turns, str) and dialect == RESPONSES:
        return turns
    if isinstance(turns, Sequence) and not isinstance(turns, str):
        for turn in map(_mapping, reversed(turns)):
            if turn.get("role", "user") == "user":
                content = turn.get("parts" if dialect == GEMINI else "content")
                if isinstance(content, str):
                    return content
                if isinstance(content, list):
                    return "".join(str(_mapping(part).get("text", "")) for part in content)
    raise BadRequest(400, "missing_required_parameter", f"'{name}' must hold a user's text")


def _effort(dialect: str, fields: Mapping[str, Any], config: Mapping[str, Any]) -> str | None:
    """Find the effort in any of the places where providers and servers look for it."""
    direct = fields.get("reasoning_effort")
    if isinstance(direct, str) and "thinking" not in fields:
        return direct.lower()
    thinking = _mapping(fields.get("thinking"))
    gemini = _mapping(config.get("thinkingConfig"))
    template = _mapping(fields.get("chat_template_kwargs"))
    switch = template.get("enable_thinking", template.get("thinking"))
    places = (
        "disabled" if thinking.get("type") == "disabled" else None,
        direct,
        thinking.get("budget_tokens"),
        _mapping(fields.get("output_config")).get("effort") if dialect == ANTHROPIC else None,
        _mapping(fields.get("reasoning")).get("effort"),
        gemini.get("thinkingLevel"),
        gemini.get("thinkingBudget"),
        None if switch is None else ("medium" if switch else "none"),
    )
    value = next((place for place in places if place is not None), None)
    if isinstance(value, int):
        return "medium" if value < 0 else str(value)
    return None if value is None else str(value).lower()


def render(dialect: str, reply: Reply, name: str, now: int) -> bytes:
    """Write a reply as the dialect's body; ``name`` makes its id, ``now`` is its time in epoch seconds."""
    shape = {CHAT: _chat, RESPONSES: _responses, ANTHROPIC: _anthropic, GEMINI: _gemini}[dialect]
    return _encode(shape(reply, name, now)).encode()


def _chat(reply: Reply, name: str, now: int) -> dict[str, Any]:
    refused = reply.finish == "refusal"
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": now,
        "model": reply.model,
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None if refused else reply.text,
                    "refusal": reply.text if refused else None,
                },
                "finish_reason": {"refusal": "stop", "filter": "content_filter"}.get(
                    reply.finish, reply.finish
                ),
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.prompt_tokens + reply.output_tokens,
            "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        },
        "system_fingerprint": "fp_simulated",
    }


def _responses(reply: Reply, name: str, now: int) -> dict[str, Any]:
    incomplete = {"length": "max_output_tokens", "filter": "content_filter"}.get(reply.finish)
    part = (
        {"type": "refusal", "refusal": reply.text}
        if reply.finish == "refusal"
        else {"type": "output_text", "text": reply.text, "annotations": []}
    )
    return {
        "id": f"resp_{name}",
        "object": "response",
        "created_at": now,
        "status": "incomplete" if incomplete else "completed",
        "incomplete_details": {"reason": incomplete} if incomplete else None,
        "error": None,
        "model": reply.model,
        "output": [
            {"type": "reasoning", "id": f"rs_{name}", "summary": []},
            {
                "type": "message",
                "id": f"msg_{name}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            },
        ],
        "usage": {
            "input_tokens": reply.prompt_tokens,
            "output_tokens": reply.output_tokens,
            "total_tokens": reply.prompt_tokens + reply.output_tokens,
            "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        },
    }


def _anthropic(reply: Reply, name: str, _now: int) -> dict[str, Any]:
    # Messages has no content filter of its own: what others filter, it refuses.
    stop = {"stop": "end_turn", "length": "max_tokens"}.get(reply.finish, "refusal")
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [{"type": "text", "text": reply.text}] if reply.text and stop != "refusal" else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.prompt_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": reply.output_tokens,
            "output_tokens_details": {"thinking_tokens": reply.reasoning_tokens},
        },
    }


def _gemini(reply: Reply, name: str, _now: int) -> dict[str, Any]:
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}.get(
        reply.finish, "PROHIBITED_CONTENT"
    )
    said = bool(reply.text) and finish in {"STOP", "MAX_TOKENS"}
    return {
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", **({"parts": [{"text": reply.text}]} if said else {})},
                "finishReason": finish,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": reply.prompt_tokens,
            "candidatesTokenCount": reply.output_tokens - reply.reasoning_tokens,
            "thoughtsTokenCount": reply.reasoning_tokens,
            "totalTokenCount": reply.prompt_tokens + reply.output_tokens,
        },
        "modelVersion": reply.model,
        "responseId": name,
    }


def render_models(names: Sequence[str]) -> bytes:
    """Write the list of models, as OpenAI does."""
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "molaudit"} for name in names]
    return json.dumps({"object": "list", "data": data}).encode()
