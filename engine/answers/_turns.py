"""Text that runs on: the model asks itself the next question, or writes the next sample of its prompt."""

from __future__ import annotations

import re

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


def next_sample(text: str) -> int | None:
    """Where a new sample of a few-shot prompt may begin."""
    begin = len(text) - len(text.lstrip())
    match = _NEXT_SAMPLE.search(text, begin + 1)
    return match.start() if match else None


def next_turn(text: str) -> int | None:
    """Where the model starts a new question or turn by itself; one at the very beginning is an echo."""
    begin = len(text) - len(text.lstrip())
    match = _NEXT_TURN.search(text, begin + 1)
    return match.start() if match else None
