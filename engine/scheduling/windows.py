"""How many calls may be in flight, and how fast a pool of unknown limits may start."""

from __future__ import annotations

from math import inf

_FIRST_RATE = 40.0
_FIRST_RATE_PER_SLOT = 0.16
"""Launches per second at the start when no reply has come yet; the second for pools of more than 250."""

_FOLDING_S = 0.25
"""e-folding time of the start: 20 calls after 0.27 s, 2,000 after 1.3 s. A server that rejects at once stops it
within a round trip: 1-2 rejections on loopback, 12 at 100 ms, where 200 connections at once would earn 180."""

_CAUTIOUS = 40
_LATER_FOLDING_S = 0.1
_OPENING_S = 0.4
"""After so many launches without a rejection a pool of many slots opens faster, up to all of them in this time: 2,000
are out after 0.6 s. Who states 200 and is allowed a burst of 20 has been rejected before."""

_EVEN_FROM_S = 0.25
_EVEN_UP_TO_S = 1.0
_EVEN_MARGIN = 1.02
_EVEN_RATE = 1000.0
"""Calls of a like latency that start in a wave end in one, and start the next: replies then lie unread in the sockets
while the loop deals with their neighbours, and a killed process has paid for them (3.6 % of 500 calls of 1 s, at a
random moment). Launches are therefore spread over about one latency, or over a second if it is longer. More a second
than the last figure keep the loop busy with launches alone, which spreads them as well."""

_STEADY = 2000
"""Launches after which the start is over."""

_BACKLOG_S = 0.01
"""Time that a late wake-up may catch up on; more would be a burst after a pause."""

_GRAIN_S = 0.004
"""Shortest wait once 100 are out: several launches share a wake-up, which costs 0.1 ms each."""


class Window:
    """The adaptive in-flight limit: full until the first trouble, cut once per episode, grown by clean successes."""

    __slots__ = ("limit", "most", "threshold")

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.threshold = 0.0

    def grow(self) -> None:
        """One clean success: quickly up to the threshold, a quarter as fast beyond it."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + (1.0 if self.limit < self.threshold else 0.25))

    def cut(self, factor: float, in_flight: int, threshold: float) -> None:
        """Trouble with ``in_flight`` calls out: go on with ``factor`` of them, grow fast to ``threshold`` of them."""
        seen = min(self.limit, float(max(in_flight, 1)))
        self.threshold = threshold * seen
        self.limit = max(1.0, factor * seen)

    def restore(self, limit: float) -> None:
        """Undo a cut that turned out to have had no cause."""
        self.limit = max(self.limit, limit)


class Ramp:
    """Paces launches after an opening: launch n follows launch n-1 by 1 / (40 + 4 n) s, or as successes return.

    With ``most`` > 250 slots the first rate is 0.16 ``most``. Beyond launch 40 the rate grows by 10 a launch and not
    by 4, while it is below ``most`` per 0.4 s. The pace depends on the number launched and not on the time, so
    waiting for a first slow reply earns no burst.
    """

    __slots__ = ("_even", "_first", "_most", "_next_at", "_quick", "launched", "succeeded")

    def __init__(self, most: int = 0) -> None:
        self._quick = most / _OPENING_S
        self._first = max(_FIRST_RATE, _FIRST_RATE_PER_SLOT * most)
        self._most = most
        self._even = inf
        self.launched = 0
        self.succeeded = 0
        self._next_at = 0.0

    def restart(self) -> None:
        """Begin again after a gate has opened."""
        self.launched = self.succeeded = 0
        self._next_at = 0.0

    def succeed(self, latency_s: float) -> None:
        """Count a reply, and keep launches even over its latency."""
        self.succeeded += 1
        if self.launched < _STEADY:
            even = (
                _EVEN_MARGIN * self._most / min(latency_s, _EVEN_UP_TO_S) if latency_s > _EVEN_FROM_S else inf
            )
            self._even = inf if even > _EVEN_RATE else max(_FIRST_RATE, even)

    def skip(self) -> None:
        """Hold nobody back until the next restart."""
        self.launched = _STEADY

    def wait(self, in_flight: int, now: float) -> float:
        """Seconds until the next launch; a quarter of those that succeeded may be out at any time."""
        if self.launched >= _STEADY or in_flight < 1 + self.succeeded // 4:
            return 0.0
        wait = self._next_at - now
        if wait <= 0:
            return 0.0
        return max(wait, _GRAIN_S) if self.launched > 100 else wait

    def launch(self, now: float) -> None:
        """Count a launch."""
        if self.launched < _STEADY:
            rate = self._first + self.launched / _FOLDING_S
            if self.launched > _CAUTIOUS:
                faster = rate + (self.launched - _CAUTIOUS) * (1 / _LATER_FOLDING_S - 1 / _FOLDING_S)
                rate = min(max(rate, min(faster, self._quick)), self._even)
            self._next_at = max(self._next_at, now - _BACKLOG_S) + 1.0 / rate
            self.launched += 1
