"""Start a command, wait for it, and say what it took: a process of its own, run without site packages.

The memory peak that the system reports for a child includes what its parent held when it was started. So a
benchmark, which holds hundreds of megabytes, does not start what it measures: this small process does.

Usage: ``python -I -S measured.py RESULT STDOUT STDERR SECONDS COMMAND...``; RESULT gets one JSON object.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time

EXIT_TIMEOUT = 124


def run(stdout: str, stderr: str, seconds: float, command: list[str]) -> dict[str, float | int]:
    """Run a command for at most ``seconds``; returns its exit code (negative: killed by that signal), wall
    time, processor time and memory peak in bytes.
    """
    files = [
        (os.POSIX_SPAWN_OPEN, number, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for number, path in ((1, stdout), (2, stderr))
    ]
    # An installed program has its byte code on disk: without it ours would be compiled at each start, the others not.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=files, setpgroup=0)
    late = False

    def kill(*_: object) -> None:
        nonlocal late
        late = True
        os.killpg(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    signal.signal(signal.SIGTERM, kill)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    signal.setitimer(signal.ITIMER_REAL, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "exit": EXIT_TIMEOUT if late else os.waitstatus_to_exitcode(status),
        "seconds": wall,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * unit,
    }


def raise_file_limit() -> None:
    """Allow as many open connections as the system lets us."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    raise_file_limit()
    measured = run(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5:])
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(measured, file)
