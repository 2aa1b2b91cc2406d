"""The identity of a call: everything that goes on the wire, as canonical JSON, and its digest.

The preimage is derived from what is sent, never from a list of settings, so a new setting cannot be forgotten: if it
reaches the wire it is in the body, and the body is in the key. What only concerns the transport (key, timeouts,
concurrency, limits, proxies) is not an argument of anything here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from .errors import SettingsError
from .models.dialects.common import Request
from .models.dialects.registry import dialect
from .models.records import Call, Endpoint

SCHEMA = 1
"""The version of the preimage; a change of its meaning must change the keys."""

_SYSTEM, _USER = "@@molaudit-system@@", "@@molaudit-user@@"


def canonical(value: object) -> bytes:
    """JSON with sorted keys, no spaces, no escapes but the necessary ones, in UTF-8.

    Raises
    ------
    SettingsError
        For what JSON cannot say: NaN, infinities, dates, lone surrogates, keys that are no text.
    """
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (ValueError, TypeError) as error:
        raise SettingsError(f"a request body must be JSON: {error}") from error


def digest(preimage: bytes) -> str:
    """The key of a call: 32 hexadecimal digits of its preimage."""
    return blake2b(preimage, digest_size=16).hexdigest()


def preimage(call: Call, endpoint: Endpoint) -> bytes:
    """All that the key of a call digests, as canonical JSON: to be stored, compared and shown."""
    return b'{"body":' + call.body + preimage_tail(endpoint, call.path, call.repeat)


def preimage_tail(endpoint: Endpoint, path: str, repeat: int) -> bytes:
    """The preimage from behind the body on: "body" sorts before every other name, so the rest is shared by calls."""
    rest = canonical(
        {
            "dialect": endpoint.dialect,
            "endpoint": endpoint.identity,
            "headers": dict(endpoint.headers),
            "method": "POST",
            "path": path,
            "repeat": repeat,
            "schema": SCHEMA,
        }
    )
    return b"," + rest[1:]


def quoted(text: str) -> bytes:
    """A text as it stands in canonical JSON."""
    return canonical(text)


class Template:
    """The body of one (model, effort) with the two texts left out: bytes are joined instead of encoded.

    It gives the bytes of the slow way, `canonical(dialect.encode(...))`, at a fraction of its time.
    """

    __slots__ = ("_encode", "_parts", "_request", "path")

    def __init__(self, dialect_name: str, request: Request) -> None:
        self._encode = dialect(dialect_name).encode
        self._request = request
        self._parts: dict[bool, tuple[tuple[bytes, ...], bool] | None] = {}
        self.path = self._encode(request)[0]

    def body(self, system: bytes, user: bytes) -> bytes:
        """The canonical body for two texts, each as `quoted` gives it."""
        has_system = system != b'""'
        if has_system not in self._parts:
            self._parts[has_system] = self._split(has_system)
        known = self._parts[has_system]
        if known is None:
            return self._slow(json.loads(system), json.loads(user))
        parts, system_first = known
        if not has_system:
            return parts[0] + user + parts[1]
        first, second = (system, user) if system_first else (user, system)
        return parts[0] + first + parts[1] + second + parts[2]

    def _slow(self, system: str, user: str) -> bytes:
        return canonical(self._encode(replace(self._request, system=system, user=user))[1])

    def _split(self, has_system: bool) -> tuple[tuple[bytes, ...], bool] | None:
        """The bytes around the texts; None if extra_body changes the prompt, so that they cannot be told apart."""
        pattern = self._slow(_SYSTEM if has_system else "", _USER)
        marks = [quoted(_USER)] + ([quoted(_SYSTEM)] if has_system else [])
        if any(pattern.count(mark) != 1 for mark in marks):
            return None
        marks.sort(key=pattern.index)
        parts: list[bytes] = []
        for mark in marks:
            before, _, pattern = pattern.partition(mark)
            parts.append(before)
        return (*parts, pattern), marks[0] == quoted(_SYSTEM)


def body_of(call: Call) -> Mapping[str, Any]:
    """The body of a call, decoded."""
    body: Mapping[str, Any] = json.loads(call.body)
    return body
