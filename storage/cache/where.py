"""The little language of ``evict --where``: ``outcome in (empty, malformed) and started_at < 2026-01-31``.

Grammar: ``term ("and" term)*``, where a term is ``FIELD OP VALUE`` or ``FIELD [not] in (VALUE, ...)``, OP is one of
``= != < <= > >=`` and a value is a bare word or stands in quotes. Values only ever reach DuckDB as parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import CacheError

_TEXT = (
    "outcome",
    "model",
    "endpoint",
    "identity",
    "effort",
    "reason",
    "provider",
    "returned_model",
    "session",
    "key",
)
_NUMBER = (
    "http_status",
    "attempt",
    "repeat",
    "input_tokens",
    "output_tokens",
    "latency_s",
    "cost_usd",
    "body_size",
)
_TIME = ("started_at",)
FIELDS = (*_TEXT, *_NUMBER, *_TIME)
_TOKEN = re.compile(
    r"""\s*(?:(?P<op><=|>=|!=|=|<|>|\(|\)|,)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s,()=<>!"']+))"""
)
_OPERATORS = frozenset({"=", "!=", "<", "<=", ">", ">="})

Value = str | float


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition ready for DuckDB: text with ``?`` for each of ``values``. A null never satisfies it."""

    sql: str
    values: tuple[Value, ...]


def parse_where(text: str) -> Condition:
    """Read a condition.

    Raises
    ------
    CacheError
        Saying what was found, where, and what is allowed there.
    """
    tokens = _Tokens(text)
    sql: list[str] = []
    values: list[Value] = []
    while True:
        term = _term(tokens)
        sql.append(term.sql)
        values += term.values
        if tokens.ended:
            return Condition(" AND ".join(sql), tuple(values))
        tokens.expect_word("and")


class _Tokens:
    def __init__(self, text: str) -> None:
        self.text = text
        self._items = list(_split(text))
        self._next = 0

    @property
    def ended(self) -> bool:
        return self._next == len(self._items)

    def take(self, allowed: str) -> tuple[str, bool]:
        if self.ended:
            raise CacheError(f"condition {self.text!r} ends where {allowed} is expected")
        self._next += 1
        return self._items[self._next - 1]

    def expect_word(self, *words: str) -> str:
        found, _ = self.take(" or ".join(words))
        if found.lower() not in words:
            raise CacheError(
                f"condition {self.text!r}: found {found!r} where {' or '.join(words)} is expected"
            )
        return found.lower()


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Cut a condition into (text, is a value): punctuation is no value."""
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise CacheError(
                f"condition {text!r}: cannot read {text[at : at + 20].strip()!r}; is a quote missing?"
            )
        at = match.end()
        yield next(value for value in match.groups() if value is not None), match.lastgroup != "op"


def _term(tokens: _Tokens) -> Condition:
    field, _ = tokens.take("a field")
    if field not in FIELDS:
        raise CacheError(
            f"condition {tokens.text!r}: unknown field {field!r}; fields are {', '.join(FIELDS)}"
        )
    operator, _ = tokens.take("an operator")
    if operator in _OPERATORS:
        return Condition(f"{field} {operator} ?", (_value(tokens, field),))
    negated = operator.lower() == "not"
    if negated:
        tokens.expect_word("in")
    elif operator.lower() != "in":
        allowed = " ".join(sorted(_OPERATORS))
        raise CacheError(
            f"condition {tokens.text!r}: {operator!r} after {field}; allowed are {allowed}, in, not in"
        )
    tokens.expect_word("(")
    values = [_value(tokens, field)]
    while tokens.expect_word(",", ")") == ",":
        values.append(_value(tokens, field))
    marks = ", ".join("?" * len(values))
    return Condition(f"{field} {'NOT ' if negated else ''}IN ({marks})", tuple(values))


def _value(tokens: _Tokens, field: str) -> Value:
    text, is_value = tokens.take("a value")
    if not is_value:
        raise CacheError(f"condition {tokens.text!r}: found {text!r} where a value is expected")
    if field in _TEXT:
        return text
    try:
        return float(text) if field in _NUMBER else _time(text)
    except ValueError:
        kind = "a number" if field in _NUMBER else "a date such as 2026-01-31 (UTC) or epoch seconds"
        raise CacheError(f"condition {tokens.text!r}: {field} needs {kind}, found {text!r}") from None


def _time(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return float(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
