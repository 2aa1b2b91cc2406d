"""What scoring needs, compiled ahead and by several processes at once, since numba compiles under one lock in each.

Each process takes the next step that nobody works on; finished code lies on disk, where every other finds it. As a
program, ``python -m molaudit.kernels.machine.warming``, it works for another process, and ends when that does.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from .. import bootstrap, figures, intervals, skill, tails
from ..floors.halves import hits_of_repeats, tables
from ..floors.plan import Plan
from .cache_folder import ALL, cache_folder, done_file, is_warm


def _floors() -> None:
    one, none = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    range_ = np.array([0, 1])
    plan = Plan(2 * one, one, none, range_, 2 * one, range_, none, np.array([3], dtype=np.uint64))
    hits_of_repeats(*plan, *tables(), 0, 0, 0, 0, 1, np.empty(1))


def _figures() -> None:
    value = np.array([1.0, 2.0])
    figures.agreement(value, value, value > 0, [0, 0], 1)
    figures.depth(value, value)
    figures.codes(value, 3)


def _bootstrap() -> None:
    value = np.array([1.0, 2.0, 4.0])
    bootstrap.errors(value, value[::-1], None, resamples=1, seed=0)


def _tails() -> None:
    tails.binomial_upper(1, 2, 0.5)
    tails.poisson_binomial_upper(1, [0.5])


def _skill() -> None:
    # Fewer than ten misses are not simulated.
    label = np.linspace(1.11, 9.99, 20)
    skill.skill_p(label, label + 0.02, 1, seed=0)


STEPS: Final[dict[str, Callable[[], object]]] = {
    "skill": _skill,
    "floors": _floors,
    "intervals": lambda: intervals.clopper_pearson(1, 3),
    "bootstrap": _bootstrap,
    "figures": _figures,
    "tails": _tails,
}
"""What `score` compiles, in parts that take some seconds each, the longest first."""


def warm(*, wait: bool = True) -> None:
    """Compile the steps that nobody else is at; with ``wait`` all of them are compiled on return.

    Without a folder to keep machine code in nothing is done: kernels are then compiled when they are called.
    """
    folder = cache_folder()
    if folder is None or is_warm(folder):
        return
    for patient in (False, True) if wait else (False,):
        for name, step in STEPS.items():
            if done_file(folder, name).exists():
                continue
            with _locked(folder / f"{name}.lock", patient) as mine:
                if mine and not done_file(folder, name).exists():
                    step()
                    _note(folder, name)
    if all(done_file(folder, name).exists() for name in STEPS):
        _note(folder, ALL)


def _note(folder: Path, name: str) -> None:
    with contextlib.suppress(OSError):  # a full disk: then all is compiled again next time
        done_file(folder, name).touch()


@contextlib.contextmanager
def _locked(path: Path, patient: bool) -> Iterator[bool]:
    """Hold a lock, which the system gives back at the end of whatever process; whether it is ours."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # a full disk: then each compiles for itself
        yield patient
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if patient else fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = True
    except OSError:
        held = False
    try:
        yield held
    finally:
        os.close(descriptor)


def _end_with_the_other() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_other, daemon=True).start()
    warm(wait=False)
    sys.exit(0)
