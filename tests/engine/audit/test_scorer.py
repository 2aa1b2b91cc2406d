"""The second process that scores: it changes when results are there, never what they are, and outlives no run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from running_audits import Audit, environment, server, stats

from molaudit.engine.audit import command, live, scorer_process
from molaudit.engine.audit.scorer_process import ScorerProcess
from molaudit.engine.audit.unchanged import basis
from molaudit.engine.settings import loading as settings_file
from molaudit.storage.journal.locks import FileLock

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

SLOW_ENOUGH = "0.3"
"""Seconds before a reply, with `at_once` more than enough for the second process to be started."""

CHILDREN = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def never(*_: object, **__: object) -> None:
    raise AssertionError("the run has scored by itself")


def scores_in(shown: str) -> str:
    """The tables that were shown, without the name of the folder below them."""
    return shown[shown.index("Contamination map") : shown.index("2 cells written")]


@pytest.fixture
def at_once(monkeypatch: Patch) -> None:
    """A run that starts its second process before the first call, however late a busy machine lets it look."""
    monkeypatch.setattr(live, "WAITING_AFTER_S", 0.0)


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    with server(latency=SLOW_ENOUGH) as url:
        yield url


@pytest.mark.usefixtures("at_once")
def test_the_results_are_those_of_one_process_and_stand(
    slow: str, tmp_path: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    models = ("reciter", "skilled")
    with server() as quick:
        alone = Audit(tmp_path / "alone", quick, models=models, molecules=60)
        with monkeypatch.context() as patch:
            patch.setattr(live, "WAITING_AFTER_S", 60.0)
            patch.setattr(ScorerProcess, "start", never)
            assert alone.make() == 0
        shown_alone = capsys.readouterr().out
    both = Audit(tmp_path / "both", slow, models=models, molecules=60, in_flight=60)
    with monkeypatch.context() as patch:
        patch.setattr(command, "write_results", never)
        assert both.make() == 0
    shown = capsys.readouterr().out
    assert both.cells() == alone.cells()
    assert (both.out / "floors.csv").read_bytes() == (alone.out / "floors.csv").read_bytes()
    pairs = [pl.read_parquet(one.out / "pairs.parquet") for one in (both, alone)]
    assert pairs[0].drop("row").equals(pairs[1].drop("row"))
    assert both.attempts().height == alone.attempts().height == 120
    assert both.facts()["run"]["calls_made"] == 120
    assert both.facts()["run"].keys() == alone.facts()["run"].keys()
    assert scores_in(shown) == scores_in(shown_alone)
    assert both.make() == 0
    assert "nothing has changed" in capsys.readouterr().out


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("fault", ["cannot be started", "ends at once", "is killed when it should score"])
def test_a_run_whose_second_process_fails_scores_by_itself(
    fault: str, slow: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    audit = Audit(tmp_path, slow, molecules=40, in_flight=40)
    if fault == "cannot be started":
        monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    elif fault == "ends at once":
        monkeypatch.setattr(scorer_process, "_PROGRAM", "molaudit.engine.nothing")
    else:
        order = ScorerProcess.order

        def order_and_kill(self: ScorerProcess, *given: object, **named: object) -> None:
            order(self, *given, **named)  # type: ignore[arg-type]
            assert self._process is not None
            self._process.kill()

        monkeypatch.setattr(ScorerProcess, "order", order_and_kill)
    assert audit.make() == 0
    assert audit.facts()["sealed"]["calls"] == 40
    assert len(audit.cells().splitlines()) == 2


@pytest.mark.usefixtures("at_once")
def test_a_long_run_starts_no_second_process(slow: str, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(command, "WORTH_UP_TO", 39)
    monkeypatch.setattr(ScorerProcess, "start", never)
    audit = Audit(tmp_path, slow, molecules=40, in_flight=40)
    assert audit.make() == 0


@pytest.fixture
def answered(tmp_path: Path) -> tuple[Audit, str]:
    """An audit with all its answers, and the digest of what it has read."""
    with server() as url:
        audit = Audit(tmp_path, url, molecules=40)
        assert audit.make() == 0
    (audit.out / "cells.csv").unlink()
    return audit, basis(settings_file.load(audit.path))


def test_what_the_second_process_has_to_say_is_said_at_once(answered: tuple[Audit, str]) -> None:
    audit, known = answered
    said: list[str] = []
    lock = FileLock(audit.cache.with_name(audit.cache.name + ".lock"))
    lock.acquire(5.0)
    with ScorerProcess(audit.path, audit.cache, audit.out) as scorer:
        scorer.start()
        scorer.order({"from_cache": 40}, known, complete=True)

        def warn(text: str) -> None:
            said.append(text)
            lock.release()

        assert scorer.result(warn) is True
    assert any(str(audit.cache) in text for text in said)
    assert audit.facts()["run"] == {"from_cache": 40}
    assert audit.cells()


@pytest.mark.parametrize("why", ["other settings", "a long order", "no order", "never started"])
def test_what_the_second_process_cannot_do_is_left_to_the_run(why: str, answered: tuple[Audit, str]) -> None:
    audit, known = answered
    facts = {"internal_errors": ["x" * 40_000]} if why == "a long order" else {}
    with ScorerProcess(audit.path, audit.cache, audit.out) as scorer:
        if why != "never started":
            scorer.start()
        if why != "no order":
            scorer.order(facts, "another digest" if why == "other settings" else known, complete=True)
        assert scorer.result(never) is None
    assert not (audit.out / "cells.csv").exists()


def children(process: subprocess.Popen[str]) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(one) for one in found]


def wait_for_scorer(process: subprocess.Popen[str]) -> int:
    """Wait until the second process runs its own program: before, it is still a copy of the first."""
    end = time.monotonic() + 120
    while True:
        for child in children(process):
            with suppress(OSError):
                if scorer_process._PROGRAM.encode() in Path(f"/proc/{child}/cmdline").read_bytes():
                    return child
        assert process.poll() is None
        assert time.monotonic() < end, "no second process was started"
        time.sleep(0.02)


def ends(pid: int, within_s: float = 60.0) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@CHILDREN
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_second_process_outlives_its_run(number: signal.Signals, tmp_path: Path) -> None:
    with server(latency="5") as url:
        audit = Audit(tmp_path, url, molecules=40, in_flight=40)
        run = audit.start(start_new_session=True, stdout=subprocess.DEVNULL)
        child = wait_for_scorer(run)
        if number is signal.SIGINT:
            os.killpg(run.pid, number)
            os.killpg(run.pid, number)  # twice: at once
        else:
            os.kill(run.pid, number)
            if number is signal.SIGTERM:
                os.kill(run.pid, number)
        assert run.wait(120) == (-9 if number is signal.SIGKILL else 130)
        assert ends(child)


@CHILDREN
def test_the_second_process_has_no_key(tmp_path: Path) -> None:
    key = "sk-test-SECRET123"
    with server(latency="1") as url:
        audit = Audit(tmp_path, url, molecules=5, endpoint='api_key_env = "LOCAL_KEY"')
        run = audit.start(env=environment(LOCAL_KEY=key), stdout=subprocess.DEVNULL)
        child = wait_for_scorer(run)
        seen = Path(f"/proc/{child}/environ").read_bytes()
        assert run.wait(120) == 0
        assert stats(url)["answered"] == 5
    assert b"COLUMNS" in seen
    assert key.encode() not in seen
    assert json.loads((audit.out / "run.json").read_text())["run"]["calls_made"] == 5
