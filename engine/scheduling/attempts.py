"""What one attempt leaves behind: the row that the journal keeps and every later number is computed from."""

from __future__ import annotations

from dataclasses import dataclass

from ..models.records import Call, Outcome, Usage


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
    http_status
        None when no HTTP reply came.
    body
        The reply as it came; None when none came.
    sent
        False only when it is certain that the provider saw nothing: a repeat then cannot be paid twice.
    final
        Whether the call ends with this attempt.
    """

    call: Call
    attempt: int
    started_at: float
    latency_s: float
    outcome: Outcome
    http_status: int | None
    reason: str | None
    message: str | None
    body: bytes | None
    usage: Usage
    finish: str | None
    returned_model: str | None
    provider: str | None
    retry_after_s: float | None
    flags: tuple[str, ...]
    sent: bool
    final: bool

    @property
    def key(self) -> str:
        """The key of the call."""
        return self.call.key
