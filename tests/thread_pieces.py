"""Kernels made to share out even little work, for tests that threads change no bit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from molaudit.kernels.machine import threads


@contextmanager
def in_pieces() -> Iterator[None]:
    """Let all work be cut into pieces for three threads, however small it is."""
    with mock.patch.object(threads, "_PIECE", 1), threads.limited(3):
        yield
