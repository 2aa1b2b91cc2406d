"""Stopping what cannot succeed: the same final error on the first calls of a cell, an effort or a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..models.records import Call, Outcome

_AFTER_SUCCESS = 10
"""Once a scope has answered, so many times more errors in a row are needed: a key was withdrawn in the night, say."""

_LASTING = frozenset({Outcome.REJECTED, Outcome.MALFORMED, Outcome.UNREACHABLE})
"""Errors that do not pass by themselves, or (the last) are final only when they have not passed for minutes.
The others may be an outage, in which all calls in flight fail together."""

_WHOLE_MODEL = frozenset({401, 403, 404})
"""Statuses that speak of the account or the model and not of what was asked: no effort of the model can succeed."""


_WIDTH = {"cell": 0, "effort": 1, "model": 2, "endpoint": 3}


@dataclass(frozen=True, slots=True)
class Stopped:
    """A part of the plan that was given up, in the provider's words.

    ``scope`` is "cell", "effort", "model" or "endpoint", ``name`` says which; ``calls`` ended so before it.
    """

    scope: str
    name: str
    outcome: Outcome
    http_status: int | None
    reason: str | None
    message: str | None
    calls: int = 1


@dataclass(slots=True)
class _Streak:
    answered: bool = False
    error: tuple[Outcome, int | None, str | None] | None = None
    length: int = 0
    since: float = 0.0


class Breaker:
    """Counts equal final errors in a row, per scope.

    Parameters
    ----------
    repeated
        So many first calls with the same error stop a scope.
    outage_s
        A scope that has answered is stopped by errors that may pass only when they have lasted so long.
    """

    def __init__(self, repeated: int, outage_s: float = 0.0) -> None:
        self._repeated = repeated
        self._outage_s = outage_s
        self._streaks: dict[tuple[str, ...], _Streak] = {}
        self.stopped: dict[tuple[str, ...], Stopped] = {}

    def holds(self, call: Call) -> bool:
        """Whether the call belongs to a stopped scope."""
        if not self.stopped:
            return False
        return ("endpoint", call.endpoint) in self.stopped or any(
            scope in self.stopped for scope in _scopes(call)
        )

    def succeed(self, call: Call) -> None:
        """The provider gave a reply of its own making."""
        for scope in _scopes(call):
            streak = self._streaks.setdefault(scope, _Streak())
            streak.answered = True
            streak.length = 0

    def fail(
        self,
        call: Call,
        outcome: Outcome,
        status: int | None,
        reason: str | None,
        message: str | None,
        now: float,
    ) -> list[Stopped]:
        """A call ended in an error that repeating has not mended; returns what this stops."""
        stopped = []
        error = (outcome, status, reason)
        for scope in _scopes(call):
            streak = self._streaks.setdefault(scope, _Streak())
            if scope[0] == "model" and status not in _WHOLE_MODEL:
                streak.error, streak.length = None, 0
                continue
            if streak.error != error or streak.length == 0:
                streak.error, streak.length, streak.since = error, 0, now
            streak.length += 1
            needed = self._repeated * (_AFTER_SUCCESS if streak.answered else 1)
            passing = streak.answered and outcome not in _LASTING and now - streak.since < self._outage_s
            if streak.length >= needed and not passing and scope not in self.stopped:
                name = " / ".join(scope[2:])
                self.stopped[scope] = Stopped(scope[0], name, outcome, status, reason, message, streak.length)
                stopped.append(self.stopped[scope])
        return stopped

    def condemn(self, call: Call, outcome: Outcome, reason: str | None, message: str | None) -> list[Stopped]:
        """Nobody has ever replied at the call's endpoint: give it up, with everything that would be asked there."""
        scope = ("endpoint", call.endpoint)
        if scope in self.stopped:
            return []
        self.stopped[scope] = Stopped("endpoint", call.endpoint, outcome, None, reason, message)
        return [self.stopped[scope]]


def widest(stops: Iterable[Stopped]) -> list[Stopped]:
    """Those of the stopped scopes that lie within no other: a model's efforts and cells go without saying."""
    found = list(stops)
    return [
        one
        for one in found
        if not any(
            other is not one and _WIDTH[other.scope] > _WIDTH[one.scope] and _within(one, other)
            for other in found
        )
    ]


def _within(one: Stopped, other: Stopped) -> bool:
    if other.scope == "endpoint":
        return True
    if other.scope == "effort" and one.scope == "cell":
        model, _, effort = other.name.rpartition(" / ")
        return one.name.startswith(f"{model} / ") and one.name.endswith(f" / {effort}")
    return one.name.startswith(f"{other.name} / ")


def _scopes(call: Call) -> tuple[tuple[str, ...], ...]:
    return (
        ("cell", call.endpoint, *call.cell),
        ("effort", call.endpoint, call.model, call.effort),
        ("model", call.endpoint, call.model),
    )
