"""From what came over the wire to what it means for the call, the limits and the purse. Pure."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..models.records import NO_WORK, PAID_FOR, Call, Decoded, Outcome, Response, TransportFailure
from .limits import Feedback
from .retries import ACTIONS, Action, RetryPolicy

Decode = Callable[[Call, Response], Decoded]

INTERNAL = "internal_error"
INTERRUPTED = "interrupted"
DESCRIPTORS = "descriptors"
"""The transport's word for a machine out of file descriptors: like an overload, it asks for fewer calls at once."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The meaning of one attempt.

    ``error`` is the traceback of a fault of ours, which is nobody's answer. ``wait_s`` is the wait that the server
    asked for, where it is one: a hint of 0 s leaves the back-off to us. ``size`` is that of a reply not kept.
    """

    decoded: Decoded
    response: Response | None
    sent: bool
    error: str | None = None
    wait_s: float | None = None
    size: int | None = None

    @property
    def feedback(self) -> Feedback:
        """What it says about the limits."""
        outcome = self.decoded.outcome
        if outcome in PAID_FOR:
            return Feedback.ACCEPTED
        if outcome is Outcome.THROTTLED:
            return Feedback.THROTTLED
        if outcome is Outcome.OVERLOADED or self.decoded.reason == DESCRIPTORS:
            return Feedback.OVERLOADED
        return Feedback.LOST

    @property
    def tokens_used(self) -> float | None:
        """Tokens that the provider counted; 0 where it did no work; None where nobody knows."""
        usage = self.decoded.usage
        if usage.input_tokens is not None or usage.output_tokens is not None:
            return float((usage.input_tokens or 0) + (usage.output_tokens or 0))
        untouched = self._refused or (self.response is not None and self.decoded.outcome in NO_WORK)
        return 0.0 if untouched or not self.sent else None

    @property
    def billed(self) -> bool:
        """Whether the call may have been billed: it was sent, and what came is no reply that costs nothing."""
        outcome = self.decoded.outcome
        if self._refused:
            return False
        return self.sent and (self.response is None or outcome in PAID_FOR or outcome is Outcome.MALFORMED)

    @property
    def _refused(self) -> bool:
        """Whether a question was blocked as an error is: by its status, before any token was made."""
        blocked = self.decoded.outcome in PAID_FOR
        return blocked and self.response is not None and self.response.status >= 400


def interpret(
    call: Call, result: Response | TransportFailure, decode: Decode, policy: RetryPolicy
) -> Verdict:
    """Find the meaning of what ``send`` returned. A decoder that raises costs this call, and no other."""
    if isinstance(result, TransportFailure):
        lost = Decoded(
            result.outcome, reason=result.reason, message=result.message, retryable=result.retryable
        )
        return Verdict(lost, None, result.sent, size=result.size)
    try:
        decoded = decode(call, result)
    except Exception as error:  # noqa: BLE001 - a fault in a decoder must not take the other calls along
        return Verdict(blame(error), result, True, "".join(traceback.format_exception(error)))
    hint = decoded.retry_after_s
    if hint is not None and hint > policy.longest_hint_s:
        if decoded.outcome is Outcome.THROTTLED:
            decoded = replace(decoded, outcome=Outcome.QUOTA, retryable=False)
        hint = None
    return Verdict(decoded, result, True, wait_s=hint or None)


def blame(error: BaseException) -> Decoded:
    """A fault of ours as an outcome: the exception's class only, since its text may quote anything."""
    return Decoded(Outcome.MALFORMED, reason=INTERNAL, message=type(error).__name__)


def decide(verdict: Verdict, policy: RetryPolicy, *, failures: int, empties: int, elapsed_s: float) -> Action:
    """What happens to the call now."""
    decoded = verdict.decoded
    if decoded.reason == INTERNAL:
        return Action.FINISH
    if ACTIONS[decoded.outcome] is Action.RETRY and not decoded.retryable:
        return Action.FINISH
    outcome = decoded.outcome
    if outcome is Outcome.REJECTED and decoded.retryable:
        outcome = Outcome.FAILED
    return policy.next_action(outcome, failures=failures, empties=empties, elapsed_s=elapsed_s)
