"""Where the text of a reply stands: contents as a text, as parts of several spellings, or nowhere that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ANSWER_TYPES = (None, "text", "output_text")

# What a message may hold beside its text: that something stands there says nothing of a text missed.
_WITHOUT_TEXT = """
    role name id type object status phase index annotations audio tool_calls function_call refusal reasoning
    reasoning_content reasoning_details reasoning_text thinking citations images metadata provider_specific_fields
    thinking_blocks stop_reason matched_stop token_ids prefix thoughtsignature"""
_BESIDE = frozenset(_WITHOUT_TEXT.split())


def text_of(content: object) -> str | None:
    """The answer's text in a content field; None where the field holds none in a known form.

    A content is a text, a part, or a list of both. Parts that are reasoning, refusals or tools are passed over.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _part(content)
    if not isinstance(content, list):
        return None
    found = [text for part in content if (text := part if isinstance(part, str) else _part(part)) is not None]
    return "".join(found) if found else None


def _part(part: object) -> str | None:
    if not isinstance(part, dict) or part.get("type") not in _ANSWER_TYPES or part.get("thought") is True:
        return None
    text = part.get("text")
    if isinstance(text, dict):
        text = text.get("value")
    return text if isinstance(text, str) else None


def unread_keys(place: str, *held: Mapping[str, Any]) -> str | None:
    """What stands where a text was looked for and none was found; None if nothing does, so that it is empty."""
    found = [
        name
        for one in held
        for name, value in one.items()
        if str(name).lower() not in _BESIDE and isinstance(value, str | list | dict) and value
    ]
    return f"no text found; {place} holds: {', '.join(map(str, found))}" if found else None
