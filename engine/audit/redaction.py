"""Keys kept out of everything that is stored, shown or logged: a provider may send a key back in a reply."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from ..models.records import Call, Response, TransportFailure

MASK = "[key]"
SHORTEST = 8
"""Keys shorter than this guard nothing, and stand-ins such as ``EMPTY`` or ``1`` occur in ordinary replies."""

_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])|\\(/)")
"""JSON's spellings of a character that a key may have; quote and backslash must stay as they are."""

_KEPT = (b"22", b"5c", b"5C")

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
                body = self.body(result.body)
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
