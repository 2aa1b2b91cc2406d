"""What the dialects share: the request, reading a body without trust, and the verdict on an answer.

Bodies are hostile: any field may be missing, null, or of another type, and none of that may raise. Hence the
readers `mapping`, `items`, `string` and `count`, which give the value where it has the type and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...answers.reasoning import split_reasoning
from .. import outcomes
from ..records import Decoded, Message, Messages, Outcome, Response, Usage

Body = dict[str, Any]

_MAX_COUNT = 10**12
_WORD_CHARACTERS = 200
# A reply whose reasoning took this share of its limit had no room left to answer.
_REASONING_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Request:
    """One question, before a dialect puts it into a body.

    ``fragment`` is the wire fragment of an effort level, merged deep into the body; ``extra_body`` is merged after
    it and wins. ``temperature`` None is not sent. ``messages`` are the turns in order, system text first.
    """

    model: str
    messages: Messages
    max_output_tokens: int
    limit_field: str
    fragment: Mapping[str, Any] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    temperature: float | None = None


@dataclass(slots=True)
class Reply:
    """What a dialect found in a body, in one vocabulary, before the verdict."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    reason: str | None = None
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    total_tokens: int | None = None
    returned_model: str | None = None
    provider: str | None = None


def parted(messages: Messages) -> tuple[str, list[Message]]:
    """The system text, and the turns behind it, for dialects that keep them in two places."""
    system = "\n\n".join(one.text for one in messages if one.role == "system")
    return system, [one for one in messages if one.role != "system"]


def merged(base: Mapping[str, Any], *overlays: Mapping[str, Any]) -> Body:
    """``base`` with each overlay laid over it: objects are merged key by key, anything else is replaced."""
    result = dict(base)
    for overlay in overlays:
        for key, value in overlay.items():
            below = result.get(key)
            if isinstance(below, Mapping) and isinstance(value, Mapping):
                result[key] = merged(below, value)
            else:
                result[key] = value
    return result


def load(response: Response) -> object:
    """The body as JSON; as text where it is none (also for an empty body)."""
    body = response.body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace").strip().lstrip("\ufeff")


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: object) -> str | None:
    """The value if it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """The value if it is a plausible number of tokens; unknown is None, never 0."""
    if type(value) is int:
        return value if 0 <= value < _MAX_COUNT else None
    if isinstance(value, float) and value.is_integer() and 0 <= value < _MAX_COUNT:
        return int(value)
    return None


def total(*values: int | None) -> int | None:
    """The sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def joined(parts: object, kind: str, key: str = "text") -> str:
    """The texts of those parts of a content list that have the given type."""
    return "".join(
        part[key]
        for part in items(parts)
        if isinstance(part, dict) and part.get("type") == kind and isinstance(part.get(key), str)
    )


def unreadable(response: Response, body: object, now: float | None) -> Decoded | None:
    """The verdict on a reply that holds no JSON object of the dialect, or an error status; None for the others."""
    if not 200 <= response.status < 300:
        return outcomes.classify(response.status, response.headers, body, now=now)
    if isinstance(body, dict):
        return None
    if isinstance(body, list) and body and isinstance(body[0], dict) and body[0].get("error"):
        return outcomes.classify(response.status, response.headers, body, now=now)
    if isinstance(body, str):
        start = body[:15].lower()
        reason = "empty_body" if not body else "html" if start.startswith(("<!doc", "<html")) else "not_json"
        return outcomes.malformed(reason, body[:2000])
    return outcomes.malformed("not_an_object", response.body[:2000].decode("utf-8", "replace"))


def foreign(response: Response, body: Mapping[str, Any], now: float | None) -> Decoded:
    """The verdict on a 2xx object that is no reply of the dialect: an error in flat form, or something else."""
    if body.get("object") == "error" or any(string(body.get(key)) for key in ("message", "detail", "code")):
        return outcomes.classify(response.status, response.headers, body, now=now)
    return outcomes.malformed("no_reply", response.body[:2000].decode("utf-8", "replace"))


def failed(response: Response, error: object, now: float | None, reply: Reply | None = None) -> Decoded:
    """The verdict on an error inside a 2xx body; ``reply`` is what had been written before it."""
    body = {"error": error}
    if reply is None:
        return outcomes.classify(response.status, response.headers, body, now=now)
    return outcomes.classify(
        response.status,
        response.headers,
        body,
        now=now,
        text=encodable(reply.text),
        finish=reply.finish,
        usage=reply.usage,
        returned_model=_word(reply.returned_model),
        provider=_word(reply.provider),
    )


def settle(reply: Reply, max_output_tokens: int) -> Decoded:
    """The outcome of a well-formed reply, with its flags."""
    parted = split_reasoning(reply.text)
    unclosed = parted.cut
    if parted.thought:
        reply.text = parted.visible.strip()
        reply.reasoning += parted.reasoning
    flags = _flags(reply, max_output_tokens, unclosed)
    visible = bool(reply.text.strip())
    reason, message, retryable = reply.reason, None, False
    if reply.refusal is not None:
        outcome, message = Outcome.REFUSED, outcomes.cleaned(reply.refusal)
    elif reply.finish == "refusal":
        outcome = Outcome.REFUSED
    elif reply.finish == "content_filter":
        outcome = Outcome.RECITATION if (reason or "").upper() == "RECITATION" else Outcome.FILTERED
    elif reply.finish == "length" or unclosed or (not visible and "reasoning_filled_limit" in flags):
        outcome, reason = Outcome.TRUNCATED, reason or "reasoning_filled_limit"
    elif not visible:
        outcome, retryable = Outcome.EMPTY, True
    else:
        outcome, reason = Outcome.ANSWERED, None
    return Decoded(
        outcome,
        text=encodable(reply.text),
        reasoning=encodable(reply.reasoning) or None,
        finish=reply.finish,
        usage=reply.usage,
        returned_model=_word(reply.returned_model),
        provider=_word(reply.provider),
        reason=_word(reason),
        message=message,
        retryable=retryable,
        flags=flags,
    )


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: JSON may hold them, UTF-8 and every table behind it may not."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def _word(text: str | None) -> str | None:
    return None if text is None else encodable(text[:_WORD_CHARACTERS])


def _flags(reply: Reply, limit: int, unclosed: bool) -> tuple[str, ...]:
    usage = reply.usage
    flags: list[str] = []
    # Three shapes of one thing: cut without a visible word, reasoning up to the limit, a reasoning tag left open.
    filled = usage.reasoning_tokens is not None and usage.reasoning_tokens >= _REASONING_SHARE * limit
    if filled or unclosed or (reply.finish == "length" and not reply.text.strip()):
        flags.append("reasoning_filled_limit")
    if usage.output_tokens is not None and usage.output_tokens > limit:
        flags.append("cap_not_enforced")
    known = total(usage.input_tokens, usage.output_tokens)
    if reply.total_tokens is not None and known is not None and known != reply.total_tokens:
        flags.append("usage_mismatch")
    if (usage.reasoning_tokens or 0) > (
        usage.output_tokens if usage.output_tokens is not None else _MAX_COUNT
    ):
        flags.append("usage_mismatch")
    if reply.finish == "tool_calls":
        flags.append("tool_calls")
    return tuple(flags)


def _inconsistent(usage: Usage, all_tokens: int | None) -> bool:
    """Whether the counts contradict each other; what is unknown contradicts nothing."""
    if usage.output_tokens is None:
        return False
    if usage.reasoning_tokens is not None and usage.reasoning_tokens > usage.output_tokens:
        return True
    if all_tokens is None or usage.input_tokens is None:
        return False
    return usage.input_tokens + usage.output_tokens != all_tokens
