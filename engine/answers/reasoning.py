"""What is shown to the user, as against what was thought: the one place that knows reasoning blocks.

The answer of a reasoning model is what follows the last closing tag; the opening tag may be missing, because
chat templates put it into the prompt. An opened block that never closes was cut off: it holds no answer.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from ._search import starting

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
_STARTS = "<[◁"
# gpt-oss with its special tokens removed by a tokenizer
_BARE_CHANNELS = re.compile(r"\s{0,8}analysis(?=[A-Z])")
_BARE_FINAL = "assistantfinal"

_END = re.compile(r"<\|(?:return|end|im_end|eot_id|endoftext)\|>\s*+$")


@dataclass(frozen=True, slots=True)
class Parted:
    """A reply in its two parts.

    Attributes
    ----------
    visible : str
        What was meant for the reader, as it stands after the last block of reasoning.
    tagged : tuple of str
        What was thought, tags and all, in pieces.
    thought : bool
        Whether there was a block of reasoning, be it an empty one.
    cut : bool
        The reasoning was never closed: the reply was broken off and ``visible`` (what stood before) is no answer.
    """

    visible: str
    tagged: tuple[str, ...] = ()
    thought: bool = False
    cut: bool = False

    @property
    def reasoning(self) -> str:
        """What was thought, without its tags; empty where nothing was."""
        return "".join(_OPENING.sub("", _CLOSING.sub("", piece)).strip() for piece in self.tagged)


def split_reasoning(text: str) -> Parted:
    """Part inline reasoning from the answer, in every spelling that models are known to use.

    >>> split_reasoning("<think>about -2</think>-1.94").visible
    '-1.94'
    >>> split_reasoning("<think>about -2, or").cut
    True
    """
    closing = deque(starting(_CLOSING, text, _STARTS), maxlen=1)
    visible = text
    tagged: tuple[str, ...] = ()
    thought = False
    if closing:
        visible, tagged, thought = text[closing[0].end() :], (text[: closing[0].start()],), True
    elif _BARE_CHANNELS.match(text):
        before, found, visible = text.rpartition(_BARE_FINAL)
        if not found:
            return Parted("", (text,), True, True)
        tagged, thought = (before,), True
    opening = next(starting(_OPENING, visible, _STARTS), None)
    if opening is not None:
        return Parted(visible[: opening.start()], (*tagged, visible[opening.end() :]), True, True)
    return Parted(_END.sub("", visible) if visible.rstrip().endswith("|>") else visible, tagged, thought)
