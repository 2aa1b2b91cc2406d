"""The vocabulary of a call: what is asked, what came over the wire, what it means.

A `Call` is everything that goes on the wire plus the labels that reports need. A `Response` is raw bytes.
A dialect turns the one into the other's meaning, `Decoded`. Nothing here opens, sleeps or parses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a conversation: who speaks, and the text."""

    role: Role
    text: str


Messages = tuple[Message, ...]


def question(system: str, user: str) -> Messages:
    """A conversation of one question; an empty ``system`` is left out."""
    asked = Message("user", user)
    return (Message("system", system), asked) if system else (asked,)


class Outcome(StrEnum):
    """How an attempt ended. Only ``answered`` feeds a score."""

    ANSWERED = "answered"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FILTERED = "filtered"
    RECITATION = "recitation"
    EMPTY = "empty"
    MALFORMED = "malformed"
    FAILED = "failed"
    OVERLOADED = "overloaded"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    THROTTLED = "throttled"
    QUOTA = "quota"
    REJECTED = "rejected"


PAID_FOR = frozenset(
    {
        Outcome.ANSWERED,
        Outcome.REFUSED,
        Outcome.TRUNCATED,
        Outcome.FILTERED,
        Outcome.RECITATION,
        Outcome.EMPTY,
    }
)
"""Outcomes of a well-formed model reply: a resumed run takes these from the cache."""

NO_WORK = frozenset({Outcome.THROTTLED, Outcome.REJECTED, Outcome.OVERLOADED, Outcome.QUOTA, Outcome.FAILED})
"""An HTTP reply of these kinds means that no tokens were worked on, so it costs nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One account at one address. Its ``pool`` names the limits that it shares with other endpoints.

    ``api_key_header`` is the header of the key where it is not the dialect's; without ``proxy`` no proxy of the
    environment is used.
    """

    name: str
    dialect: str
    base_url: str
    identity: str
    pool: str
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    api_key_header: str | None = None
    proxy: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """One request, complete: ``key`` digests everything that reaches the wire, and the repeat index."""

    key: str
    endpoint: str
    path: str
    body: bytes
    model: str
    benchmark: str
    molecule: str
    condition: str
    effort: str
    repeat: int
    input_tokens: int
    output_tokens: int
    timeout_s: float

    @property
    def cell(self) -> tuple[str, str, str, str]:
        """The cell of the contamination map to which the answer belongs."""
        return self.model, self.benchmark, self.condition, self.effort


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP reply as it came: header names in lower case, body undecoded."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class TransportFailure:
    """No HTTP reply that can be used. ``sent`` is False only when it is certain that the provider saw nothing.

    ``message`` says it in a sentence, ``size`` is that of a reply in bytes which was not kept.
    """

    outcome: Outcome
    reason: str
    sent: bool
    message: str | None = field(default=None, compare=False)
    size: int | None = field(default=None, compare=False)
    retryable: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens by one vocabulary: input with cached, output with reasoning. None is unknown, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a response means.

    ``reason`` is the provider's own word for anything that is not a plain answer (error code, finish reason),
    ``message`` its sentence (at most 500 characters), ``finish`` the normal form of the finish value,
    ``retry_after_s`` the wait that the server asked for, ``flags`` oddities such as ``cap_not_enforced``.
    """

    outcome: Outcome
    text: str | None = None
    reasoning: str | None = None
    finish: str | None = None
    usage: Usage = field(default_factory=Usage)
    returned_model: str | None = None
    provider: str | None = None
    reason: str | None = None
    message: str | None = None
    retryable: bool = False
    retry_after_s: float | None = None
    flags: tuple[str, ...] = ()
