"""Troubles of the machine and of the money, over real sockets: what a run does when they come, and what it says."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from running_audits import MOLAUDIT, Audit, environment, server, stats

from molaudit.engine.audit import command, live, scorer_process
from molaudit.engine.audit.scorer_process import ScorerProcess
from molaudit.storage.errors import CacheError
from molaudit.storage.journal.journal import Journal

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


PRICE = "price = { input = 1.0, output = 2.0 }"


@pytest.mark.slow
def test_what_lost_calls_may_have_cost_is_not_forgotten_by_the_next_session(tmp_path: Path) -> None:
    """Each call may cost 0.1 USD and none is ever answered: whatever is asked again, the budget allows four."""
    with server(faults="hang=1") as url:
        audit = Audit(
            tmp_path,
            url,
            molecules=20,
            run="budget_usd = 0.45",
            endpoint="timeouts = { default = 0.3 }",
            model="price = { input = 0.0, output = 100.0 }\nmax_output_tokens = 1000",
        )
        assert audit.make() == 3
        assert audit.make() == 3
        assert stats(url)["requests"] == 4
        assert audit.facts()["run"]["ended"] == "budget"


def test_a_run_ends_at_its_deadline_and_goes_on_later(tmp_path: Path, capsys: Capture) -> None:
    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url, molecules=80, in_flight=2, run="deadline_minutes = 0.05")
        assert audit.make() == 3
        answered = stats(url)["answered"]
        assert 1 <= answered < 40
        assert audit.facts()["run"]["ended"] == "deadline"
        assert "deadline_minutes are over: to go on, molaudit run" in capsys.readouterr().out
        audit.run, audit.in_flight = "", 40
        audit.write()
        assert audit.make() == 0
        assert stats(url)["requests"] == 80


@pytest.mark.parametrize("error", [CacheError("the segment is gone"), OSError("no such file")])
def test_a_journal_that_cannot_be_closed_beside_the_calls_ends_no_call(
    error: Exception, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    def fail(_journal: Journal) -> None:
        raise error

    monkeypatch.setattr(live, "FOLD_EVERY_S", 0.1)
    monkeypatch.setattr(live, "BEAT_EVERY_S", 0.1)
    monkeypatch.setattr(Journal, "rotate", fail)
    monkeypatch.setattr(Journal, "beat", fail)
    with server(latency="0.3") as url:
        audit = Audit(tmp_path, url, molecules=30)
        assert audit.make() == 0
        assert stats(url)["answered"] == 30
    shown = capsys.readouterr().out
    assert str(error) in shown
    assert "heartbeat" in shown


def test_results_of_other_settings_do_not_stay_beside_a_run_without_answers(tmp_path: Path) -> None:
    with server() as url:
        assert Audit(tmp_path, url).make() == 0
    with server(faults="401=1") as url:
        other = Audit(tmp_path, url, models=("skilled",))
        assert (other.out / "cells.csv").exists()
        assert other.make() == 3
    assert sorted(path.name for path in other.out.iterdir()) == ["attempts.parquet", "run.json"]
    assert set(other.attempts()["model"]) == {"skilled"}


def wait_until_asleep(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has nothing to do but to wait, as for a line of input."""
    stat = Path(f"/proc/{process.pid}/stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "S":
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_question_of_cost_is_whole_and_hears_signals(number: signal.Signals, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    audit = Audit(tmp_path, "http://127.0.0.1:9/v1", models=("some-model",), model=PRICE)
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [*MOLAUDIT, "run", str(audit.path), "--cache", str(audit.cache)],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**environment(TERM="dumb"), "NO_COLOR": "1"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while b"N]" not in seen:
        seen += os.read(ours, 65_536)
    wait_until_asleep(run)
    run.send_signal(number)
    assert run.wait(120) == 130
    assert b"[y/N]" in seen
    os.close(ours)


SIGNALLED = """
import os, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["SIGNALLED_AT"]:
            os.kill(os.getpid(), int(os.environ["SIGNALLED_BY"]))

sys.meta_path.insert(0, Finder())
"""
"""A start-up file: the process gets a signal when it comes to import a module."""


@pytest.mark.parametrize(
    "module", ["molaudit.engine.commands.demo", "polars", "molaudit.engine.simulated.http"]
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_starts_is_interrupted_like_any_other(
    number: signal.Signals, module: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SIGNALLED)
    done = subprocess.run(
        [*MOLAUDIT, "demo", "--out", str(tmp_path / "demo")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(PYTHONPATH=str(tmp_path), SIGNALLED_AT=module, SIGNALLED_BY=str(int(number))),
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_a_closed_output_ends_no_run(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)
        line = f"{shlex.join([*MOLAUDIT, *audit.options])} >&- 2>&- <&-"
        assert subprocess.run(["sh", "-c", line], check=False, timeout=60).returncode == 0
    assert audit.cells()


@pytest.mark.parametrize("way", ["redirected", "a pipe"])
def test_settings_from_standard_input(way: str, tmp_path: Path) -> None:
    if not Path("/dev/stdin").exists():
        pytest.skip("needs /dev/stdin")
    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url)
        options = shlex.join([*MOLAUDIT, "run", "/dev/stdin", *audit.options[2:]])
        line = f"{options} < {audit.path}" if way == "redirected" else f"cat {audit.path} | {options}"
        done = subprocess.run(["sh", "-c", line], check=False, timeout=60, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert stats(url)["answered"] == audit.molecules
    assert audit.cells()


def test_results_that_cannot_be_written_after_the_calls_are_said_with_the_way_on(
    tmp_path: Path, capsys: Capture
) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)
        (audit.out / "cells.csv" / "in the way").mkdir(parents=True)
        assert audit.make() == 3
        shown = capsys.readouterr().out
        assert "cells.csv: cannot be written" in shown.replace("\n", "")
        assert "the results are not written: to go on, molaudit run" in shown
        (audit.out / "cells.csv" / "in the way").rmdir()
        (audit.out / "cells.csv").rmdir()
        assert audit.make() == 0
        assert stats(url)["requests"] == audit.molecules


def test_a_file_with_a_leading_dash_is_named_so_that_the_command_works() -> None:
    assert command.RunOptions().command(Path("-a.toml"))[:3] == ["molaudit", "run", "./-a.toml"]


def test_a_second_process_that_says_nothing_more_is_given_up(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(scorer_process, "PATIENCE_S", 0.5)
    order = ScorerProcess.order

    def order_and_stop(self: ScorerProcess, *given: object, **named: object) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        order(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(ScorerProcess, "order", order_and_stop)
    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
    assert audit.cells()


def test_a_start_file_that_prints_disturbs_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    starts = tmp_path / "start files"
    starts.mkdir()
    (starts / "sitecustomize.py").write_text("print('hello', flush=True)\nprint('[1]', flush=True)\n")
    monkeypatch.setenv("PYTHONPATH", str(starts))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the run has scored by itself")

    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url)
        monkeypatch.setattr(command, "write_results", never)
        assert audit.make() == 0
    assert audit.cells()
