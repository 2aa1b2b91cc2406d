"""The limits of one pool (an account at a provider): may the next call go, and what does a reply teach?

Everything here is synchronous and is told the time. The pool asks `Limiter.wait` for the head of its one line of
calls, so all limits together are first in, first out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from math import inf

from .buckets import Bucket
from .crowds import Crowd
from .gates import Episode, Gate
from .headers import ServerState
from .pacing import SAFETY, Pacer
from .rates import Rejection
from .retries import RetryPolicy
from .windows import Ramp, Window

_THROTTLE_CUT = (0.7, 2.0)
_OVERLOAD_CUT = (0.5, 0.9)
"""Share of the window to go on with, and share up to which to grow fast again. After a throttling the learned pace is
the control, and a window cut to what was in flight would starve slow calls (at 10/s calls of 3 s need 30); after an
overload the window is all there is."""

_OVERLOADS_TO_CLOSE = 3
"""Overloads in a row, without a hint, that close the gate: a single 503 among good replies is a fault of one call."""

_CLUSTER = 3
"""Rejections in one episode, besides the first, that show a limit after all."""

_ACQUITTAL = 3
"""Calls sent after a rejected one and yet accepted, two for each rejected one, show that no limit was hit."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """What the user knows about an account; None is unknown and will be learned.

    Parameters
    ----------
    in_flight
        The most calls out at once, and so the number of workers and connections.
    burst
        Requests that may go at once after a pause, if the provider states it. By default two seconds' worth, at most
        20; the first minute ends with a rest for it, so that no minute without a pause holds more than
        ``requests_per_minute``, whatever the server's window.
    """

    in_flight: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    burst: float | None = None


class Feedback(Enum):
    """What a reply says about the limits, whatever it says about the question."""

    ACCEPTED = auto()
    THROTTLED = auto()
    OVERLOADED = auto()
    LOST = auto()


@dataclass(slots=True)
class Ticket:
    """The right to send one call: the how-manieth, since when, and the tokens reserved for it."""

    number: int
    at: float
    tokens: float


class Limiter:
    """Buckets, window, crowd, ramp, gate and learned rate of one pool."""

    def __init__(self, limits: PoolLimits, policy: RetryPolicy, now: float) -> None:
        self.limits = limits
        self.gate = Gate()
        self.window = Window(limits.in_flight)
        self.crowd = Crowd(limits.in_flight)
        self.ramp = Ramp(limits.in_flight)
        self.in_flight = self.launched = self.rejected = 0
        self.troubled_since: float | None = None
        self._policy = policy
        self._overloads = self._overload_episode = 0
        self._recent = [(now, 0), (now, 0)]
        self.pacer = Pacer(limits.requests_per_minute, limits.burst, now)
        self.tokens: Bucket | None = None
        tpm = limits.tokens_per_minute
        if tpm is not None:
            # Providers keep a bucket of a minute's tokens. Ours starts with 5 s worth, so no first minute is double.
            self.tokens = Bucket(SAFETY * tpm / 60, tpm, tpm / 12, now)

    @property
    def rate(self) -> float | None:
        """Requests per second that are kept to; None while nothing is known to hold us."""
        return self.pacer.learner.rate

    @property
    def slots(self) -> int:
        """Calls that may be in flight now, by what the server bears and by what our loop does."""
        return min(int(self.window.limit), self.crowd.limit)

    def wait(self, tokens: float, now: float) -> float:
        """Seconds until a call of ``tokens`` may go: 0 now, infinity when first a reply must come back."""
        if self.in_flight >= self.slots:
            return inf
        wait = self.gate.wait(now)
        if wait > 0:
            return wait
        wait = max(self.ramp.wait(self.in_flight, now), self.pacer.wait(now))
        if self.tokens is not None:
            wait = max(wait, self.tokens.wait(tokens, now))
        return wait

    def launch(self, tokens: float, now: float) -> Ticket:
        """Take what one call needs. The caller has seen ``wait`` return 0."""
        self.pacer.launch(now)
        if self.tokens is not None:
            self.tokens.take(tokens, now)
        self.ramp.launch(now)
        if now - self._recent[1][0] > 30:
            self._recent = [self._recent[1], (now, self.launched)]
        ticket = Ticket(self.launched, now, tokens)
        self.launched += 1
        self.in_flight += 1
        self.crowd.launch(self.in_flight)
        return ticket

    def finish(
        self, ticket: Ticket, feedback: Feedback, now: float, *, used: float | None, hint_s: float | None
    ) -> None:
        """Give back what a call took and learn from its end.

        ``used`` are the tokens that the provider counted: None keeps the reservation as used, as for a call that
        may have been worked on for minutes and then was lost.
        """
        if self.tokens is not None and used is not None:
            self.tokens.settle(ticket.tokens, used)
        if feedback is Feedback.ACCEPTED:
            self._accept(ticket, now)
        elif feedback is Feedback.THROTTLED:
            self._throttle(ticket, hint_s, now)
        elif feedback is Feedback.OVERLOADED:
            self._overload(ticket, hint_s, now)
        self.in_flight -= 1

    def observe(self, state: ServerState, now: float) -> None:
        """Correct the buckets by what the server says about itself."""
        self.pacer.correct(state.requests_per_minute, state.requests_left, now)
        if self.tokens is not None and state.tokens_left is not None:
            self.tokens.lower_to(state.tokens_left)

    def _accept(self, ticket: Ticket, now: float) -> None:
        self.crowd.reply(now - ticket.at)
        self.window.grow()
        self.ramp.succeed(now - ticket.at)
        self._overloads = 0
        self.gate.succeed()
        self.troubled_since = None
        episode = self.gate.episode
        if episode is not None and episode.first < ticket.number < episode.last:
            self.gate.later_accepted += 1
            if self.gate.later_accepted >= max(_ACQUITTAL, 2 * self.gate.later_rejected):
                self._acquit(episode, now)

    def _throttle(self, ticket: Ticket, hint_s: float | None, now: float) -> None:
        episode = self.gate.episode
        if self.troubled_since is None:
            self.troubled_since = now
        if episode is None or ticket.number >= episode.last:
            new = Episode(ticket.number, self.launched, hint_s is not None, self.rate, self.window.limit)
            self.gate.begin(new)
            seconds = self._closing(hint_s)
            self.gate.close("throttled", seconds, now)
            factor, threshold = _THROTTLE_CUT
            self.window.cut(factor, self.limits.in_flight, threshold)
            self.ramp.restart()
            since, before = self._recent[0]
            recent = (ticket.number - before) / max(1.0, ticket.at - since)
            rejection = Rejection(ticket.at, ticket.number - self.rejected)
            self.pacer.reject(rejection, recent, seconds, now)
        else:
            self.gate.later_rejected += ticket.number > episode.first
            if self.gate.later_rejected >= _CLUSTER:
                self.pacer.see_cluster()
            if hint_s is not None:
                self.gate.close("throttled", self._closing(hint_s), now)
        self.rejected += 1

    def _overload(self, ticket: Ticket, hint_s: float | None, now: float) -> None:
        self._overloads += 1
        if ticket.number >= self._overload_episode:
            self._overload_episode = self.launched
            factor, threshold = _OVERLOAD_CUT
            self.window.cut(factor, self.in_flight, threshold)
            if hint_s is None and self._overloads >= _OVERLOADS_TO_CLOSE:
                self.gate.begin(Episode(ticket.number, ticket.number, False, self.rate, self.window.limit))
                self.gate.close("overloaded", self.gate.own_wait(self._policy), now)
                self.ramp.restart()
        if hint_s is not None:
            if self.gate.wait(now) == 0:
                self.ramp.restart()
            self.gate.close("overloaded", self._closing(hint_s), now)

    def _acquit(self, episode: Episode, now: float) -> None:
        self.gate.episode = Episode(episode.last, episode.last, episode.hinted, episode.rate, episode.window)
        self.pacer.acquit(episode.rate, now)
        self.window.restore(episode.window)
        self.ramp.skip()
        if not episode.hinted:
            self.gate.reopen()

    def _closing(self, hint_s: float | None) -> float:
        """Seconds to close for: a little beyond the hint, since servers round."""
        return self.gate.own_wait(self._policy) if hint_s is None else hint_s * 1.02 + 0.01
