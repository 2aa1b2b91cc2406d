"""Replies to numbers: the written digits survive to the comparison.

`parse_number` reads one reply, `parse_column` many. The rules are tried in this order, and the first that finds
an answer decides: answer tag, box, JSON field, answer line, name of the property, then conclusions, bold numbers and
lines of their own (which must agree), then a lone number. Several numbers without a statement are ``ambiguous``.
"""

from __future__ import annotations

from ._answer import Kind, NumberAnswer
from ._columns import parse_column
from ._parse import parse_number

__all__ = ["Kind", "NumberAnswer", "parse_column", "parse_number"]
