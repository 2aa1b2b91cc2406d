"""Requests per time: the bucket of a stated or learned rate, and the doubt whether it is a rate at all."""

from __future__ import annotations

from math import inf

from .buckets import Bucket
from .rates import RateLearner, Rejection

_USUAL_BURST = 20.0

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
    stated_rpm, burst, safety
        As in `PoolLimits`.
    """

    __slots__ = (
        "_episodes", "_held", "_launched_at", "_opening", "_probe", "_safety", "_stated_burst",
        "_stated_by_server", "_stated_rpm", "_unpaced", "bucket", "learner",
    )  # fmt: skip

    def __init__(self, stated_rpm: float | None, burst: float | None, safety: float, now: float) -> None:
        self.learner = RateLearner(None if stated_rpm is None else safety * stated_rpm / 60, now)
        self.bucket: Bucket | None = None
        self._stated_rpm = stated_rpm
        self._stated_burst = burst
        self._stated_by_server: float | None = None
        self._safety = safety
        self._held = self._unpaced = False
        self._episodes = 0
        self._probe: tuple[Rejection, float] | None = None
        self._launched_at = now
        self._opening = inf, now
        if self.learner.rate is not None and stated_rpm is not None:
            start = self._burst(self.learner.rate)
            if burst is None:
                self._opening = (stated_rpm - start + 1) / 60, now + 60
            self.bucket = Bucket(self._now_at(self.learner.rate, now), start, start, now)

    @property
    def holding(self) -> bool:
        """Whether the next request waits for its turn in time."""
        return self._held

    def wait(self, now: float) -> float:
        """Seconds until the next request may go."""
        if self.bucket is None:
            return 0.0
        wait = self.bucket.wait(1.0, now)
        self._held = self._held or wait > 0
        return wait

    def launch(self, now: float) -> None:
        """Count a request. If the pace was what held it, the pace grows a little."""
        if self.bucket is not None:
            if self._held:
                self._follow(self.learner.grow(now - self._launched_at, now), now)
                self._held = False
            self.bucket.take(1.0, now)
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
            self.learner.limit(self._safety * stated_rpm / 60)
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

    def _now_at(self, rate: float, now: float) -> float:
        """Return the pace, a little lower in the first minute: its burst is of what was stated for a minute."""
        most, until = self._opening
        return min(rate, most) if now < until else rate

    def _follow(self, rate: float | None, now: float) -> None:
        if rate is None:
            return
        burst = self._burst(rate)
        if self.bucket is None:
            self.bucket = Bucket(rate, burst, burst, now)
        else:
            self.bucket.change(self._now_at(rate, now), burst, now)

    def _burst(self, rate: float) -> float:
        """Requests at once: as stated, else two seconds' worth, at most 20, and no more than was seen to pass."""
        if self.learner.ceiling is not None and self._stated_burst is not None:
            return max(1.0, self._stated_burst)
        usual = min(max(1.0, 2 * rate / self._safety), _USUAL_BURST)
        return usual if self.learner.ceiling is not None else min(usual, self.learner.burst)
