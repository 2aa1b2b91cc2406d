"""A token bucket that is told the time: reserve before the call, settle after the reply.

Two rules. It never sleeps, so any clock can drive it. And it never grants out of turn: it has no queue of its own,
its owner asks for the head of one FIFO line only, so a large request cannot be starved by small ones behind it.
"""

from __future__ import annotations

LONGEST_REFILL_S = 60.0
"""A longer gap between looks is a stopped process or a sleeping laptop: it earns no more than this."""

_DUST = 1e-9
"""Amounts below this are rounding, not debt."""


class Bucket:
    """At most ``rate`` x window + ``capacity`` in any window, for requests no larger than the capacity.

    Parameters
    ----------
    rate
        Units per second, above 0.
    capacity
        Units that may go at once after a pause.
    level
        Units at the start.
    now
        Monotonic seconds.

    Notes
    -----
    A request above the capacity is granted when the bucket is full, alone, and leaves a debt that later
    requests wait for: the long-run rate still holds.
    """

    __slots__ = ("_at", "capacity", "level", "rate")

    def __init__(self, rate: float, capacity: float, level: float, now: float) -> None:
        self.rate = rate
        self.capacity = capacity
        self.level = min(level, capacity)
        self._at = now

    def wait(self, amount: float, now: float) -> float:
        """Seconds until to ask again for ``amount``: 0 when it can be taken now, never more than half a minute."""
        self._refill(now)
        missing = min(amount, self.capacity) - self.level
        # Whoever waits long looks in between, so that a longer gap is nobody's waiting.
        return 0.0 if missing <= _DUST else min(missing / self.rate, LONGEST_REFILL_S / 2)

    def take(self, amount: float, now: float) -> None:
        """Reserve ``amount``. The caller has seen ``wait`` return 0."""
        self._refill(now)
        self.level -= amount

    def settle(self, reserved: float, actual: float) -> None:
        """Replace a reservation by what was used, in either direction."""
        self.level = min(self.capacity, self.level + reserved - actual)

    def lower_to(self, level: float) -> None:
        """Believe a server that says less is left. More is not believed: it would allow a burst."""
        self.level = min(self.level, level)

    def change(self, rate: float, capacity: float, now: float) -> None:
        """Go on at another rate from now."""
        self._refill(now)
        self.rate = rate
        self.capacity = capacity
        self.level = min(self.level, capacity)

    def _refill(self, now: float) -> None:
        gap = now - self._at
        if gap > 0:
            self.level = min(self.capacity, self.level + self.rate * min(gap, LONGEST_REFILL_S))
            self._at = now
