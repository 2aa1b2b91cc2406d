"""Tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GENERATED = (
    "<!-- Written by `python -m molaudit.engine.reference` from the definitions in the code; do not edit. -->"
)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar within a cell stays one cell."""
    lines = [heads, ["---"] * len(heads), *rows]
    escaped = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def capital(text: str) -> str:
    """The text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]
