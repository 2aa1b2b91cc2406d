"""Learning a request rate that nobody told us, from the rejections.

A server's token bucket is empty each time it rejects. Between two rejections it therefore granted exactly what it
refilled, whatever its burst: calls accepted / time between is its rate. We go on a little below that and grow slowly
until the next rejection refines the estimate. Before the second rejection there is only a guess, which grows fast.

Rejections that come although we were slower than the measured rate have another cause, or the rate has changed.
After three of them in a row we double the pace and measure anew: a changed limit shows itself within a second or
two, and without this a server that rejects 5 % of calls at random would drive the pace down for ever.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

_BELOW = 0.97
"""Share of an estimate at which we go on: the estimate counts whole calls over a short time."""

_GROWTH_GUESSED = 0.7
_GROWTH_MEASURED = 0.005
_ACCELERATION_S = 5.0
"""Relative growth per second while the pace is what holds us: 0.5 % x (1 + (t / 5 s)^2), t since the last rejection.
A bucket of burst 20 at 600/min then rejects about one call in 10 s, and an estimate that was far too low (the
server's bucket had run over) is left behind within a minute."""

_SHORTEST_S = 1.0
"""Two rejections closer than this measure the granularity of the server and not its rate."""

_FEWEST = 10
_LONG_S, _FEWEST_SLOW = 10.0, 3
"""Accepted calls without which a time between rejections says nothing; over a longer time few are a slow rate."""

_NOISE = 1.03
"""A pace up to this times the rate that was certainly granted explains no rejection."""

_FIRST_GUESS = 0.5
"""Calls per second: a rejection of the very first call says nothing, and one call in 2 s is soon more or less."""

_UNEXPLAINED = 3
_MEMORY_S = 120.0
_FLOOR = 1 / 120.0
"""Never slower than one call in two minutes: the gate, not the pace, is for longer waits."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """The first rejection of an episode: when that call went out, and how many calls before it were accepted."""

    at: float
    accepted: int


class RateLearner:
    """Turns rejections into a rate, in calls per second, never above ``ceiling``.

    Attributes
    ----------
    rate
        The pace to keep; None while nothing holds us.
    burst
        Calls that the server takes at once, as far as its first rejection showed.
    """

    __slots__ = ("_estimate", "_rejections", "_start", "_surely", "_unexplained", "burst", "ceiling", "rate")

    def __init__(self, ceiling: float | None, now: float) -> None:
        self.ceiling = ceiling
        self.rate = ceiling
        self.burst = 1.0
        self._start = now
        self._rejections: deque[Rejection] = deque(maxlen=32)
        self._estimate: float | None = None
        self._surely = 0.0
        self._unexplained = 0

    @property
    def measured(self) -> bool:
        """Whether two rejections have been seen, so that the rate is more than a guess."""
        return self._estimate is not None

    def reject(self, rejection: Rejection, recent_rate: float) -> float:
        """Take a new episode into account; ``recent_rate`` is the pace until now, for a first guess."""
        if self.rate is not None and self._estimate is not None and self.rate < _NOISE * self._surely:
            self._unexplained += 1
            rate = self._doubt(self.rate)
        else:
            self._unexplained = 0
            rate = self._learn(rejection, recent_rate)
        self._rejections.append(rejection)
        self.rate = max(_FLOOR, rate if self.ceiling is None else min(rate, self.ceiling))
        return self.rate

    def grow(self, seconds: float, now: float) -> float | None:
        """Go on after ``seconds`` during which the pace was what held us."""
        if self.rate is not None and (self.ceiling is None or self.rate < self.ceiling):
            growth = _GROWTH_GUESSED
            if self.measured:
                quiet = (now - self._rejections[-1].at) / _ACCELERATION_S if self._rejections else 0.0
                growth = min(growth, _GROWTH_MEASURED * (1 + quiet * quiet))
            # A pause at the gate is no time at this pace: at most two intervals count.
            self.rate *= 1.0 + growth * min(seconds, 2.0 / self.rate, 1.0)
            if self.ceiling is not None:
                self.rate = min(self.rate, self.ceiling)
        return self.rate

    def forget(self) -> None:
        """Start anew: what was learned has been disproved."""
        self.rate = self.ceiling
        self._estimate = None
        self._unexplained = 0
        self._rejections.clear()

    def revoke(self, rate: float | None) -> None:
        """Forget the last rejection: calls sent after it were accepted, so it was no sign of the rate."""
        if self._rejections:
            self._rejections.pop()
        self.rate = rate
        if rate is None:
            self._estimate = None

    def limit(self, ceiling: float) -> None:
        """Take over a limit that the server names, if it is the lower one."""
        self.ceiling = ceiling if self.ceiling is None else min(self.ceiling, ceiling)
        self.rate = self.ceiling if self.rate is None else min(self.rate, self.ceiling)

    def _learn(self, rejection: Rejection, recent_rate: float) -> float:
        for earlier in self._rejections:
            seconds = rejection.at - earlier.at
            accepted = rejection.accepted - earlier.accepted
            enough = accepted >= _FEWEST or (seconds >= _LONG_S and accepted >= _FEWEST_SLOW)
            if _SHORTEST_S <= seconds <= _MEMORY_S and enough:
                self._estimate = accepted / seconds
                # Whole calls at both ends: the true rate may be this much lower.
                self._surely = self._estimate * (1 - 1.5 / accepted)
                first = self._rejections[0]
                self.burst = max(1.0, first.accepted - self._estimate * (first.at - self._start))
                return min(_BELOW * self._estimate, self._surely)
        return max(_FIRST_GUESS, 0.5 * recent_rate) if self.rate is None else 0.9 * self.rate

    def _doubt(self, rate: float) -> float:
        if self._unexplained < _UNEXPLAINED:
            return rate
        self._unexplained = 0
        self._estimate = None
        self._rejections.clear()
        return 2.0 * rate
