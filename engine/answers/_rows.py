"""What is read of a reply as one row of a table, in plain values. No library is loaded: helpers start with this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._answer import NumberAnswer
from ._parse import parse_number

Row = list[Any]


def read_rows(replies: Sequence[str | None], manner: dict[str, Any]) -> list[Row]:
    """Read replies one by one; ``manner`` holds the arguments of `parse_number`."""
    return [_row(parse_number(reply, **manner)) for reply in replies]


def _row(answer: NumberAnswer) -> Row:
    value, low, high = (None if x is None else float(x) for x in (answer.value, answer.low, answer.high))
    return [
        answer.text,
        answer.digits,
        value,
        answer.figures,
        answer.stripped,
        answer.rule,
        answer.kind,
        list(answer.flags),
        list(answer.candidates),
        answer.unit,
        low,
        high,
    ]
