"""Text that runs on: the model asks itself the next question, or writes the next sample of its prompt."""

from __future__ import annotations

import re

from ._search import is_whole

# A new turn or question that the model wrote itself.
_NEXT_TURN = re.compile(
    r"(?m)^[ \t]{0,4}(?:#{1,6} ?|\*\*)?(?:Question|Q|User|Human|Problem|Input|Prompt|Instruction|Exercise)"
    r"(?: ?\d{1,4})?(?:\*\*)?[ \t]?[:：]|<\|(?:im_start|endoftext|eot_id|start_header_id|user)\|>|\[INST\]"
    r"|(?<=\S)[ \t]+(?:Question|User|Human)[:：]",
    re.I,
)

# A new sample in the style of the prompt: weaker, for an answer may also begin by naming its molecule.
_NEXT_SAMPLE = re.compile(
    r"(?m)^[ \t]{0,4}(?:SMILES|Molecule|Compound|Structure)(?: ?\d{1,4})?[ \t]?[:：]", re.I
)


# What stands right before the colon of either, in lower case.
_TURNS = ("question", "q", "user", "human", "problem", "input", "prompt", "instruction", "exercise")
_SAMPLES = ("smiles", "molecule", "compound", "structure")


def next_sample(text: str) -> int | None:
    """Where a new sample of a few-shot prompt may begin."""
    return _first(_NEXT_SAMPLE, text, _SAMPLES, ())


def next_turn(text: str) -> int | None:
    """Where the model starts a new question or turn by itself; one at the very beginning is an echo."""
    return _first(_NEXT_TURN, text, _TURNS, ("<|", "[INST]", "[inst]"))


def _first(pattern: re.Pattern[str], text: str, words: tuple[str, ...], marks: tuple[str, ...]) -> int | None:
    """Where a pattern first matches behind the first visible character, if any of its words stands before a colon."""
    if not (is_whole() or any(mark in text for mark in marks) or _has_label(text, words)):
        return None
    begin = len(text) - len(text.lstrip())
    match = pattern.search(text, begin + 1)
    return match.start() if match else None


def _has_label(text: str, words: tuple[str, ...]) -> bool:
    for colon in ":：":
        at = text.find(colon)
        while at >= 0:
            if text[max(0, at - 30) : at].rstrip("0123456789* \t").casefold().endswith(words):
                return True
            at = text.find(colon, at + 1)
    return False
