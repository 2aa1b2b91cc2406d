"""Keys kept out of everything that is stored, shown or logged: a provider may send a key back in a reply."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from ..models.outcomes import SECRET
from ..models.records import Call, Response, TransportFailure

MASK = "[key]"
SHORTEST = 8
"""Keys shorter than this guard nothing, and stand-ins such as ``EMPTY`` or ``1`` occur in ordinary replies."""

_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])|\\(/)")
"""JSON's spellings of a character that a key may have; quote and backslash must stay as they are."""

_KEPT = (b"22", b"5c", b"5C")

_ELIDED = re.compile(
    rb"([\w-]{0,40})(?:\*{2,}|\.{3,}|\\u2026|\xe2\x80\xa6|(?:\xe2\x80\xa2){2,})([\w-]{0,40})"
)
"""A text that was shortened in its middle, as providers quote keys: ``sk-ab****yz``."""

_SHOWN = 3
"""Characters of a key, at its two ends together, that make a shortened text one of it."""

_START = 4096
"""Bytes at the beginning of a reply in which an error within a success stands."""

_HAS_ERROR = re.compile(rb'"error"\s*:\s*(?!null|\s)')

_WORD = re.compile(rb"[\w-]{8,}")

Send = Callable[[Call], Awaitable[Response | TransportFailure]]


class Redactor:
    """Replaces the keys of a run by `MASK`. It holds them, so it shows nothing of itself."""

    def __init__(self, keys: Iterable[str]) -> None:
        longest_first = sorted({key for key in keys if len(key) >= SHORTEST}, key=len, reverse=True)
        self._keys = tuple((key, key.encode()) for key in longest_first)

    def __repr__(self) -> str:
        return f"<Redactor of {len(self._keys)}>"

    def text(self, text: str) -> str:
        """The text without keys."""
        for key, _ in self._keys:
            text = text.replace(key, MASK)
        return text

    def body(self, body: bytes) -> bytes:
        """The bytes of a reply without keys, in JSON's escapes too; the very object where there is none."""
        if not self._keys:
            return body
        found = self._masked(body)
        if b"\\u00" not in found and b"\\/" not in found:
            return found
        plain = _ESCAPED.sub(_unescaped, found)
        masked = self._masked(plain)
        return found if masked is plain else masked

    def error(self, body: bytes) -> bytes:
        """The bytes of an error without keys and without parts of them: its ends as providers quote them, pieces of
        eight characters or more, and what looks like another key."""
        found = _ELIDED.sub(self._elided, self.body(body))
        found = _WORD.sub(self._piece, found)
        return SECRET.sub(MASK.encode(), found)

    def _elided(self, found: re.Match[bytes]) -> bytes:
        head, tail = found[1], found[2]
        for _, key in self._keys:
            if len(head) + len(tail) >= _SHOWN and key.startswith(head) and key.endswith(tail):
                return MASK.encode()
        return found[0]

    def _piece(self, found: re.Match[bytes]) -> bytes:
        return MASK.encode() if any(found[0] in key for _, key in self._keys) else found[0]

    def tree(self, value: Any) -> Any:
        """A JSON value without keys in its texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.tree(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(one) for one in value]
        return value

    def guard(self, send: Send) -> Send:
        """Wrap ``send`` so that no reply brings a key in: decoder, journal and messages then see none."""

        async def guarded(call: Call) -> Response | TransportFailure:
            result = await send(call)
            if isinstance(result, Response):
                failed = result.status >= 400 or _HAS_ERROR.search(result.body, 0, _START) is not None
                body = self.error(result.body) if failed else self.body(result.body)
                if body is not result.body:
                    return replace(result, body=body)
            return result

        return guarded

    def watch_log(self) -> None:
        """Mask keys in what the handlers of the root logger write."""
        for handler in logging.getLogger().handlers:
            handler.setFormatter(_Masking(self, handler.formatter or logging.Formatter()))

    def _masked(self, body: bytes) -> bytes:
        for _, key in self._keys:
            if key in body:
                body = body.replace(key, MASK.encode())
        return body


class _Masking(logging.Formatter):
    """Formats as another formatter does, tracebacks included, and masks the keys in the outcome."""

    def __init__(self, redactor: Redactor, inner: logging.Formatter) -> None:
        super().__init__()
        self._redactor, self._inner = redactor, inner

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(self._inner.format(record))


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[2] is not None:
        return b"/"
    return found[0] if found[1] in _KEPT else bytes([int(found[1], 16)])
