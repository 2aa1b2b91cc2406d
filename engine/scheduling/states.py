"""A call's life: the states it goes through, as a table, and the one function that moves it.

Two rules. A call is in one state at a time, and `move` alone changes it. What a lane counts as queued, running and so
on follows from the moves, so that the counts of a display add up whatever becomes of a call.

A call of the plan that joins an identical one (`Job.copies`) has no life of its own: it is counted when that ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .lanes import Job

State = Literal["read", "queued", "running", "retrying", "done", "failed", "skipped"]

AFTER: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        "read": frozenset({"queued", "skipped"}),
        "queued": frozenset({"running", "skipped"}),
        "running": frozenset({"queued", "retrying", "done", "failed", "skipped"}),
        "retrying": frozenset({"queued", "skipped"}),
        "done": frozenset(),
        "failed": frozenset(),
        "skipped": frozenset(),
    }
)
"""What may follow each state. From "running" a call goes back to "queued" to wait at the gate, and to "retrying" to
wait for a time of its own; where nothing follows the call has ended."""


def move(job: Job, state: State) -> None:
    """Put a call into its next state, and count it there.

    Raises
    ------
    RuntimeError
        The table has no such step: a fault of ours.
    """
    before = job.state
    if state not in AFTER[before]:
        raise RuntimeError(f"a call that is {before} cannot become {state}")
    job.state = state
    counts = job.lane.progress
    if before != "read":
        setattr(counts, before, getattr(counts, before) - 1)
    setattr(counts, state, getattr(counts, state) + (1 if AFTER[state] else job.copies))
