"""Standard output that outlives its reader: a closed terminal or pipe must not end a run that is paid for."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, Any, cast

from rich.console import Console


class _Lasting:
    """A text stream that goes silent when it can no longer be written."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._silence()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._silence()

    def _silence(self) -> None:
        # What the stream still holds would fail again when the interpreter ends: it goes nowhere instead. A stream
        # without a descriptor (a notebook's) holds nothing back.
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


def lasting_console() -> Console:
    """Return a console on standard output for commands that make calls."""
    return Console(file=cast("IO[str]", _Lasting(sys.stdout)))
