"""What is shown to the user, as against what was thought: reasoning blocks, and text that runs on.

The answer of a reasoning model is what follows the last closing tag; the opening tag may be missing, because
chat templates put it into the prompt. An opened block that never closes was cut off: it holds no answer.
"""

from __future__ import annotations

import re
from collections import deque

# Reasoning blocks, each as models write it: Qwen and DeepSeek, Kimi, Seed, Magistral, gpt-oss, Gemma, Granite.
_NAMES = r"(?:seed:|longcat_)?(?:think|thinking|reasoning|thoughts?|thought_process|analysis|scratchpad|reflection)"
_CLOSING = re.compile(
    rf"</\s?{_NAMES}\s?>|◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|/think\|>|<channel\|>"
    r"|<\|channel\|>\s?final\s?(?:<\|constrain\|>\w{0,20}\s?)?<\|message\|>",
    re.I,
)
_OPENING = re.compile(
    rf"<{_NAMES}(?:\s[^<>]{{0,80}})?>|◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|think\|>|<\|channel>"
    r"|<\|channel\|>\s?(?:analysis|commentary)",
    re.I,
)
# gpt-oss with its special tokens removed by a tokenizer
_BARE_CHANNELS = re.compile(r"\s{0,8}analysis(?=[A-Z])")
_BARE_FINAL = "assistantfinal"

_END = re.compile(r"<\|(?:return|end|im_end|eot_id|endoftext)\|>\s*+$")

# A new turn or question that the model wrote itself.
_NEXT_TURN = re.compile(
    r"(?m)^[ \t]{0,4}(?:#{1,6} ?|\*\*)?(?:Question|Q|User|Human|Problem|Input|Prompt|Instruction|Exercise)"
    r"(?: ?\d{1,4})?(?:\*\*)?[ \t]?[:：]|<\|(?:im_start|endoftext|eot_id|start_header_id|user)\|>|\[INST\]"
    r"|(?<=\S)[ \t]+(?:Question|User|Human)[:：]",
    re.I,
)


def split_reasoning(text: str) -> tuple[str, bool, bool]:
    """The visible part of a reply.

    Returns
    -------
    tuple of str, bool, bool
        The visible text; whether there was reasoning; whether it was cut off, which leaves no visible text.
    """
    visible, thought = text, False
    closings = deque(_CLOSING.finditer(text), maxlen=1)
    if closings:
        visible, thought = text[closings[0].end() :], True
    elif _BARE_CHANNELS.match(text):
        _, found, visible = text.rpartition(_BARE_FINAL)
        if not found:
            return "", True, True
        thought = True
    if _OPENING.search(visible):
        return "", True, True
    return _END.sub("", visible), thought, False


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
