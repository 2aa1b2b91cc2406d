"""The dialects by name, and what is fixed for each: paths, key headers, meaning-changing headers, limit fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from molaudit.engine.errors import SettingsError

from ..records import Decoded, Response
from . import anthropic, gemini, openai_chat, openai_responses
from .common import Body, Request


class Encode(Protocol):
    """A request to a path (relative to the base URL) and a body."""

    def __call__(self, request: Request, /) -> tuple[str, Body]: ...


class Decode(Protocol):
    """A response to its meaning; total: any bytes, any JSON."""

    def __call__(
        self, response: Response, /, *, max_output_tokens: int, now: float | None = None
    ) -> Decoded: ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wire format.

    ``limit_fields`` are the names that cap the output at the place where the dialect puts its own; the first
    is its default. ``headers`` change the meaning of a call, so they are part of its key; key headers are not.
    """

    name: str
    encode: Encode
    decode: Decode
    version: str
    operations: tuple[str, ...]
    limit_fields: tuple[str, ...]
    limit_in: str | None = None
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)


_ALL = (
    Dialect(
        "openai-chat",
        openai_chat.encode,
        openai_chat.decode,
        version="v1",
        operations=("/chat/completions", "/completions", "/models"),
        limit_fields=("max_tokens", "max_completion_tokens"),
    ),
    Dialect(
        "openai-responses",
        openai_responses.encode,
        openai_responses.decode,
        version="v1",
        operations=("/responses", "/models"),
        limit_fields=("max_output_tokens",),
    ),
    Dialect(
        "anthropic",
        anthropic.encode,
        anthropic.decode,
        version="v1",
        operations=("/messages", "/models"),
        limit_fields=("max_tokens",),
        key_header="x-api-key",
        key_prefix="",
        headers={"anthropic-version": "2023-06-01"},
    ),
    Dialect(
        "gemini",
        gemini.encode,
        gemini.decode,
        version="v1beta",
        operations=("/models",),
        limit_fields=("maxOutputTokens",),
        limit_in="generationConfig",
        key_header="x-goog-api-key",
        key_prefix="",
    ),
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType({one.name: one for one in _ALL})


def dialect(name: str) -> Dialect:
    """The dialect of that name.

    Raises
    ------
    SettingsError
        For another name; the message lists the known ones.
    """
    try:
        return DIALECTS[name]
    except KeyError:
        raise SettingsError(f"unknown dialect {name!r}; allowed: {', '.join(DIALECTS)}") from None


def auth_headers(name: str, key: str | None) -> dict[str, str]:
    """The header that carries the key. Only the transport asks for it, and it is never part of a call's key."""
    one = dialect(name)
    return {one.key_header: one.key_prefix + key} if key else {}
