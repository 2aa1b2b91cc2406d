"""How long a server asks us to wait, and what is left of its limits, in every spelling seen on the wire.

Absolute times are measured from the reply's own ``Date`` header where there is one, since the local clock
may be wrong by more than the wait. Whatever cannot be understood is None: a guess here would be a pause that
nobody asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

# Thresholds between the readings of a bare number: a wait in seconds, a Unix time in s, a Unix time in ms.
# 1e9 s is 31 years as a wait and 2001 as a time; 1e11 s is the year 5138 as a time and 1973 in ms.
_EPOCH_S = 1e9
_EPOCH_MS = 1e11

_NUMBER = re.compile(r"\+?\d{1,15}(?:\.\d{1,9})?", re.ASCII)
# "1h2m3s", "6m0s", "59.892s", "169ms", "2 minutes", "1 min 30 sec", "PT1M30S"
_DURATION = re.compile(
    r"(?:pt)?(?:(?P<d>\d{1,6})\s*d(?:ays?)?\s*)?"
    r"(?:(?P<h>\d{1,9}(?:\.\d{1,9})?)\s*h(?:ours?|rs?)?\s*)?"
    r"(?:(?P<m>\d{1,9}(?:\.\d{1,9})?)\s*m(?:in(?:ute)?s?)?(?!s)\s*)?"
    r"(?:(?P<s>\d{1,12}(?:\.\d{1,9})?)\s*s(?:ec(?:ond)?s?)?\s*)?"
    r"(?:(?P<ms>\d{1,15}(?:\.\d{1,9})?)\s*m(?:s|illi(?:second)?s?)\s*)?",
    re.ASCII | re.IGNORECASE,
)
_UNIT_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SENTENCE = re.compile(
    r"(?:try again in|retry in|retry after|retry-after:?|wait(?: for)?|available in)\s+"
    r"(\d[\d.]*\s*[a-z]*(?:\s*\d[\d.]*\s*[a-z]+){0,3})",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Limit:
    """One budget as the server last stated it; None where it did not."""

    limit: float | None = None
    remaining: float | None = None
    reset_s: float | None = None

    def __bool__(self) -> bool:
        return self != _NOTHING


_NOTHING = Limit()


@dataclass(frozen=True, slots=True)
class Limits:
    """The budgets of one reply's headers."""

    requests: Limit = _NOTHING
    tokens: Limit = _NOTHING
    input_tokens: Limit = _NOTHING
    output_tokens: Limit = _NOTHING


def duration(value: object, base: float | None) -> float | None:
    """Seconds meant by one value of a wait or reset field.

    Parameters
    ----------
    value
        A number, or text: seconds, a duration with units, an HTTP date, an ISO 8601 time, a Unix time in s or ms.
    base
        The moment, in Unix seconds, from which absolute times are counted; without it they are None.

    Returns
    -------
    float or None
        Never negative: a time that has passed is 0.0. None for negative waits and for everything else.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _number(float(value), base) if -1e18 < value < 1e18 else None
    if not isinstance(value, str) or len(value) > 64:
        return None
    text = value.strip().strip("\"'")
    if _NUMBER.fullmatch(text):
        return _number(float(text), base)
    found = _DURATION.fullmatch(text)
    if found and any(found.groups()):
        return sum(float(part) * _UNIT_S[unit] for unit, part in found.groupdict().items() if part)
    moment = _moment(text)
    return None if moment is None or base is None else max(0.0, moment - base)


def retry_after(
    headers: Mapping[str, str], body: object, now: float | None = None, *, resets: bool = True
) -> float | None:
    """Seconds that the server asks for before the next request.

    Parameters
    ----------
    headers
        Names in lower case.
    body
        The decoded JSON body, or its text, or None.
    now
        Local Unix time in seconds, used only where the reply has no ``Date``.
    resets
        Fall back on the reset time of a budget whose remainder is 0. Off for an exhausted quota, whose
        reset may be that of another budget.
    """
    base = _base(headers, now)
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        wait = _milliseconds(headers.get(name))
        if wait is not None:
            return wait
    for name in ("retry-after", "x-retry-after"):
        wait = duration(headers.get(name), base)
        if wait is not None:
            return wait
    wait = _from_body(body, base)
    if wait is None and resets:
        waits = [one.reset_s for one in _all(limits(headers, now)) if one.remaining == 0]
        wait = max((one for one in waits if one is not None), default=None)
    return wait


def limits(headers: Mapping[str, str], now: float | None = None) -> Limits:
    """The request and token budgets that a reply's headers state.

    Read are OpenAI's ``x-ratelimit-*-requests`` and ``-tokens``, Anthropic's ``anthropic-ratelimit-*``,
    Mistral's per-minute names and OpenRouter's unnamed ones (requests).
    """
    base = _base(headers, now)

    def read(*patterns: str) -> Limit:
        for pattern in patterns:
            one = Limit(
                _count(headers.get(pattern.format("limit"))),
                _count(headers.get(pattern.format("remaining"))),
                duration(headers.get(pattern.format("reset")), base),
            )
            if one:
                return one
        return _NOTHING

    return Limits(
        requests=read(
            "x-ratelimit-{}-requests",
            "anthropic-ratelimit-requests-{}",
            "x-ratelimit-{}-req-minute",
            "x-ratelimit-{}",
            "ratelimit-{}",
        ),
        tokens=read(
            "x-ratelimit-{}-tokens",
            "anthropic-ratelimit-tokens-{}",
            "x-ratelimit-{}-tokens-minute",
            "x-ratelimitbysize-{}-minute",
        ),
        input_tokens=read("anthropic-ratelimit-input-tokens-{}"),
        output_tokens=read("anthropic-ratelimit-output-tokens-{}"),
    )


def _all(state: Limits) -> tuple[Limit, ...]:
    return state.requests, state.tokens, state.input_tokens, state.output_tokens


def _number(value: float, base: float | None) -> float | None:
    if not math.isfinite(value) or value < 0:
        return None
    if value < _EPOCH_S:
        return value
    moment = value if value < _EPOCH_MS else value / 1000
    return None if base is None else max(0.0, moment - base)


def _milliseconds(value: object) -> float | None:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return None
    return float(value) / 1000


def _count(value: object) -> float | None:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
        return None
    return float(value)


def _moment(text: str) -> float | None:
    if len(text) < 10:
        return None
    try:
        if text[:4].isascii() and text[:4].isdigit():
            # Python reads at most six digits of a second; RFC 3339 allows any number.
            stamp = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
        else:
            stamp = parsedate_to_datetime(text)
        return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _base(headers: Mapping[str, str], now: float | None) -> float | None:
    date = headers.get("date")
    sent = _moment(date) if isinstance(date, str) and len(date) < 64 else None
    return now if sent is None else sent


def _from_body(body: object, base: float | None) -> float | None:
    if isinstance(body, str):
        return _from_sentence(body)
    if isinstance(body, list):
        return _from_body(body[0], base) if body and isinstance(body[0], dict) else None
    if not isinstance(body, dict):
        return None
    nested = body.get("error")
    error: Mapping[str, Any] = nested if isinstance(nested, dict) else body
    for value in _body_values(error):
        wait = duration(value, base)
        if wait is not None:
            return wait
    estimated = body.get("estimated_time")  # seconds until a model is loaded
    if isinstance(estimated, int | float) and not isinstance(estimated, bool):
        return duration(estimated, None)
    message = error.get("message", nested)
    return _from_sentence(message) if isinstance(message, str) else None


def _body_values(error: Mapping[str, Any]) -> list[object]:
    """The values of an error object that may be a wait, the most specific first."""
    values: list[object] = []
    details = error.get("details")
    for detail in details if isinstance(details, list) else [details]:
        if isinstance(detail, dict):
            values += [detail.get("retryDelay"), detail.get("retry_after")]
    for name in ("availability", "metadata"):
        part = error.get(name)
        if isinstance(part, dict):
            values += [part.get("retry_after"), part.get("retry_after_seconds")]
            inner = part.get("headers")
            if isinstance(inner, dict):
                values += [one for name, one in inner.items() if str(name).lower() == "retry-after"]
    return [*values, error.get("retryDelay"), error.get("retry_after"), error.get("retry_after_seconds")]


def _from_sentence(text: str) -> float | None:
    found = _SENTENCE.search(text[:4000])
    if not found:
        return None
    words = found.group(1).rstrip(". ")
    # "again in 5 s or ask for more" matches one word too many: drop words until the rest is a duration.
    while words:
        wait = duration(words, None)
        if wait is not None:
            return wait
        words = words[:-1].rstrip(". ") if " " not in words else words.rsplit(" ", 1)[0].rstrip(". ")
    return None
