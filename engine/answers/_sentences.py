"""A text by sentences: what stands behind a marker, up to where its sentence ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

# ends of a sentence
_SENTENCE_END = re.compile(r"\n|[.!?]['\")]?\s+(?=[A-Z\"'(])|(?<=\d)\.\s+(?=[-+\d])|[.!?]\s*+$|;\s")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch behind a marker (which begins at ``marker``): its sentence, and where the reply goes on."""

    start: int
    end: int
    rest: int
    marker: int = 0


class Sentences:
    """A text by sentences: where each ends is looked up when it is asked."""

    def __init__(self, normal: str, low: str) -> None:
        self.normal = normal
        self.low = low
        self._known = (0, -1, (0, 0))

    def after(self, start: int, marker: int = 0) -> Span:
        """The sentence from a position on; where the rest of the line is empty, that of the next line with text."""
        normal = self.normal
        while start < len(normal) and normal[start] in " \n|":
            start += 1
        end, rest = self._end(start)
        return Span(start, end, rest, marker)

    def _end(self, start: int) -> tuple[int, int]:
        """Where the sentence that holds a position ends, and where the next begins."""
        # The last look-up is remembered: markers come in the order of the text.
        first, last, known = self._known
        if first <= start <= last:
            return known
        match = _SENTENCE_END.search(self.normal, start)
        found = (match.start(), match.end()) if match else (len(self.normal), len(self.normal))
        self._known = start, found[0], found
        return found
