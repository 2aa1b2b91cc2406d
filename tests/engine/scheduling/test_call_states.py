"""A call's life: each step is in the table, and what a lane counts follows from the steps."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import pytest

from molaudit.engine.scheduling.lanes import Job, Lane
from molaudit.engine.scheduling.progress import LaneProgress
from molaudit.engine.scheduling.states import AFTER, move

STATES = [name for name in AFTER if name != "read"]


def job(bench) -> Job:
    return Job(bench.call(0), Lane("a", "m", "e", LaneProgress("p", "a", "m", "e")), None)


def counts(job: Job) -> dict[str, int]:
    return {name: getattr(job.lane.progress, name) for name in STATES if getattr(job.lane.progress, name)}


def test_a_call_is_counted_where_it_is(bench):
    one = job(bench)
    assert counts(one) == {}
    for state in ("queued", "running", "retrying", "queued", "running", "queued", "running", "done"):
        move(one, state)
        assert counts(one) == {state: 1}


def test_calls_that_joined_one_are_counted_when_it_ends(bench):
    one = job(bench)
    move(one, "queued")
    one.copies = 3
    move(one, "running")
    assert counts(one) == {"running": 1}
    move(one, "failed")
    assert counts(one) == {"failed": 3}


@pytest.mark.parametrize("end", ["done", "failed", "skipped"])
def test_a_call_that_has_ended_goes_nowhere(bench, end):
    one = job(bench)
    move(one, "queued")
    if end != "skipped":
        move(one, "running")
    move(one, end)
    for state in STATES:
        with pytest.raises(RuntimeError, match=f"a call that is {end} cannot become {state}"):
            move(one, state)
    assert counts(one) == {end: 1}


def test_no_call_runs_without_a_turn_in_the_line(bench):
    with pytest.raises(RuntimeError, match="a call that is read cannot become running"):
        move(job(bench), "running")


def test_any_walk_ends_with_one_call_in_one_place(bench):
    random = Random(2)
    for _ in range(200):
        one = job(bench)
        while AFTER[one.state]:
            move(one, random.choice(sorted(AFTER[one.state])))
            assert counts(one) == {one.state: 1}


def test_every_state_that_is_counted_has_its_count():
    assert set(STATES) <= {field.name for field in fields(LaneProgress)}
