"""Searches of a whole text by way of its candidates: an expensive pattern is tried only near a literal that it needs.

A pattern of alternatives in any case costs 50 to 300 ns a character; to find a literal costs less than one. So each
such pattern names the stems one of which every match contains, and how far a match reaches to either side of it.
`whole_text` searches everything instead: slower, and by definition right; tests and the bench compare with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

_SHORT = 60
"""Characters. A shorter text is searched at once, for to look for each stem would take longer."""

_MOST_HITS = 400
"""Where a stem is found more often, the whole text is searched at once: windows would cover it anyway."""


class _Mode:
    whole = False


@contextmanager
def whole_text() -> Iterator[None]:
    """Search whole texts, without looking for candidates first."""
    _Mode.whole = True
    try:
        yield
    finally:
        _Mode.whole = False


def is_whole() -> bool:
    """Whether whole texts are searched."""
    return _Mode.whole


def lowered(text: str) -> str:
    """The text in lower case, as `Anchored` takes it: position by position, as patterns without case see it."""
    low = text.lower()
    if not text.isascii():
        # The only letters outside ASCII that match one of ASCII where case is ignored.
        low = low.replace("\u017f", "s").replace("\u212a", "k").replace("\u0131", "i")
        if len(low) != len(text):
            low = "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)
    return low


class Anchored(NamedTuple):
    """A pattern and the stems (in lower case) one of which every match contains.

    ``before`` and ``after`` are how far a match reaches from its stem; without ``before`` every match begins with it.
    """

    pattern: re.Pattern[str]
    stems: tuple[str, ...]
    before: int | None = None
    after: int = 250

    def finditer(self, text: str, low: str, start: int = 0) -> Iterator[re.Match[str]]:
        """As ``pattern.finditer(text, start)``; ``low`` is `lowered` of the text."""
        if _Mode.whole or len(text) < _SHORT:
            return self.pattern.finditer(text, start)
        hits = self._hits(low, start)
        if hits is None:
            return self.pattern.finditer(text, start)
        return self._at(text, hits, start) if self.before is None else self._around(text, hits, start)

    def search(self, text: str, low: str, start: int = 0) -> re.Match[str] | None:
        """As ``pattern.search(text, start)``."""
        return next(self.finditer(text, low, start), None)

    def _hits(self, low: str, start: int) -> list[int] | None:
        """Where the stems are found, in order; None: so often that the text is better searched at once."""
        hits: list[int] = []
        find = low.find
        for stem in self.stems:
            at = find(stem, start)
            while at >= 0:
                hits.append(at)
                if len(hits) > _MOST_HITS:
                    return None
                at = find(stem, at + 1)
        if len(hits) > 1:
            hits.sort()
        return hits

    def _at(self, text: str, hits: list[int], position: int) -> Iterator[re.Match[str]]:
        match_at = self.pattern.match
        for at in hits:
            if at >= position and (match := match_at(text, at)):
                yield match
                position = match.end()

    def _around(self, text: str, hits: list[int], position: int) -> Iterator[re.Match[str]]:
        before = self.before or 0
        regions: list[tuple[int, int]] = []
        for at in hits:
            begin, end = max(position, at - before), at + self.after
            if regions and begin <= regions[-1][1]:
                regions[-1] = regions[-1][0], end
            else:
                regions.append((begin, end))
        for begin, end in regions:
            for match in self.pattern.finditer(text, max(begin, position), end):
                yield match
                position = match.end()


def starting(pattern: re.Pattern[str], text: str, firsts: str) -> Iterator[re.Match[str]]:
    """As ``pattern.finditer(text)``, where every match begins with one of some rare characters."""
    if _Mode.whole or len(text) < _SHORT or sum(map(text.count, firsts)) > _MOST_HITS:
        yield from pattern.finditer(text)
        return
    position = 0
    for at in sorted(place for first in firsts for place in _places(text, first)):
        if at >= position and (match := pattern.match(text, at)):
            yield match
            position = match.end()


def substituted(
    pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str, firsts: str
) -> str:
    """As ``pattern.sub(replace, text)``, where every match begins with one of some rare characters."""
    parts: list[str] = []
    position = 0
    for match in starting(pattern, text, firsts):
        parts += text[position : match.start()], replace(match)
        position = match.end()
    return "".join((*parts, text[position:])) if parts else text


def _places(text: str, char: str) -> Iterator[int]:
    at = text.find(char)
    while at >= 0:
        yield at
        at = text.find(char, at + 1)
