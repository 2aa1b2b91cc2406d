"""What one attempt leaves behind: the row that the journal keeps and every later number is computed from."""

from __future__ import annotations

from dataclasses import dataclass

from ..models.records import Call, Decoded, Outcome, Response


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One request that went to the wire (or failed to), complete.

    Parameters
    ----------
    call
        What was asked; ``key`` is its key.
    attempt
        1 for the first attempt of this call in this run.
    started_at
        Wall clock at the hand-over to the wire, seconds since the epoch.
    latency_s
        From the hand-over to the last byte, or to the failure.
    decoded
        What it means, whole: nothing that a decoder finds out is lost on the way to the journal.
    response
        The reply as it came; None when none came or it was not kept.
    sent
        False only when it is certain that the provider saw nothing: a repeat then cannot be paid twice.
    final
        Whether the call ends with this attempt.
    size
        Bytes of a reply that was not kept.
    """

    call: Call
    attempt: int
    started_at: float
    latency_s: float
    decoded: Decoded
    response: Response | None
    sent: bool
    final: bool
    size: int | None = None

    @property
    def key(self) -> str:
        """The key of the call."""
        return self.call.key

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.decoded.outcome

    @property
    def http_status(self) -> int | None:
        """None when no HTTP reply came."""
        return None if self.response is None else self.response.status

    @property
    def body(self) -> bytes | None:
        """The reply's bytes as they came."""
        return None if self.response is None else self.response.body
