"""Reasoning blocks are parted from the answer by one function, for the wire and for the reader of text alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.engine.answers.numbers import parse_number
from molaudit.engine.answers.reasoning import split_reasoning
from molaudit.engine.models.dialects.reading import Reply, settle
from molaudit.engine.models.records import Outcome

SPELLINGS = {
    "think": ("<think>", "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "capitals": ("<THINK>", "</THINK>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "seed": ("<seed:think>", "</seed:think>"),
    "kimi": ("◁think▷", "◁/think▷"),
    "magistral": ("[THINK]", "[/THINK]"),
    "tokens": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "gpt-oss": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_answer_follows_the_last_block_on_the_wire_and_in_a_table(spelling: str) -> None:
    opened, closed = SPELLINGS[spelling]
    reply = f"{opened}maybe 1.5 or 2.5{closed}\n-3.05"
    parted = split_reasoning(reply)
    assert (parted.visible.strip(), parted.thought, parted.cut) == ("-3.05", True, False)
    assert "maybe 1.5 or 2.5" in parted.reasoning
    assert opened not in parted.reasoning
    assert parse_number(reply).digits == "-3.05"
    decoded = settle(Reply(text=reply, finish="stop"), 1000)
    assert (decoded.outcome, decoded.text) == (Outcome.ANSWERED, "-3.05")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_block_that_never_closes_is_a_truncated_reply(spelling: str) -> None:
    reply = f"{SPELLINGS[spelling][0]}it is -2.1"
    assert split_reasoning(reply).cut
    assert parse_number(reply).kind == "truncated"
    assert settle(Reply(text=reply, finish="stop"), 1000).outcome is Outcome.TRUNCATED


@settings(deadline=None, max_examples=200)
@given(st.text("<[|>think/ ab1", max_size=60))
def test_a_text_without_a_tag_is_left_alone(text: str) -> None:
    parted = split_reasoning(text)
    if not parted.thought:
        assert parted.visible == text
        assert parted.reasoning == ""
