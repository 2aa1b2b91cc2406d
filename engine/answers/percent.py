"""Replies that are a percentage from 0 to 100."""

from __future__ import annotations

from decimal import Decimal

from ._parse import parse_number
from ._stated import TaskAnswer

_SAME = {
    "point": "answer",
    "refusal": "refusal",
    "truncated": "truncated",
    "empty": "empty",
    "ambiguous": "ambiguous",
}


def read_percent(text: str | None) -> TaskAnswer[Decimal]:
    """Read the reply to a question for a yield in per cent; never raises.

    Read as a number, approximate ones included. A value outside 0 to 100 is no percentage. One above 0 and below 1
    without a percent sign is kept as it stands, flagged ``below-one``: it may be a fraction, and multiplying it would
    be a guess (ours).
    """
    number = parse_number(text, "%", ("yield", "yield (%)", "predicted yield"), approximate=True)
    value, flags = number.value, number.flags
    if number.kind == "point" and value is not None:
        if not 0 <= value <= 100:
            return TaskAnswer("none", rule=number.rule, flags=(*flags, "out-of-range"))
        if 0 < value < 1 and number.unit != "%" and "percent" not in flags:
            flags = (*flags, "below-one")
        return TaskAnswer("answer", value, number.rule, flags)
    kind = _SAME.get(number.kind, "none")
    return TaskAnswer("none" if kind == "answer" else kind, rule=number.rule, flags=flags)  # type: ignore[arg-type]
