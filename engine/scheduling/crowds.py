"""How many calls in flight our own event loop bears: fewer when their replies, all ready at once, hold it up.

A quick server answers everything in flight while the loop is busy with the last replies, so each turn of the loop
deals with all of it and lasts (calls in flight) x (our CPU time per call). Beyond what keeps the loop busy, more in
flight is only lag: at 0.34 ms a call, 40 in flight give the same calls per second as 300, and a tenth of the lag.
"""

from __future__ import annotations

_LATE_S = 0.025
_AIM_S = 0.018
_CALM_S = 0.012
"""Lags above which the cap is lowered; above which it stays at what is in flight; below which it may rise."""

_DEEPEST_CUT = 0.5
_GROWTH = 1.03
_CALM_TICKS = 4
"""The cap rises by 3 % a tick after so many calm ones: 16 become 200 within 3 s, if the server has become slow."""

FLOOR = 16
"""Enough to keep a loop busy that has only itself to wait for."""

_SLOW_S = 0.25
_TURNS = 2.5
"""A mean latency above this, or above so many lags, is not our doing: the loop spends its time waiting, and fewer in
flight would mean fewer calls per second. Above the first the cap rises again, whatever the lag."""

_WEIGHT = 1 / 32


class Crowd:
    """The cap on calls in flight that the lag of the loop sets; ``most`` while there is none.

    Attributes
    ----------
    limit
        Calls that may be in flight.
    """

    __slots__ = ("_calm", "_latency_s", "_most", "_peak", "limit")

    def __init__(self, most: int) -> None:
        self.limit = most
        self._most = most
        self._peak = 0
        self._calm = 0
        self._latency_s: float | None = None

    def launch(self, in_flight: int) -> None:
        """Note how many are in flight after a launch."""
        self._peak = max(self._peak, in_flight)

    def reply(self, latency_s: float) -> None:
        """Note how long an accepted call took."""
        before = self._latency_s
        self._latency_s = latency_s if before is None else before + _WEIGHT * (latency_s - before)

    def feel(self, lag_s: float, in_flight: int) -> bool:
        """Draw the consequence of a lag that the loop had, each tick; returns whether more calls may go now."""
        peak, self._peak = max(self._peak, in_flight), in_flight
        latency_s = self._latency_s
        if lag_s < _CALM_S or (latency_s is not None and latency_s >= _SLOW_S):
            self._calm += 1
            if self._calm < _CALM_TICKS or peak < self.limit or self.limit == self._most:
                return False
            self.limit = min(self._most, max(self.limit + 1, int(self.limit * _GROWTH)))
            return True
        self._calm = 0
        if lag_s < _AIM_S or latency_s is None or latency_s >= _TURNS * lag_s:
            return False
        share = 1.0 if lag_s < _LATE_S else max(_DEEPEST_CUT, _AIM_S / lag_s)
        self.limit = min(self.limit, max(FLOOR, int(share * peak)))
        return False
