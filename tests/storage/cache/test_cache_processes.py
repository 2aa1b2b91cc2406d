"""Real processes on one cache: killed at random, side by side, and read while they run."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from molaudit.storage.cache.admin import info
from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import body_bytes
from molaudit.storage.journal.locks import holder_of
from molaudit.storage.journal.segments import sessions

# Appends numbered attempts of a few kilobytes, says the number only after `append` returned, folds now and then.
WRITER = """
import sys
from pathlib import Path
from molaudit.storage.journal.attempts import StoredAttempt
from molaudit.storage.cache.store import Cache

path, name, first, last, fold_every = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6])
cache = Cache(path, wait_s=60.0)
print("ready", flush=True)
with cache.journal() as journal:
    for number in range(first, last):
        journal.append(StoredAttempt(
            key=f"{number:032x}", attempt=1, endpoint="local", identity="http://x", model=name, effort="standard",
            repeat=0, outcome="answered", started_at=float(number), latency_s=0.1, http_status=200,
            body=f"answer {number} ".encode() * 150, input_tokens=3, output_tokens=7, cost_usd=0.25,
        ))
        print(number, flush=True)
        if number % fold_every == fold_every - 1:
            cache.fold(journal)
    cache.fold(journal)
print("done", flush=True)
"""


@contextmanager
def writer(
    path: Path, name: str, first: int, last: int, fold_every: int, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        arguments = [str(path), name, str(first), str(last), str(fold_every)]
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, *arguments], stdout=out, stderr=subprocess.STDOUT
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def acknowledged(log: Path) -> list[int]:
    """The numbers that a writer is sure of; a line without its end does not count."""
    return [int(line) for line in log.read_bytes().split(b"\n")[:-1] if line.isdigit()]


def wait_until(log: Path, text: bytes) -> None:
    end = time.monotonic() + 60
    while text not in log.read_bytes():
        assert time.monotonic() < end, log.read_bytes()[-500:]
        time.sleep(0.01)


def wait_for_lines(log: Path, count: int) -> None:
    """Wait until a writer is sure of so many: a moment in its work, however fast that goes."""
    end = time.monotonic() + 60
    while len(acknowledged(log)) < count:
        assert time.monotonic() < end, log.read_bytes()[-500:]


def check_rows(cache: Cache, numbers: list[int]) -> None:
    """Each number once, with its own body, and totals of the rows."""
    attempts = cache.attempts()
    keys = [f"{number:032x}" for number in numbers]
    assert sorted(attempts["key"]) == sorted(set(attempts["key"]))
    assert set(keys) <= set(attempts["key"])
    found = {row["key"]: row for frame in cache.replies(keys) for row in frame.iter_rows(named=True)}
    for number, key in zip(numbers, keys, strict=True):
        row = found[key]
        assert body_bytes(row["body"], row["body_base64"]) == f"answer {number} ".encode() * 150
    totals = cache.totals().row(0, named=True)
    assert totals["attempts"] >= len(attempts)  # writers may be at work
    assert totals["output_tokens"] == 7 * totals["attempts"]
    assert totals["cost_usd"] == 0.25 * totals["attempts"]


def kill_rounds(folder: Path, rounds: int, seed: int) -> None:
    rng = random.Random(seed)
    cache = Cache(folder / "cache.duckdb", notify=lambda _: None)
    sure: list[int] = []
    for number in range(rounds):
        log = folder / f"log-{number}"
        with writer(
            cache.path, "m", number * 10**6, (number + 1) * 10**6, rng.choice([40, 150]), log
        ) as process:
            wait_until(log, b"ready")
            wait_for_lines(log, rng.randrange(0, 60))
            process.send_signal(signal.SIGKILL)
        sure += acknowledged(log)
        if rng.random() < 0.5:
            check_rows(cache, sure)
            assert {session.state for session in sessions(cache.place.journal)} <= {"dead"}
        if rng.random() < 0.5:
            assert cache.fold().lost <= 1  # the line that the kill cut, never acknowledged
            assert sessions(cache.place.journal) == []
    cache.fold()
    check_rows(cache, sure)
    assert len(sure) > rounds
    assert [path.name for path in info(cache).set_aside if ".aside-" in path.name] == []


def test_kill_at_random_moments_loses_and_doubles_nothing(tmp_path: Path) -> None:
    kill_rounds(tmp_path, 4, seed=1)


@pytest.mark.slow
def test_kill_at_twenty_five_random_moments(tmp_path: Path) -> None:
    kill_rounds(tmp_path, 25, seed=2)


def test_two_runs_share_a_cache_and_are_read_meanwhile(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.duckdb", notify=lambda _: None)
    logs = [tmp_path / "a", tmp_path / "b"]
    with writer(cache.path, "a", 0, 400, 50, logs[0]), writer(cache.path, "b", 1000, 1400, 70, logs[1]):
        for log in logs:
            wait_until(log, b"\n")
        seen = 0
        while not all(b"done" in log.read_bytes() for log in logs):
            assert all(b"Error" not in log.read_bytes() for log in logs)
            sure = acknowledged(logs[0]) + acknowledged(logs[1])
            check_rows(cache, sure)
            seen += 1
        assert seen
    check_rows(cache, [*range(400), *range(1000, 1400)])
    assert len(cache.attempts()) == 800
    assert cache.totals(by_session=True)["attempts"].to_list() == [400, 400]


def test_a_lock_left_by_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from molaudit.storage.journal.locks import FileLock\n"
        "assert FileLock(Path(sys.argv[1])).try_acquire(); print('held', flush=True); time.sleep(60)"
    )
    messages: list[str] = []
    cache = Cache(tmp_path / "cache.duckdb", notify=messages.append, wait_s=30.0)
    command = [sys.executable, "-c", script, str(cache.place.lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        holder = holder_of(cache.place.lock)
        assert holder is not None
        assert holder.pid == process.pid
        with writer(cache.path, "m", 0, 3, 100, tmp_path / "log"):
            wait_until(tmp_path / "log", f"held by PID {process.pid}".encode())
            process.kill()
            wait_until(tmp_path / "log", b"done")
    assert cache.fold().lost == 0
    assert messages == []
    check_rows(cache, [0, 1, 2])


# Stores and folds as a run does, then resolves the whole plan and reads every body; prints seconds and peak memory.
PLAN = """
import random, sys, time
from pathlib import Path
import polars as pl
from molaudit.storage.journal.attempts import StoredAttempt
from molaudit.storage.cache.store import Cache

cache, size = Cache(Path(sys.argv[1])), int(sys.argv[2])
text = bytes(random.Random(1).choices(range(97, 123), k=200_000))
with cache.journal() as journal:
    for number in range(size):
        start = number * 37 % 190_000
        journal.append(StoredAttempt(
            key=f"{number:032x}", attempt=1, endpoint="local", identity="http://x", model="m", effort="standard",
            repeat=0, outcome="answered", http_status=200, started_at=1.0, latency_s=0.1,
            body=text[start:start + 2000],
        ))
        if number % 10_000 == 9_999:
            cache.fold(journal)
    cache.fold(journal)
keys = pl.DataFrame({"key": [f"{number:032x}" for number in range(size)]})
before = time.perf_counter()
frames = cache.replies(keys)
read = len(next(frames))
seconds = time.perf_counter() - before
read += sum(len(rows) for rows in frames)
# Not getrusage: its peak starts at that of the process that forked this one, which has run other tests.
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(read, seconds, int(peak) / 1024)
"""


def plan(path: Path, size: int) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", PLAN, str(path), str(size)], capture_output=True, check=True)
    read, seconds, megabytes = done.stdout.split()
    assert int(read) == size
    return float(seconds), float(megabytes)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_a_plan_of_130_000_calls_is_resolved_in_seconds_and_bounded_memory(tmp_path: Path) -> None:
    _, small = plan(tmp_path / "small.duckdb", 10_000)
    seconds, large = plan(tmp_path / "large.duckdb", 130_000)
    assert seconds < 3.0
    # A small run takes about 390 MB in all; half of that is what a large plan may add (bench/engine_big.py has both).
    assert large - small < 195
    assert large < 600
