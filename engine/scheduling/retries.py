"""The one retry layer: what follows from each outcome, as a table, and how long to wait.

Nothing below this layer repeats anything: the transport makes exactly one request per attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from random import Random
from types import MappingProxyType

from ..models.records import Outcome


class Action(Enum):
    """What to do with a call after an attempt."""

    FINISH = auto()
    REPEAT_ONCE = auto()
    RETRY = auto()
    WAIT_AT_GATE = auto()
    PARK_POOL = auto()


ACTIONS: Mapping[Outcome, Action] = MappingProxyType(
    {
        Outcome.ANSWERED: Action.FINISH,
        Outcome.REFUSED: Action.FINISH,
        Outcome.TRUNCATED: Action.FINISH,
        Outcome.FILTERED: Action.FINISH,
        Outcome.RECITATION: Action.FINISH,
        Outcome.REJECTED: Action.FINISH,
        Outcome.EMPTY: Action.REPEAT_ONCE,
        Outcome.MALFORMED: Action.RETRY,
        Outcome.FAILED: Action.RETRY,
        Outcome.OVERLOADED: Action.RETRY,
        Outcome.UNREACHABLE: Action.RETRY,
        Outcome.TIMED_OUT: Action.RETRY,
        Outcome.THROTTLED: Action.WAIT_AT_GATE,
        Outcome.QUOTA: Action.PARK_POOL,
    }
)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The numbers of the retry layer.

    Parameters
    ----------
    max_attempts
        Attempts that reached the provider and failed; 1 means that nothing is ever repeated.
    max_elapsed_s
        Time from a call's first attempt after which a failure is final.
    unreachable_s
        The same for attempts that did not reach an endpoint which has replied before: a network that is away for
        minutes costs nothing, and no attempts either.
    first_contact_s
        The same for an endpoint that has never replied: at a wrong address nobody will.
    loading_s
        Time for which a server that says it loads its model is waited for, at the cost of no attempt.
    base_s, cap_s
        Full jitter back-off: uniform between 0 and min(cap, base x 2^n).
    throttled_s
        Time without a single accepted reply after which a throttled pool is given up.
    longest_hint_s
        A rate limit that asks for a longer wait is an exhausted quota, not a pause. With a failure such a hint is not
        believed: it speaks of one call.
    repeated_errors
        The same final error on so many first calls of a cell, effort or model stops it.
    outage_s
        What has answered before is stopped by errors that may pass only when they have lasted so long.
    """

    max_attempts: int = 6
    max_elapsed_s: float = 3600.0
    unreachable_s: float = 600.0
    first_contact_s: float = 30.0
    loading_s: float = 3600.0
    base_s: float = 1.0
    cap_s: float = 60.0
    throttled_s: float = 7200.0
    longest_hint_s: float = 7200.0
    repeated_errors: int = 3
    outage_s: float = 120.0

    def backoff(self, failures: int, hint_s: float | None, random: Random) -> float:
        """Seconds until the next attempt after ``failures`` failed ones.

        The server's latest hint is a minimum, and also bounds our own share to four times itself: a server that says
        2 s is not left alone for a minute because this is the tenth attempt.
        """
        own = random.uniform(0.0, min(self.cap_s, self.base_s * 2.0 ** min(failures - 1, 30)))
        if hint_s is None or hint_s <= 0:
            return own
        return max(hint_s, min(own, 4.0 * hint_s)) + random.uniform(0.0, 0.1 * hint_s)

    def next_action(self, outcome: Outcome, *, failures: int, empties: int, elapsed_s: float) -> Action:
        """What follows, given the failures so far (this one included) and the time since the first attempt."""
        action = ACTIONS[outcome]
        if action is Action.FINISH or action is Action.PARK_POOL:
            return action
        if self.max_attempts == 1:
            return Action.FINISH
        if action is Action.WAIT_AT_GATE:
            return Action.FINISH if elapsed_s > self.throttled_s else action
        if action is Action.REPEAT_ONCE:
            return Action.RETRY if empties < 2 and failures < self.max_attempts else Action.FINISH
        if failures >= self.max_attempts or elapsed_s >= self.max_elapsed_s:
            return Action.FINISH
        return Action.RETRY
