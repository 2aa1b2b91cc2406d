"""Replies to numbers: the written digits survive to the comparison.

`parse_number` reads one reply, `parse_column` many. The rules are tried in this order, and the first that finds
an answer decides: answer tag, box, JSON field, answer line, name of the property, labelled prediction,
conclusions, bold numbers and lines of their own (which must agree), then a lone number. Several numbers without a
statement are ``ambiguous``.
"""

from __future__ import annotations

from ._answer import Kind, NumberAnswer
from ._columns import parse_column
from ._parse import parse_number

__all__ = ["Kind", "NumberAnswer", "parse_column", "parse_number", "read"]


def read(text: str | None, *, unit: str | None = None, decimal_comma: bool = False) -> NumberAnswer:
    """Read the number that a reply gives as its answer, and say why it was read so.

    Parameters
    ----------
    text
        The reply as it came, with or without its reasoning.
    unit
        Unit of the property, such as ``"kcal/mol"``: a number in another unit is flagged, and never converted.
    decimal_comma
        Whether replies write decimal commas: "3,18" is then 3.18. Otherwise it is ambiguous.

    Returns
    -------
    NumberAnswer
        ``value`` (a Decimal, None for all kinds but ``point``), ``digits`` as they were written, ``kind``, ``rule``,
        ``candidates``, ``flags``, ``unit`` and more. No text raises.

    Examples
    --------
    >>> import molaudit
    >>> answer = molaudit.read("Benzene has -1.64. **Predicted logS: \u2248 -3.10**")
    >>> answer.value, answer.digits, answer.rule, answer.flags
    (Decimal('-3.10'), '-3.10', 'answer-line', ('approximate', 'others'))
    >>> molaudit.read("-3,10").kind, molaudit.read("-3,10", decimal_comma=True).digits
    ('ambiguous', '-3.10')
    """
    return parse_number(text, unit, decimal_comma=decimal_comma)
