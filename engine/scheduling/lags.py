"""How late the event loop is: a task that wakes every 25 ms and notes by how much it overslept."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import anyio

_TICK_S = 0.025
_EDGES = tuple(0.0005 * 1.25**n for n in range(48))
"""Upper edges of the counting bins, from 0.5 ms to 18 s, a quarter apart: the quantiles are exact to 25 %."""


class LagMonitor:
    """Counts lags in fixed bins, so that a night costs as much memory as a minute, and tells ``feel`` of each."""

    def __init__(self, feel: Callable[[float], None] | None = None) -> None:
        self._feel = feel
        self._counts = [0] * (len(_EDGES) + 1)
        self._total = 0
        self.longest: float | None = None

    def note(self, lag_s: float) -> None:
        """Count one lag."""
        self._counts[bisect_left(_EDGES, lag_s)] += 1
        self._total += 1
        self.longest = max(self.longest or 0.0, lag_s)

    def quantile(self, share: float) -> float | None:
        """The lag that ``share`` of the ticks did not exceed, rounded up to a bin's edge."""
        if self.longest is None:
            return None
        seen, wanted = 0, share * self._total
        for edge, count in zip(_EDGES, self._counts, strict=False):
            seen += count
            if seen >= wanted:
                return min(edge, self.longest)
        return self.longest

    async def watch(self) -> None:
        """Tick until cancelled."""
        while True:
            due = anyio.current_time() + _TICK_S
            await anyio.sleep(_TICK_S)
            lag_s = max(0.0, anyio.current_time() - due)
            self.note(lag_s)
            if self._feel is not None:
                self._feel(lag_s)
