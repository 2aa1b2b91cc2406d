"""From the bytes of a reply to its outcome, in one order for all dialects.

A dialect says how a stream of its kind is put together and where the parts of a reply stand; what follows from them
is decided here, so that the same fault means the same everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...answers.reasoning import split_reasoning
from .. import error_bodies, notices, outcomes
from ..records import Decoded, Outcome, Response, Usage
from . import finishes
from .common import MAX_COUNT, encodable, mapping, string, total

_WORD_CHARACTERS = 200
_JSON = json.JSONDecoder(strict=False)
_COMMENTS = re.compile(r"(?:[ \t]*(?::[^\r\n]*)?[\r\n])*\s*")
# A reply whose reasoning took this share of its limit had no room left to answer.
_REASONING_SHARE = 0.95


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
    error: object = None
    unread: str | None = None
    flags: tuple[str, ...] = ()

    def end_with(self, raw: object) -> None:
        """Take the finish value as it stands in the body."""
        word = finishes.word_of(raw)
        self.finish = finishes.normal(word)
        self.reason = word if self.finish != "stop" else None
        if finishes.is_new(word):
            self.flags += ("unknown_finish",)


@dataclass(frozen=True, slots=True)
class Broken:
    """A body from which no whole reply can be put together: why, in a word and in a sentence."""

    reason: str
    message: str


def load(response: Response) -> object:
    """The body as JSON; as text where it is none (also for an empty body).

    What was paid for and can be read is read: comments before the JSON and an end mark behind it are passed over, and
    a byte that is not UTF-8 is replaced. Several values in a row become a stream of events.
    """
    body = response.body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace").strip().lstrip("\ufeff").lstrip()
        values = _values_in(text)
    if not values:
        return text
    if all(value == values[0] for value in values):
        return values[0]
    return "\n\n".join(f"data: {json.dumps(value)}" for value in values)


def _values_in(text: str) -> list[Any]:
    """The JSON objects and lists that a text consists of, whatever comment stands around them; none if one is cut."""
    values: list[Any] = []
    start = _COMMENTS.match(text).end()  # type: ignore[union-attr]
    if text[start : start + 1] not in ("{", "["):
        return values
    while start >= 0:
        try:
            value, end = _JSON.raw_decode(text, start)
        except (ValueError, RecursionError):
            return []
        values.append(value)
        start = text.find("{", end)
        if start >= 0 and text[end:start].strip(" \t\r\n"):
            return []
    return values


def is_utf8(body: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def unreadable(response: Response, body: object, now: float | None) -> Decoded | None:
    """The verdict on a reply that holds no JSON object of the dialect, or an error status; None for the others."""
    if not 200 <= response.status < 300:
        return outcomes.classify(response.status, response.headers, body, now=now)
    if isinstance(body, dict):
        return None
    if isinstance(body, list) and body and isinstance(body[0], dict) and body[0].get("error"):
        return outcomes.classify(response.status, response.headers, body, now=now)
    if isinstance(body, Broken):
        return outcomes.malformed(body.reason, body.message)
    if isinstance(body, str):
        start = body[:15].lower()
        reason = "empty_body" if not body else "html" if start.startswith(("<!doc", "<html")) else "not_json"
        return outcomes.malformed(reason, body[:2000])
    return outcomes.malformed("not_an_object", response.body[:2000].decode("utf-8", "replace"))


def foreign(response: Response, body: Mapping[str, Any], now: float | None) -> Decoded:
    """The verdict on a 2xx object that is no reply of the dialect: an error in flat form, or something else."""
    if body.get("object") == "error" or any(string(body.get(key)) for key in ("message", "detail", "code")):
        return outcomes.classify(response.status, response.headers, body, now=now)
    keys = ", ".join(map(str, body)) or "no keys"
    return outcomes.malformed("no_reply", f"no reply of this dialect; the body holds: {keys}")


def decode(
    response: Response,
    read: Callable[[Mapping[str, Any]], Reply | Broken | None],
    assemble: Callable[[object], object],
    max_output_tokens: int,
    now: float | None,
) -> Decoded:
    """What a reply means, in the order that all dialects share; never raises.

    ``assemble`` puts a stream together. ``read`` finds the parts of a reply in a body, None if it is no reply of the
    dialect.
    """
    loaded = load(response)
    body = assemble(loaded)
    verdict = unreadable(
        response, loaded if isinstance(body, Broken) and response.status >= 300 else body, now
    )
    if verdict is not None:
        return verdict
    body = mapping(body)
    error = error_bodies.within(body)
    if error is not None:
        return failed(response, error, now)
    reply = read(body)
    if reply is None:
        return foreign(response, body, now)
    if isinstance(reply, Broken):
        return outcomes.malformed(reply.reason, reply.message)
    if reply.error:
        return failed(response, reply.error, now, reply)
    if reply.finish == "error":
        return failed(response, {"code": reply.reason or "error"}, now, reply)
    if not is_utf8(response.body):
        reply.flags += ("not_utf8",)
    return settle(reply, max_output_tokens)


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
    if visible and reply.refusal is None and reply.finish in ("stop", "unknown"):
        error = notices.error_in(reply.text, reply.usage)
        if error is not None:
            return _not_an_answer(reply, error, flags)
    if reply.refusal is not None:
        outcome, message = Outcome.REFUSED, outcomes.cleaned(reply.refusal)
    elif reply.finish == "refusal":
        outcome = Outcome.REFUSED
    elif reply.finish == "content_filter":
        outcome = Outcome.RECITATION if "recitation" in (reason or "").lower() else Outcome.FILTERED
    elif reply.finish == "length" or unclosed or (not visible and "reasoning_filled_limit" in flags):
        outcome, reason = Outcome.TRUNCATED, reason or "reasoning_filled_limit"
    elif not visible and reply.unread is not None:
        unread = outcomes.malformed("no_text", reply.unread)
        return replace(unread, finish=reply.finish, usage=reply.usage, flags=flags)
    elif not visible:
        outcome, retryable = Outcome.EMPTY, True
    else:
        outcome, reason = Outcome.ANSWERED, reason if "unknown_finish" in flags else None
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


def _not_an_answer(reply: Reply, error: notices.Notice, flags: tuple[str, ...]) -> Decoded:
    """The verdict on an error or a notice of the provider that came as the text of an ordinary reply."""
    verdict = outcomes.classify(
        error.status,
        {},
        {"error": error.body},
        text=encodable(reply.text),
        finish=reply.finish,
        usage=reply.usage,
        returned_model=_word(reply.returned_model),
        provider=_word(reply.provider),
    )
    return replace(verdict, flags=(*flags, "suspect"))


def _word(text: str | None) -> str | None:
    return None if text is None else encodable(text[:_WORD_CHARACTERS])


def _flags(reply: Reply, limit: int, unclosed: bool) -> tuple[str, ...]:
    usage = reply.usage
    flags = list(reply.flags)
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
        usage.output_tokens if usage.output_tokens is not None else MAX_COUNT
    ):
        flags.append("usage_mismatch")
    if reply.finish == "tool_calls":
        flags.append("tool_calls")
    return tuple(flags)
