"""One gate per limit pool: a rejection closes it for everyone, and waiting at it costs no attempt."""

from __future__ import annotations

from dataclasses import dataclass

from .retries import RetryPolicy


@dataclass(frozen=True, slots=True)
class Episode:
    """One closing of the gate, and what the replies of calls sent before it closed say about it."""

    first: int
    last: int
    hinted: bool
    rate: float | None
    window: float


class Gate:
    """Closed until a moment, for a reason. Further closings extend it, never shorten it."""

    __slots__ = ("_streak", "episode", "later_accepted", "later_rejected", "reason", "until")

    def __init__(self) -> None:
        self.until = 0.0
        self.reason = ""
        self.episode: Episode | None = None
        self.later_accepted = 0
        self.later_rejected = 0
        self._streak = 0

    def wait(self, now: float) -> float:
        """Seconds until it opens; 0 when it is open."""
        return max(0.0, self.until - now)

    def close(self, reason: str, seconds: float, now: float) -> None:
        """Close, or stay closed, for ``seconds`` from now."""
        self.until = max(self.until, now + seconds)
        self.reason = reason

    def begin(self, episode: Episode) -> None:
        """A rejection of a call that was sent after the last opening: a new episode."""
        self.episode = episode
        self.later_accepted = self.later_rejected = 0
        self._streak += 1

    def own_wait(self, policy: RetryPolicy) -> float:
        """Seconds to stay closed when the server names none: 0.1 s, doubled per episode without a success between."""
        return min(policy.cap_s, policy.base_s * 0.1 * 2.0 ** min(max(self._streak - 1, 0), 30))

    def succeed(self) -> None:
        """A reply came: the next episode is a first one."""
        self._streak = 0

    def reopen(self) -> None:
        """Open now: the closing turned out to have had no cause."""
        self.until = 0.0
