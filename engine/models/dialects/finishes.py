"""Finish words of all dialects in one vocabulary.

Gateways pass on the words of the API behind them, so one table serves all dialects. Where a word is not in it, what
it contains decides: a broken-off text must not pass for an answer because a provider has a new word for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_STOP = """stop stop_sequence stop_token eos eos_token eos_found end_turn end end_of_turn complete completed finished
done natural"""
_LENGTH = """length model_length max_length max_tokens max_output_tokens max_completion_tokens max_new_tokens
token_limit length_limit length_capped context_length model_context_window_exceeded context_window_exceeded"""
_FILTER = """content_filter content_filtered filtered safety recitation blocklist blocked prohibited_content spii
language sensitive model_armor jailbreak moderation guardrail guardrail_intervened error_toxic risk_control"""
_REFUSAL = "refusal refused"
_TOOLS = "tool_calls tool_call tool_use function_call pause_turn"
_BROKEN = """error failed failure abort aborted cancel cancelled canceled timeout network_error incomplete interrupted
insufficient_system_resource disconnected other malformed_function_call malformed_response unexpected_tool_call
too_many_tool_calls preempted overloaded unavailable"""
_UNSAID = "finish_reason_unspecified unspecified null none unknown"

_WORDS = {
    word: meant
    for meant, words in (
        ("stop", _STOP),
        ("length", _LENGTH),
        ("content_filter", _FILTER),
        ("refusal", _REFUSAL),
        ("tool_calls", _TOOLS),
        ("error", _BROKEN),
        ("unknown", _UNSAID),
    )
    for word in words.split()
}

# Looked for within a word that the table does not have; the first that is found decides.
_WITHIN = (
    (re.compile(r"content_filter|recitation|prohibited|block_?list|sensitive|guardrail|moderat|safety|image_"),
     "content_filter"),
    (re.compile(r"abort|cancel|error|time_?d?_?out|interrupt|incomplete|disconnect|broken|fail|crash|unavailable"),
     "error"),
    (re.compile(r"max_\w*(?:tokens|length)|token_limit|length_limit"), "length"),
)  # fmt: skip


def word_of(raw: object) -> str | None:
    """The finish word as the provider wrote it; SGLang puts it into an object beside what matched."""
    if isinstance(raw, dict):
        raw = raw.get("type")
    return raw if isinstance(raw, str) and raw.strip() else None


@lru_cache(maxsize=256)
def normal(word: str | None) -> str:
    """A finish word in the common vocabulary: stop, length, content_filter, refusal, tool_calls, error or unknown."""
    if word is None:
        return "unknown"
    plain = re.sub(r"[\s:.-]+", "_", word.strip().lower()).removeprefix("finishreason_")
    if plain not in _WORDS:
        plain = plain.removeprefix("finish_reason_")
    known = _WORDS.get(plain)
    if known is not None:
        return known
    return next((meant for pattern, meant in _WITHIN if pattern.search(plain)), "unknown")


@lru_cache(maxsize=256)
def is_new(word: str | None) -> bool:
    """Whether a word was given that nothing here knows: the text counts if it is whole, and is flagged."""
    return word is not None and normal(word) == "unknown" and word.strip().lower() not in _UNSAID.split()
