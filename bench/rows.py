"""What a benchmark reports, how it is timed, and the C limit beside it."""

from __future__ import annotations

import ctypes
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

C_FOLDER = Path(__file__).parent / "c"


@dataclass(frozen=True)
class Row:
    """One timed task of one contender.

    ``per_second`` counts the ``unit`` named (values, repeats, bytes); ``ratio_to_ours`` is the contender's
    time over ours on the same task: above 1, ours is faster. It is None for ours and for what is no contender.
    """

    task: str
    n: int
    peer: str
    threads: int
    seconds: float
    per_second: float
    unit: str
    ratio_to_ours: float | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as a plain dictionary, for tables and JSON."""
        return asdict(self)


def median_of(function: Callable[[], object], repeats: int = 5) -> float:
    """Return the median wall time in seconds of calls after one that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def compare(
    task: str, n: int, unit: str, contenders: list[tuple[str, int, float, str]], scale: float = 1.0
) -> list[dict[str, Any]]:
    """Turn (peer, threads, seconds, note) into rows; the first contender is ours.

    ``scale`` is the number of units per second that one call per second makes, over n.
    """
    ours = contenders[0][2]
    return [
        Row(
            task=task,
            n=n,
            peer=peer,
            threads=threads,
            seconds=seconds,
            per_second=n * scale / seconds,
            unit=unit,
            ratio_to_ours=None if i == 0 else seconds / ours,
            note=note,
        ).as_dict()
        for i, (peer, threads, seconds, note) in enumerate(contenders)
    ]


@cache
def c_library(name: str) -> tuple[ctypes.CDLL | None, str]:
    """Compile ``bench/c/NAME.c`` for this machine and load it.

    Returns
    -------
    library, note
        None and the reason where there is no gcc or the compilation fails.
    """
    compiler = shutil.which("gcc")
    if compiler is None:
        return None, "no gcc on this machine: the C limit is left out"
    target = Path(tempfile.mkdtemp(prefix="molaudit-bench-")) / f"{name}.so"
    command = [compiler, "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    done = subprocess.run(
        [*command, str(C_FOLDER / f"{name}.c"), "-o", str(target), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return None, f"gcc could not compile {name}.c: {done.stderr.strip().splitlines()[-1]}"
    return ctypes.CDLL(str(target)), "gcc -O3 -march=native"
