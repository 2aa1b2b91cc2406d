"""Work that is shared out over threads is all done, once, by as many threads as may work."""

import os
import threading

import pytest
from thread_pieces import in_pieces

from molaudit.kernels.machine import threads


@pytest.mark.parametrize("count", [0, 1, 2, 11, 1000])
def test_every_item_is_worked_on_once(count: int) -> None:
    seen = [0] * count

    def work(first: int, last: int) -> None:
        for item in range(first, last):
            seen[item] += 1

    with in_pieces():
        threads.spread(work, count, 1)
    assert seen == [1] * count


def test_little_work_is_done_by_the_thread_that_asks() -> None:
    workers = set()
    threads.spread(lambda _first, _last: workers.add(threading.get_ident()), 100, 1)
    assert workers == {threading.get_ident()}


def test_as_many_threads_work_as_are_allowed() -> None:
    """Each of two pieces waits for the other, so one thread alone would never come to its end."""
    both = threading.Barrier(2, timeout=60)
    with in_pieces(), threads.limited(2):
        threads.spread(lambda first, _last: both.wait() if first < 2 else None, 8, 1)


def test_one_thread_can_be_asked_for() -> None:
    workers = set()
    with in_pieces(), threads.limited(1):
        threads.spread(lambda _first, _last: workers.add(threading.get_ident()), 100, 1)
    assert workers == {threading.get_ident()}
    with pytest.raises(ValueError, match="at least 1, not 0"), threads.limited(0):
        pass


def test_an_error_in_any_thread_is_raised_after_all_have_ended() -> None:
    ended = []

    def work(first: int, last: int) -> None:
        if first == 3:
            raise ValueError("three")
        ended.append((first, last))

    with in_pieces(), pytest.raises(ValueError, match="three"):
        threads.spread(work, 12, 1)


def test_work_that_is_shared_out_may_share_out_its_own() -> None:
    done = []
    with in_pieces():
        threads.spread(
            lambda a, _b: threads.spread(lambda c, d: done.extend((a, i) for i in range(c, d)), 12, 1), 12, 1
        )
    assert len(done) == len(set(done)) == 12 * 12


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    with in_pieces():
        threads.spread(lambda _first, _last: None, 12, 1)
        child = os.fork()
        if child == 0:
            both = threading.Barrier(2, timeout=60)
            code = 1
            try:
                threads.spread(lambda first, _last: both.wait() if first < 2 else None, 12, 1)
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
