"""What a reply that is not an answer means: the classification of errors, for every dialect at once.

A used-up balance comes as 400, 402, 403 or 429, a wrong key as 400, and a failure inside HTTP 200. So the first test
that matches decides: quota, key, content, context length, then the status (for a 200, the one in its body).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import error_bodies, hints
from .error_bodies import ErrorBody
from .error_words import (
    CONTENT_TEXT,
    CONTENT_WORDS,
    CONTEXT_TEXT,
    CRASH_TEXT,
    ENDPOINT_TEXT,
    KEY_TEXT,
    KEY_WORDS,
    LOADING_TEXT,
    QUOTA_TEXT,
    QUOTA_WORDS,
    TOO_LARGE_TEXT,
    WORD_STATUS,
)
from .records import Decoded, Outcome, Usage

LOADING = "loading"
"""The reason of an overload that is a server loading its model: nothing was tried, so no attempt is used up."""

TOO_LARGE = "too_large"

# Rejections by status; every other 4xx is a bad request.
_REJECTED = {401: "auth", 403: "permission", 404: "not_found", 413: TOO_LARGE}
_BY_STATUS = {
    408: Outcome.TIMED_OUT,
    409: Outcome.FAILED,
    424: Outcome.FAILED,
    425: Outcome.FAILED,
    429: Outcome.THROTTLED,
    498: Outcome.OVERLOADED,
    499: Outcome.FAILED,
    503: Outcome.OVERLOADED,
    504: Outcome.TIMED_OUT,
    524: Outcome.TIMED_OUT,
    529: Outcome.OVERLOADED,
}
RETRIED = frozenset(
    {
        Outcome.FAILED,
        Outcome.OVERLOADED,
        Outcome.TIMED_OUT,
        Outcome.THROTTLED,
        Outcome.MALFORMED,
        Outcome.EMPTY,
    }
)

_FINAL_WHATEVER_IS_SAID = frozenset({Outcome.QUOTA, Outcome.FILTERED})
"""Providers advise to retry by the status; these repeat themselves."""

_SECRET = r"(?:sk|xai|gsk|rk|pk)-[\w*.-]{6,}|AIza[\w-]{10,}|(?:key|token)=[^\s&\"']{4,}|Bearer\s+[\w.*-]{6,}"
SECRET = re.compile(_SECRET.encode())
"""Keys in the form of known providers: what one quotes back at us must not travel further."""

_SECRET_TEXT = re.compile(_SECRET, re.ASCII)
_MESSAGE_CHARACTERS = 500

# Sentences about a balance or a block are believed under these only: elsewhere they are about the server's own state.
_QUOTA_STATUSES = frozenset({400, 403, 412, 429})
_CONTENT_STATUSES = frozenset({400, 403, 422, 451, 500})


def cleaned(text: object) -> str | None:
    """A provider's sentence fit for a report: at most 500 characters, keys masked, encodable; None if empty."""
    if not isinstance(text, str) or not text.strip():
        return None
    masked = _SECRET_TEXT.sub("[key]", text[: 4 * _MESSAGE_CHARACTERS].strip())[:_MESSAGE_CHARACTERS]
    return masked.encode("utf-8", "replace").decode()


def classify(
    status: int,
    headers: Mapping[str, str],
    body: object,
    *,
    now: float | None = None,
    text: str | None = None,
    finish: str | None = None,
    usage: Usage | None = None,
    returned_model: str | None = None,
    provider: str | None = None,
) -> Decoded:
    """The outcome of a reply that carries an error.

    Parameters
    ----------
    status
        Of HTTP; for 200 the status is looked for in the body.
    body
        Decoded JSON, or the text of a body that is not JSON.
    now
        Local Unix time in seconds, for waits given as a time of day.
    text, finish, usage, returned_model, provider
        What a partial answer held, passed on.
    """
    error = error_bodies.read(body)
    outcome, kind = _meaning(status, headers, error)
    wait = hints.retry_after(headers, body, now, resets=outcome is Outcome.THROTTLED)
    word = error.words[0] if error.words else None
    return Decoded(
        outcome=outcome,
        text=text,
        finish=finish,
        usage=usage or Usage(),
        returned_model=returned_model,
        provider=provider,
        reason=kind or cleaned(word) or f"http_{status}",
        message=cleaned(_told(error, word, kind)),
        retryable=_retryable(outcome, kind, headers, error),
        retry_after_s=wait,
    )


def _retryable(outcome: Outcome, kind: str | None, headers: Mapping[str, str], error: ErrorBody) -> bool:
    """Whether to ask again: the server's word where it gives one, but for what repeats itself."""
    if outcome not in _FINAL_WHATEVER_IS_SAID and kind != TOO_LARGE:
        advice = error.fields.get("availability")
        should = headers.get("x-should-retry")
        if should in {"true", "false"}:
            return should == "true"
        if isinstance(advice, dict) and isinstance(advice.get("retryable"), bool):
            return bool(advice["retryable"])
    return outcome in RETRIED


def _told(error: ErrorBody, word: str | None, kind: str | None) -> str:
    """The provider's sentence, with its code before that of a rejection, and what can be done where we know it."""
    message = error.message
    if word and kind and word.lower() not in message.lower():
        message = f"{word}: {message}" if message else word
    fit = never_fits(message) if kind == TOO_LARGE else None
    if fit is not None:
        message = (
            f"one request takes {fit[1]:,} of a limit of {fit[0]:,}: lower max_output_tokens ({message})"
        )
    return message


def malformed(reason: str, text: str) -> Decoded:
    """A 2xx body that no rule can read; ``text`` is its beginning."""
    return Decoded(Outcome.MALFORMED, reason=reason, message=cleaned(text), retryable=True)


def _meaning(status: int, headers: Mapping[str, str], error: ErrorBody) -> tuple[Outcome, str | None]:
    """The outcome, and for a rejection its kind."""
    words = {word.lower() for word in error.words}
    status = _effective_status(status, error, words)
    if _is_quota(status, headers, error, words):
        return Outcome.QUOTA, None
    if status == 402:
        return Outcome.THROTTLED, None
    if status == 401 or (status == 400 and (words & KEY_WORDS or KEY_TEXT.search(error.message))):
        return Outcome.REJECTED, "auth"
    if _is_content(status, error, words):
        return Outcome.FILTERED, None
    if status in {400, 413, 422} and CONTEXT_TEXT.search(" ".join((*error.words, error.message))):
        return Outcome.REJECTED, "context_length"
    if status == 429 and never_fits(error.message) is not None:
        return Outcome.REJECTED, TOO_LARGE
    if status in {500, 503} and LOADING_TEXT.search(error.message):
        return Outcome.OVERLOADED, LOADING
    if status in _BY_STATUS:
        return _BY_STATUS[status], None
    if status >= 500 or (status in {400, 404, 422} and CRASH_TEXT.search(error.message)):
        return Outcome.FAILED, None
    if 300 <= status < 400:
        return Outcome.REJECTED, "redirect"
    return Outcome.REJECTED, _REJECTED.get(status, "bad_request")


def never_fits(message: str) -> tuple[int, int] | None:
    """The limit and what one request takes of it, where a message says both and the request is the larger."""
    found = TOO_LARGE_TEXT.search(message)
    if not found:
        return None
    limit, requested = (int(number.replace(",", "") or "0") for number in found.groups())
    return (limit, requested) if 0 < limit < requested else None


def _effective_status(status: int, error: ErrorBody, words: set[str]) -> int:
    if status >= 300:
        return status
    if error.number is not None and 400 <= error.number < 600:
        return error.number
    if words & QUOTA_WORDS:
        return 429
    if words & KEY_WORDS:
        return 401
    if words & CONTENT_WORDS:
        return 400
    if ENDPOINT_TEXT.search(error.message):
        return 404
    for part, meant in WORD_STATUS:
        if any(part in word for word in words):
            return meant
    return 500


def _is_quota(status: int, headers: Mapping[str, str], error: ErrorBody, words: set[str]) -> bool:
    if "in_flight_budget_exhausted" in words:
        return False
    if words & QUOTA_WORDS or status == 402:
        return True
    if status not in _QUOTA_STATUSES:
        return False
    if status == 429 and (headers.get("x-ratelimit-limit-req-minute") or "").strip() == "0":
        return True
    return bool(QUOTA_TEXT.search(error.message)) or any(
        _used_up(one) for one in error_bodies.violations(error)
    )


def _used_up(violation: Mapping[str, Any]) -> bool:
    # Gemini sends a RetryInfo of seconds with a daily quota too; the name of the quota is what can be believed.
    name, value = violation.get("quotaId"), violation.get("quotaValue")
    return (isinstance(name, str) and "PerDay" in name) or value in ("0", 0)


def _is_content(status: int, error: ErrorBody, words: set[str]) -> bool:
    if status == 429 or status > 500:
        return False
    metadata = error.fields.get("metadata")
    if words & CONTENT_WORDS or (isinstance(metadata, dict) and bool(metadata.get("reasons"))):
        return True
    return status in _CONTENT_STATUSES and bool(CONTENT_TEXT.search(error.message))
