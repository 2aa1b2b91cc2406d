"""What the dialects share: the request, and reading the fields of a body without trust.

Bodies are hostile: any field may be missing, null, or of another type, and none of that may raise. Hence the
readers `mapping`, `items`, `string` and `count`, which give the value where it has the type and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records import Message, Messages

Body = dict[str, Any]

MAX_COUNT = 10**12
"""More tokens than any reply has: a larger number is no count."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question, before a dialect puts it into a body.

    ``fragment`` is the wire fragment of an effort level, merged deep into the body; ``extra_body`` is merged after
    it and wins. ``temperature`` None is not sent. ``messages`` are the turns in order, system text first.
    """

    model: str
    messages: Messages
    max_output_tokens: int
    limit_field: str
    fragment: Mapping[str, Any] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    temperature: float | None = None


def parted(messages: Messages) -> tuple[str, list[Message]]:
    """The system text, and the turns behind it, for dialects that keep them in two places."""
    system = "\n\n".join(one.text for one in messages if one.role == "system")
    return system, [one for one in messages if one.role != "system"]


def merged(base: Mapping[str, Any], *overlays: Mapping[str, Any]) -> Body:
    """``base`` with each overlay laid over it: objects are merged key by key, anything else is replaced."""
    result = dict(base)
    for overlay in overlays:
        for key, value in overlay.items():
            below = result.get(key)
            if isinstance(below, Mapping) and isinstance(value, Mapping):
                result[key] = merged(below, value)
            else:
                result[key] = value
    return result


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: object) -> str | None:
    """The value if it is a text with something in it."""
    return value if isinstance(value, str) and value else None


def count(value: object) -> int | None:
    """The value if it is a plausible number of tokens; unknown is None, never 0."""
    if type(value) is int:
        return value if 0 <= value < MAX_COUNT else None
    if isinstance(value, float) and value.is_integer() and 0 <= value < MAX_COUNT:
        return int(value)
    return None


def total(*values: int | None) -> int | None:
    """The sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def derived(put_in: int | None, output: int | None, both: int | None) -> int | None:
    """Output tokens, by the total where they are missing themselves."""
    if output is None and put_in is not None and both is not None and both >= put_in:
        return both - put_in
    return output


def joined(parts: object, kind: str, key: str = "text") -> str:
    """The texts of those parts of a content list that have the given type."""
    return "".join(
        part[key]
        for part in items(parts)
        if isinstance(part, dict) and part.get("type") == kind and isinstance(part.get(key), str)
    )


def encodable(text: str) -> str:
    """The text with lone surrogates replaced: JSON may hold them, UTF-8 and every table behind it may not."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
