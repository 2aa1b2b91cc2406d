"""Two runs on one cache, and the commands that read it while a run is live."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from running_audits import Audit, environment, server, start, stats

from molaudit.engine.cli import main


def wait_for_answers(url: str, count: int) -> None:
    end = time.monotonic() + 120
    while stats(url)["answered"] < count:
        assert time.monotonic() < end
        time.sleep(0.05)


def finish(runs: Sequence["subprocess.Popen[str]"]) -> list[str]:
    texts = [run.communicate(timeout=180)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * len(runs), texts
    assert not [text for text in texts if "Traceback" in text]
    return texts


@pytest.mark.slow
def test_two_runs_of_overlapping_plans_share_one_cache(tmp_path: Path) -> None:
    with server(latency="0.3") as url:
        one = Audit(tmp_path, url, models=("reciter", "skilled"), molecules=60, name="one")
        other = Audit(tmp_path, url, models=("skilled", "blind"), molecules=60, name="other")
        finish([one.start(), other.start()])
        told = stats(url)
        assert told["distinct_calls"] == 180
        assert told["requests"] <= 240
        assert told["repeated_calls"] == told["requests"] - 180
        # After both have ended nobody pays again for anything, whoever asked it.
        both = Audit(tmp_path, url, models=("reciter", "skilled", "blind"), molecules=60, name="both")
        assert both.make() == 0
        assert stats(url)["requests"] == told["requests"]
        assert both.attempts().height == told["requests"]
        cells = {name: pl.read_csv(audit.cells()).drop("p12_bh", "p23_bh", strict=False)
                 for name, audit in (("one", one), ("other", other), ("both", both))}  # fmt: skip
        for name in ("one", "other"):
            counts = ("model", "m1", "m2", "m3", "n_usable")
            assert cells[name].select(counts).rows() == [
                row for row in cells["both"].select(counts).rows() if row[0] in cells[name]["model"].to_list()
            ]


@pytest.mark.slow
def test_a_run_that_starts_later_pays_only_for_what_the_first_has_not_got(tmp_path: Path) -> None:
    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url, molecules=100, in_flight=10)
        first = audit.start()
        wait_for_answers(url, 40)
        second = Audit(tmp_path, url, molecules=100, in_flight=10, name="second")
        texts = finish([first, second.start()])
        hits = int(texts[1].split(" answered from the cache")[0].rsplit(maxsplit=1)[1])
        assert hits >= 40
        told = stats(url)
        assert told["distinct_calls"] == 100
        assert told["repeated_calls"] <= 100 - hits
        assert audit.cells() == second.cells()


@pytest.mark.slow
def test_five_runs_at_once_corrupt_nothing(tmp_path: Path) -> None:
    with server(latency="uniform:0,0.2") as url:
        audits = [
            Audit(tmp_path, url, models=("reciter", "skilled"), molecules=100, name=f"n{n}") for n in range(5)
        ]
        finish([audit.start() for audit in audits])
        assert len({audit.cells() for audit in audits}) == 1
        before = stats(url)["requests"]
        assert audits[0].make() == 0
        assert stats(url)["requests"] == before
        assert audits[0].attempts().height == before


@pytest.mark.slow
def test_reading_commands_work_beside_a_live_run_and_do_not_disturb_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(latency="0.4") as url:
        audit = Audit(tmp_path, url, molecules=240, in_flight=12)
        run = audit.start()
        # Before an answer there is nothing to score, which is no error.
        end = time.monotonic() + 60
        while stats(url)["requests"] == 0 and time.monotonic() < end:
            time.sleep(0.02)
        assert main(["report", str(audit.path), "--cache", str(audit.cache)]) == 0
        wait_for_answers(url, 60)
        capsys.readouterr()
        report = tmp_path / "partial"
        asked = ["--cache", str(audit.cache)]
        assert main(["status", str(audit.path), *asked]) == 0
        shown = capsys.readouterr().out
        assert "running" in shown
        assert "of 240 calls are done" in shown
        assert main(["report", str(audit.path), *asked, "--out", str(report)]) == 0
        assert "partial: " in capsys.readouterr().out
        cells = pl.read_csv(report / "cells.csv")
        assert cells["left_out_not_asked"][0] > 0
        assert 0 < cells["m1"][0] < 240
        assert main(["plan", str(audit.path), *asked]) == 0
        assert main(["cache", "info", *asked]) == 0
        labels = tmp_path / "labels.csv"
        pairs = pl.read_parquet(report / "pairs.parquet").filter(pl.col("text").is_not_null())
        pairs.select("molecule", label="label_text").unique().write_csv(labels)
        exported = tmp_path / "answers.parquet"
        pairs.select("model", "molecule", answer="text").write_parquet(exported)
        scored = ["score", str(exported), "--labels", str(labels), "--out", str(tmp_path / "scored")]
        assert main(scored) == 0
        assert run.poll() is None, "the run ended too early to prove anything: make it longer"
        finish([run])
        told = stats(url)
        assert (told["requests"], told["answered"]) == (240, 240)
        assert pl.read_csv(audit.cells())["left_out_not_asked"][0] == 0


@pytest.mark.slow
def test_reading_commands_work_while_another_process_holds_the_database(tmp_path: Path) -> None:
    """The lock is held, as by a long fold: status and report read beside it, and end in time."""
    from molaudit.storage.journal.locks import FileLock

    with server() as url:
        audit = Audit(tmp_path, url, molecules=40)
        assert audit.make() == 0
        with FileLock(audit.cache.with_name(audit.cache.name + ".lock")) as lock:
            lock.acquire(1.0)
            for command in ("status", "report"):
                process = start([command, str(audit.path), "--cache", str(audit.cache)], env=environment())
                text = process.communicate(timeout=60)[0]
                assert process.returncode == 0, text
                assert "reciter" in text
