"""Requests per time: the bucket of a stated or learned rate, and the doubt whether it is a rate at all."""

from __future__ import annotations

from math import inf

from .buckets import LONGEST_REFILL_S, Bucket
from .rates import RateLearner, Rejection

SAFETY = 0.98
"""Share of the stated rates that is used."""

_USUAL_BURST = 20.0

_MINUTE_S = 61.0
"""A run starts with its burst, and yet its first minute holds no more requests than were stated for one, as a server
with a sliding window counts; a second for the way there."""

_PROBE_EVERY = 5
"""Episodes after which a learned pace is put to the test. In a closed gate of C seconds a server of that rate gains
rate x C calls; twice as many and five more are sent. If they pass, the rejections have another cause (chance, a
neighbour), and only the gate is kept. Without this, a server that rejects 5 % at random and asks for a second each
time is called twice a second, since its pauses look like its rate; with it, as often as the pauses allow: 2,000 calls
took 935 s, and take 50."""

_DISPROOF = (1.3, 3.0)
"""A probe disproves the pace if this many times the calls it explains were granted, and so many more."""


class Pacer:
    """Holds requests to a rate that was stated, or that rejections have taught.

    Parameters
    ----------
    stated_rpm, burst
        As in `PoolLimits`.
    """

    __slots__ = (
        "_episodes", "_first_minute", "_held", "_launched_at", "_probe", "_stated_burst", "_stated_by_server",
        "_stated_rpm", "_unpaced", "bucket", "learner",
    )  # fmt: skip

    def __init__(self, stated_rpm: float | None, burst: float | None, now: float) -> None:
        self.learner = RateLearner(None if stated_rpm is None else SAFETY * stated_rpm / 60, now)
        self.bucket: Bucket | None = None
        self._stated_rpm = stated_rpm
        self._stated_burst = burst
        self._stated_by_server: float | None = None
        self._held = self._unpaced = False
        self._episodes = 0
        self._probe: tuple[Rejection, float] | None = None
        self._launched_at = now
        self._first_minute = now + _MINUTE_S, inf
        if self.learner.rate is not None and stated_rpm is not None:
            start = self._burst(self.learner.rate)
            if burst is None:
                self._first_minute = now + _MINUTE_S, max(1.0, stated_rpm)
            self.bucket = Bucket(self.learner.rate, start, start, now)

    @property
    def holding(self) -> bool:
        """Whether the next request waits for its turn in time."""
        return self._held

    def wait(self, now: float) -> float:
        """Seconds until the next request may go."""
        if self.bucket is None:
            return 0.0
        wait = max(self.bucket.wait(1.0, now), self._rest(now))
        self._held = self._held or wait > 0
        return wait

    def _rest(self, now: float) -> float:
        """Seconds until a used up first minute is over; it earns no more than `SAFETY` leaves free of the next."""
        end, left = self._first_minute
        if left >= 1 or self.bucket is None or self._stated_rpm is None:
            return 0.0
        if now < end:
            return min(end - now, LONGEST_REFILL_S / 2)
        self._first_minute = end, inf
        self.bucket.lower_to(max(1.0, (1 - SAFETY) * self._stated_rpm))
        return self.bucket.wait(1.0, now)

    def launch(self, now: float) -> None:
        """Count a request. If the pace was what held it, the pace grows a little."""
        if self.bucket is not None:
            if self._held:
                self._follow(self.learner.grow(now - self._launched_at, now), now)
                self._held = False
            self.bucket.take(1.0, now)
        end, left = self._first_minute
        self._first_minute = end, left - 1
        self._launched_at = now

    def reject(self, rejection: Rejection, recent_rate: float, closed_s: float, now: float) -> None:
        """Learn from the first rejection of an episode; the gate is closed for ``closed_s`` from now."""
        self._check_probe(rejection)
        if self._unpaced:
            return
        rate = self.learner.reject(rejection, recent_rate)
        self._follow(rate, now)
        if self.bucket is None:
            return
        self._episodes += 1
        if self.learner.measured and self._episodes % _PROBE_EVERY == 0:
            allowed = 2.0 * rate * closed_s + 5.0
            if self.learner.ceiling is not None:
                allowed = min(allowed, self._burst(self.learner.ceiling))
            self._probe = rejection, rate
            self._held = False
            self.bucket.change(rate, allowed, now)
            self.bucket.level = allowed - rate * closed_s
        else:
            # Empty, except that one call may go when the gate opens.
            self.bucket.lower_to(max(0.0, 1.0 - rate * closed_s))

    def see_cluster(self) -> None:
        """Several calls of one episode were rejected: there is a limit after all."""
        self._unpaced = False

    def acquit(self, rate: float | None, now: float) -> None:
        """Go back to the ``rate`` of before the last rejection, which was no sign of a limit."""
        self.learner.revoke(rate)
        if rate is None:
            self.bucket = None
        else:
            self._follow(rate, now)

    def correct(self, stated_rpm: float | None, left: float | None, now: float) -> None:
        """Take over what the server says: a limit where the user stated none, and how much is left."""
        if stated_rpm is not None and self._stated_rpm is None and stated_rpm != self._stated_by_server:
            self._stated_by_server = stated_rpm
            self.learner.limit(SAFETY * stated_rpm / 60)
            self._follow(self.learner.rate, now)
        if left is not None and self.bucket is not None:
            self.bucket.lower_to(left)

    def _check_probe(self, rejection: Rejection) -> None:
        if self._probe is None:
            return
        before, rate = self._probe
        self._probe = None
        times, more = _DISPROOF
        if rejection.accepted - before.accepted >= times * rate * (rejection.at - before.at) + more:
            self._unpaced = True
            self.learner.forget()
            self.bucket = None
            self._follow(self.learner.rate, rejection.at)

    def _follow(self, rate: float | None, now: float) -> None:
        if rate is None:
            return
        burst = self._burst(rate)
        if self.bucket is None:
            self.bucket = Bucket(rate, burst, burst, now)
        else:
            self.bucket.change(rate, burst, now)

    def _burst(self, rate: float) -> float:
        """Requests at once: as stated, else two seconds' worth, at most 20, and no more than was seen to pass."""
        if self.learner.ceiling is not None and self._stated_burst is not None:
            return max(1.0, self._stated_burst)
        usual = min(max(1.0, 2 * rate / SAFETY), _USUAL_BURST)
        return usual if self.learner.ceiling is not None else min(usual, self.learner.burst)
