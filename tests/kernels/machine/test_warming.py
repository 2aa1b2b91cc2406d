"""Steps that several processes compile together: each by one of them, none left out, none waited for in vain."""

import fcntl
import threading
from pathlib import Path

import pytest

from molaudit.kernels.machine import compile_time, warming
from molaudit.kernels.machine.cache_folder import is_warm

Done = list[str]


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Done:
    """What was compiled, of two steps that only say so, into a folder of the test's own."""
    found: Done = []
    monkeypatch.setattr(warming, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(
        warming, "STEPS", {name: lambda name=name: found.append(name) for name in ("long", "short")}
    )
    return found


def test_every_step_is_compiled_once_for_all(done: Done, tmp_path: Path) -> None:
    assert not is_warm(tmp_path)
    warming.warm()
    assert is_warm(tmp_path)
    warming.warm()
    assert done == ["long", "short"]


def test_a_helper_passes_over_what_another_compiles(done: Done, tmp_path: Path) -> None:
    with (tmp_path / "long.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        warming.warm(wait=False)
        assert done == ["short"]
        assert not is_warm(tmp_path)


def test_who_needs_all_waits_for_the_others_and_takes_over_from_one_that_dies(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = threading.Event()
    with (tmp_path / "long.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        lock = fcntl.flock

        def note_waiting(descriptor: int, how: int) -> None:
            if not how & fcntl.LOCK_NB:
                waits.set()
            lock(descriptor, how)

        monkeypatch.setattr(fcntl, "flock", note_waiting)
        waiting = threading.Thread(target=warming.warm)
        waiting.start()
        assert waits.wait(60)
        assert done == ["short"]
    waiting.join(60)
    assert done == ["short", "long"]
    assert is_warm(tmp_path)


def test_a_step_that_fails_is_nobodys_and_is_not_done(
    done: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setitem(warming.STEPS, "long", fail)
        with pytest.raises(MemoryError):
            warming.warm()
    warming.warm()
    assert done == ["long", "short"]


def test_where_no_lock_can_be_made_the_process_compiles_for_itself(done: Done, tmp_path: Path) -> None:
    for name in ("long", "short"):
        (tmp_path / f"{name}.lock").mkdir()
    warming.warm(wait=False)
    assert done == []
    warming.warm()
    assert done == ["long", "short"]


def test_a_word_is_said_only_when_more_is_compiled_after_a_second_of_it() -> None:
    said = []
    compile_time.reset()
    compile_time.when_it_takes_long(lambda: said.append(compile_time.compiled()))
    try:
        for seconds in (0.7, 0.7, 0.1):
            compile_time.begin()
            compile_time.add(seconds)
    finally:
        compile_time.when_it_takes_long(None)
    assert said == [(2, 1.4)]
    compile_time.reset()
    assert compile_time.compiled() == (0, 0.0)
