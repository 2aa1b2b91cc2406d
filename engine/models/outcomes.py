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
from .records import Decoded, Outcome, Usage

QUOTA_WORDS = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "billing_not_active",
        "billing_hard_limit_reached",
        "billing_error",
        "enforced_spend_limit_reached",
        "payment_required",
    }
)
_QUOTA_TEXT = re.compile(
    r"credit balance is too low|insufficient (?:account )?(?:balance|credits)|used all available credits"
    r"|reached your specified api usage limits|credits are depleted|limit: 0(?![\d.]*\d)|per-day",
    re.IGNORECASE,
)
_KEY_WORDS = frozenset(
    {"invalid_api_key", "api_key_invalid", "authentication_error", "authentication", "unauthenticated"}
)
_KEY_TEXT = re.compile(
    r"api[ _-]?key (?:is )?(?:not valid|invalid)|(?:incorrect|invalid|no) (?:x-)?api[ _-]?key", re.IGNORECASE
)
_CONTENT_WORDS = frozenset(
    {
        "invalid_prompt",
        "content_policy_violation",
        "cyber_policy",
        "content_filter",
        "responsibleaipolicyviolation",
        "refusal",
    }
)
_CONTEXT_TEXT = re.compile(
    r"maximum context length|context_length|prompt is too long|input token count exceeds|exceed_context_size"
    r"|context (?:window|size) (?:is )?exceeded|exceeds the (?:available |maximum )?context",
    re.IGNORECASE,
)
_ENDPOINT_TEXT = re.compile(r"(?:unexpected|unknown|no such) (?:endpoint|route|path)", re.IGNORECASE)

# Words that stand for a status where HTTP says 200 or the number is missing; matched as a part of the word.
_WORD_STATUS = (
    ("rate_limit", 429),
    ("rate limit", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("slow_down", 429),
    ("overloaded", 503),
    ("unavailable", 503),
    ("capacity_exceeded", 503),
    ("insufficient_system_resource", 503),
    ("timeout", 504),
    ("deadline_exceeded", 504),
    ("not_found", 404),
    ("permission", 403),
    ("context_length", 400),
    ("exceed_context_size", 400),
    ("invalid_request", 400),
    ("invalid_argument", 400),
)

# Rejections by status; every other 4xx is a bad request.
_REJECTED = {401: "auth", 403: "permission", 404: "not_found", 413: "too_large"}
_BY_STATUS = {
    408: Outcome.TIMED_OUT,
    429: Outcome.THROTTLED,
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

# Keys that a provider quotes back at us must not travel further in a message.
_SECRET = re.compile(
    r"(?:sk|xai|gsk|rk|pk)-[\w*.-]{6,}|AIza[\w-]{10,}|(?:key|token)=[^\s&\"']{4,}|Bearer\s+[\w.*-]{6,}",
    re.ASCII,
)
_MESSAGE_CHARACTERS = 500


def cleaned(text: object) -> str | None:
    """A provider's sentence fit for a report: at most 500 characters, keys masked, encodable; None if empty."""
    if not isinstance(text, str) or not text.strip():
        return None
    masked = _SECRET.sub("[key]", text[: 4 * _MESSAGE_CHARACTERS].strip())[:_MESSAGE_CHARACTERS]
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
    retryable = outcome in RETRIED
    if outcome is not Outcome.QUOTA:
        advice = error.fields.get("availability")
        should = headers.get("x-should-retry")
        if should in {"true", "false"}:
            retryable = should == "true"
        elif isinstance(advice, dict) and isinstance(advice.get("retryable"), bool):
            retryable = advice["retryable"]
    word = error.words[0] if error.words else None
    message = error.message
    if word and kind and word.lower() not in message.lower():
        message = f"{word}: {message}" if message else word
    return Decoded(
        outcome=outcome,
        text=text,
        finish=finish,
        usage=usage or Usage(),
        returned_model=returned_model,
        provider=provider,
        reason=kind or cleaned(word) or f"http_{status}",
        message=cleaned(message),
        retryable=retryable,
        retry_after_s=wait,
    )


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
    if status == 401 or (status == 400 and (words & _KEY_WORDS or _KEY_TEXT.search(error.message))):
        return Outcome.REJECTED, "auth"
    if status < 500 and status != 429 and _is_content(error, words):
        return Outcome.FILTERED, None
    if status in {400, 413, 422} and _CONTEXT_TEXT.search(" ".join((*error.words, error.message))):
        return Outcome.REJECTED, "context_length"
    if status in _BY_STATUS:
        return _BY_STATUS[status], None
    if status >= 500:
        return Outcome.FAILED, None
    if 300 <= status < 400:
        return Outcome.REJECTED, "redirect"
    return Outcome.REJECTED, _REJECTED.get(status, "bad_request")


def _effective_status(status: int, error: ErrorBody, words: set[str]) -> int:
    if status >= 300:
        return status
    if error.number is not None and 400 <= error.number < 600:
        return error.number
    if words & QUOTA_WORDS:
        return 429
    if words & _KEY_WORDS:
        return 401
    if words & _CONTENT_WORDS:
        return 400
    if _ENDPOINT_TEXT.search(error.message):
        return 404
    for part, meant in _WORD_STATUS:
        if any(part in word for word in words):
            return meant
    return 500


def _is_quota(status: int, headers: Mapping[str, str], error: ErrorBody, words: set[str]) -> bool:
    if "in_flight_budget_exhausted" in words:
        return False
    if words & QUOTA_WORDS or status == 402:
        return True
    if status not in {400, 403, 429}:
        return False
    if status == 429 and (headers.get("x-ratelimit-limit-req-minute") or "").strip() == "0":
        return True
    return bool(_QUOTA_TEXT.search(error.message)) or any(
        _used_up(one) for one in error_bodies.violations(error)
    )


def _used_up(violation: Mapping[str, Any]) -> bool:
    # Gemini sends a RetryInfo of seconds with a daily quota too; the name of the quota is what can be believed.
    name, value = violation.get("quotaId"), violation.get("quotaValue")
    return (isinstance(name, str) and "PerDay" in name) or value in ("0", 0)


def _is_content(error: ErrorBody, words: set[str]) -> bool:
    metadata = error.fields.get("metadata")
    return bool(words & _CONTENT_WORDS) or (isinstance(metadata, dict) and bool(metadata.get("reasons")))
