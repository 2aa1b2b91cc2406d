"""What response headers say about a server's rate limits, as far as it corrects our buckets.

Waits (Retry-After and its cousins) are the dialects' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..models.hints import limits

_PER_MINUTE = (
    "x-ratelimit-limit-requests",
    "anthropic-ratelimit-requests-limit",
    "x-ratelimit-limit-req-minute",
)
"""Names whose number is requests per minute. Some providers put a day's number there: taken for a minute's it bounds
the rate less tightly, and the rest is learned. Other names may count per second, so they bound nothing."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a server says about our limits; None where it says nothing."""

    requests_per_minute: float | None
    requests_left: float | None
    tokens_left: float | None


def read_state(headers: Mapping[str, str]) -> ServerState | None:
    """Read the state from lower-case headers; None when there is none, which is the usual case."""
    if not any("ratelimit" in name for name in headers):
        return None
    stated = limits(headers)
    per_minute = stated.requests.limit if any(name in headers for name in _PER_MINUTE) else None
    return ServerState(per_minute or None, stated.requests.remaining, stated.tokens.remaining)
