"""Why calls failed: each sentence of a provider once, with the number of calls that it ended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MOST = 200
_NAMES = re.compile(r"[0-9a-f][0-9a-f-]{7,}|\d[\d.,]*", re.IGNORECASE)
"""Numbers and identifiers in a sentence: two sentences that differ in them alone say one thing."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A way to fail: the sentence (or word) as it was first said, and how many calls ended so."""

    outcome: str
    http_status: int | None
    words: str
    calls: int

    def __str__(self) -> str:
        status = "" if self.http_status is None else f", HTTP {self.http_status}"
        calls = "1 call" if self.calls == 1 else f"{self.calls} calls"
        return f"{calls} ({self.outcome}{status}): {self.words}"


class Causes:
    """Counts causes; holds at most 200, and the rest under one name."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, int | None, str], str] = {}
        self._calls: dict[tuple[str, int | None, str], int] = {}

    def add(self, outcome: str, http_status: int | None, words: str, calls: int = 1) -> None:
        """Count calls that ended so."""
        key = (outcome, http_status, _NAMES.sub("#", words))
        if key not in self._first and len(self._first) >= _MOST:
            key, words = (outcome, None, ""), "other causes"
        self._first.setdefault(key, words)
        self._calls[key] = self._calls.get(key, 0) + calls

    def listed(self) -> tuple[Cause, ...]:
        """All causes, the most frequent first."""
        found = [Cause(key[0], key[1], words, self._calls[key]) for key, words in self._first.items()]
        return tuple(sorted(found, key=lambda one: -one.calls))


def count(rows: Iterable[tuple[str, int | None, str | None, str | None]]) -> tuple[Cause, ...]:
    """The causes of rows of outcome, HTTP status, reason and message."""
    causes = Causes()
    for outcome, status, reason, message in rows:
        causes.add(outcome, status, message or reason or outcome)
    return causes.listed()
