"""Ctrl-C, SIGTERM, SIGHUP: heard at once, out in time, nothing lost, and the printed command goes on."""

import os
import pty
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from running_audits import MOLAUDIT, Audit, environment, server, start, stats

OUT_WITHIN_S = 12.0


class Watched:
    """A running command and what it has printed, with the time of each line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[tuple[float, str]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout:
            for line in self.process.stdout:
                self.lines.append((time.monotonic(), line))

    def tell(self, number: signal.Signals) -> float:
        self.process.send_signal(number)
        return time.monotonic()

    def end(self, within_s: float) -> int:
        code = self.process.wait(within_s)
        self._reader.join(120)
        return code

    @property
    def text(self) -> str:
        return "".join(line for _, line in self.lines)

    def said(self, words: str) -> float:
        return next(at for at, line in self.lines if words in line)

    @property
    def command(self) -> list[str]:
        line = next(line for _, line in self.lines if "to go on, " in line)
        return shlex.split(line.split("to go on, ")[1])


def wait_until(condition: Callable[[], bool], within_s: float = 120.0) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "number",
    [pytest.param(one, marks=SLOW) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)],
)
def test_calls_that_hang_do_not_hold_a_run_that_is_told_to_stop(
    number: signal.Signals, tmp_path: Path
) -> None:
    """A third of the calls hang; the answered ones are kept, and the printed command asks for the rest only."""
    with server(faults="hang=0.34") as url:
        audit = Audit(tmp_path, url, molecules=40, in_flight=40)
        run = Watched(audit.start())
        wait_until(
            lambda: stats(url)["requests"] == 40 and stats(url)["answered"] + stats(url)["faults"] == 40
        )
        told = run.tell(number)
        assert run.end(60) == 130
        assert time.monotonic() - told < OUT_WITHIN_S
        assert run.said("stopping") - told < 1.0  # 0.2 s on an idle machine
        assert "Traceback" not in run.text
        kept = stats(url)["answered"]
    with server() as other:
        audit.url = other
        audit.write()
        assert run.command[0] == "molaudit"
        again = subprocess.run(
            [*MOLAUDIT, *run.command[1:]], env=environment(), capture_output=True, text=True, timeout=120, check=False
        )  # fmt: skip
        assert again.returncode == 0, again.stdout + again.stderr
        assert stats(other)["requests"] == 40 - kept


@pytest.mark.slow
def test_the_second_signal_leaves_at_once_and_consistent(tmp_path: Path) -> None:
    with server(latency="uniform:0.2,60") as url:
        audit = Audit(tmp_path, url, molecules=200, in_flight=200)
        run = Watched(audit.start())
        wait_until(lambda: stats(url)["answered"] >= 1)
        run.tell(signal.SIGINT)
        wait_until(lambda: "stopping" in run.text)
        told = run.tell(signal.SIGINT)
        assert run.end(30) == 130
        assert time.monotonic() - told < 3.0
        assert "Traceback" not in run.text
        kept = stats(url)["answered"]
    with server() as other:
        audit.url = other
        audit.write()
        assert audit.make() == 0
        # What had been sent in full when the connections were cut may not have been read: at most 2 % in flight.
        assert 200 - kept <= stats(other)["requests"] <= 200 - kept + 4
        assert not list(audit.journal.glob("*.damaged"))


@pytest.mark.slow
def test_calls_in_flight_are_waited_for_and_kept(tmp_path: Path) -> None:
    with server(latency="2.0") as url:
        audit = Audit(tmp_path, url, molecules=60, in_flight=20)
        run = Watched(audit.start())
        wait_until(lambda: stats(url)["max_in_flight"] >= 20)
        run.tell(signal.SIGINT)
        assert run.end(OUT_WITHIN_S) == 130
        answered = stats(url)["answered"]
        assert answered >= 20
        assert stats(url)["requests"] == answered
        assert audit.make() == 0
        assert stats(url)["repeated_calls"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=SLOW)])
def test_a_signal_before_the_calls_ends_the_same_way(number: signal.Signals, tmp_path: Path) -> None:
    """The cache is held by this process, so the run waits before it asks for anything."""
    from molaudit.storage.journal.locks import FileLock

    audit = Audit(tmp_path, "http://127.0.0.1:9/v1")
    with FileLock(audit.cache.with_name(audit.cache.name + ".lock")) as lock:
        lock.acquire(1.0)
        run = Watched(audit.start())
        wait_until(lambda: "waiting for cache" in run.text)
        run.tell(number)
        assert run.end(120) == 130
    assert f"PID {os.getpid()}" in run.text
    assert run.command[1:] == audit.options


@pytest.mark.slow
def test_a_run_that_ignores_hangups_outlives_its_terminal(tmp_path: Path) -> None:
    """As under nohup."""
    with server(latency="0.5") as url:
        audit = Audit(tmp_path, url, molecules=60, in_flight=20)
        process = start(audit.options, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_until(lambda: stats(url)["answered"] >= 1)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=120)
        assert process.returncode == 0
        assert stats(url)["answered"] == 60


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_end_the_run(tmp_path: Path) -> None:
    """As with `molaudit run ... | head -1`."""
    with server(latency="0.3") as url:
        audit = Audit(tmp_path, url, molecules=40, in_flight=10)
        process = audit.start(stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        assert "to make" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(120) == 0
        with process.stderr:
            assert process.stderr.read() == ""
        assert stats(url)["answered"] == 40
        assert audit.cells()


@pytest.mark.slow
def test_a_terminal_that_closes_lets_the_run_end_in_order(tmp_path: Path) -> None:
    with server(latency="0.5") as url:
        audit = Audit(tmp_path, url, molecules=200, in_flight=10)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*MOLAUDIT, *audit.options], stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, env=environment(),
        )  # fmt: skip
        os.close(theirs)
        wait_until(lambda: stats(url)["answered"] >= 1)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(OUT_WITHIN_S) == 130
        told = stats(url)
        assert audit.make() == 0
        assert stats(url)["repeated_calls"] == told["repeated_calls"] == 0
