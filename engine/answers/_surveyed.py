"""The numbers of a text with what stands beside them, found once: every mask need only look where it may match."""

from __future__ import annotations

import re

from ._characters import GROUP_SPACE
from ._search import lowered

NAMED_ENDS = (
    "molecule", "molecules", "compound", "compounds", "sample", "samples", "example", "examples", "entry",
    "step", "steps", "ref", "refs", "ref.", "refs.", "reference", "references", "option", "options", "question",
    "problem", "case", "no.", "nr", "nr.", "number", "chapter", "page", "p.", "pp.", "p", "pp", "rule of",
    "part", "item", "method", "group", "position", "isomer", "model", "line", "analog", "analogue",
)  # fmt: skip
NUMBERED_ENDS = (
    "table", "tables", "fig", "figure", "fig.", "eq", "eqs", "eq.", "eqs.", "equation", "equations", "section",
    "vol", "vol.", "version", "versions", "ver", "ver.", "v", "v.", "gpt", "claude", "llama", "gemini", "qwen",
    "phi", "grok", "rdkit",
)  # fmt: skip
IDENTIFIED_ENDS = ("cid", "chembl", "id", "cas", "pubchem", "chebi", "zinc")
_BETWEEN = " \n#(:=-~≈" + GROUP_SPACE

_ENDS = ("ph", "ph of", "ph is", *NAMED_ENDS, *NUMBERED_ENDS, *IDENTIFIED_ENDS)
_SECOND_WORDS = ("of", "is")
_TWO_WORDS = ("rule of", "ph of", "ph is")
KNOWN_ENDS = frozenset(_ENDS)

RUN = re.compile("[0-9]+")
_NUMBER = re.compile(r"[0-9]+(?:\.([0-9]+))?")
FILL = "W"
_USUAL = frozenset((" ", "\n", ".", GROUP_SPACE, ""))
"""What stands behind most numbers; these are not sorted by it."""


class Surveyed:
    """A text under the mask, and what stands beside its runs of digits."""

    def __init__(self, normal: str) -> None:
        self.normal = normal
        self.low = lowered(normal)
        self.by_next: dict[str, list[int]] = {}
        self.words: list[tuple[str, int, int]] = []
        self.dotted: list[int] = []
        self.listed: list[int] = []
        self.glued: list[int] = []
        self.empty = True
        self._survey()

    def _survey(self) -> None:
        """Sort the starts of the runs by the character behind them and by what stands before them."""
        normal, low, by_next = self.normal, self.low, self.by_next
        bracketed = "[" in normal
        for number in _NUMBER.finditer(normal):
            start, end = number.span()
            behind = normal[end : end + 2]
            if behind[:1] not in _USUAL:
                run = number.start(1) if number.start(1) > 0 else start
                by_next.setdefault(behind[:1], []).append(run)
            elif behind[:1] == "." and behind[1:].isdigit():
                self.dotted.append(start)
            if end - start <= 2 and behind in (". ", ") "):
                self.listed.append(start)
            base = start - 22 if start > 22 else 0
            tail = low[base:start].rstrip(_BETWEEN)
            word = tail[tail.rfind(" ") + 1 :]
            if word in _SECOND_WORDS:
                if tail.endswith(_TWO_WORDS):
                    self.words.append((tail, base, start))
            elif word in KNOWN_ENDS or (not word.isalpha() and word.endswith(_ENDS)):
                self.words.append((word, base + len(tail) - len(word), start))
            before = normal[start - 1] if start else " "
            # A ring digit of a structure stands behind an atom, or a bond behind one; or within brackets.
            if before not in " \n.," and (
                bracketed or before not in "-(~=+" or normal[start - 2] not in " \n"
            ):
                self.glued.append(start)
            self.empty = False


def blanked(text: str) -> str:
    return RUN.sub(lambda match: FILL * len(match[0]), text)
