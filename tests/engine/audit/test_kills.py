"""kill -9 at random moments: no stored answer is lost or asked again, nothing is double, the totals are the same."""

import random
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from running_audits import Audit, server, stats

from molaudit.storage.cache.store import Cache


def stored(audit: Audit) -> set[str]:
    """The keys with an answer, wherever it stands; a killed process's journal is read, not folded."""
    found = Cache(audit.cache).attempts()
    return set(found.filter(pl.col("outcome") == "answered")["key"].to_list())


def kill_once(audit: Audit, url: str, delay_s: float) -> tuple[int, float]:
    """Run, and kill ``delay_s`` after the first answer; returns the calls in flight then, and the time."""
    before = stats(url)["answered"]
    process = audit.start(stdout=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while stats(url)["answered"] == before:
        assert process.poll() is None, "the run ended before it was killed: make it longer"
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(delay_s)
    flying: int = stats(url)["in_flight"]
    assert process.poll() is None, "the run ended before it was killed: make it longer"
    process.send_signal(signal.SIGKILL)
    process.wait()
    return flying, time.time()


def check_kills(audit: Audit, url: str, kills: int, *, longest_s: float, share: float) -> None:
    """``share`` of the calls in flight at the kills may have been sent by the server and not yet read by the run."""
    draw = random.Random(kills)
    known: list[tuple[float, set[str]]] = []
    flying = 0
    for _ in range(kills):
        out, at = kill_once(audit, url, draw.uniform(0.0, longest_s))
        flying += out
        known.append((at, stored(audit)))
    assert all(earlier <= later for (_, earlier), (_, later) in pairwise(known))
    assert audit.make() == 0
    told = stats(url)
    attempts = audit.attempts()
    answered = attempts.filter(pl.col("outcome") == "answered")
    assert answered["key"].is_unique().all()
    assert answered.height == told["distinct_calls"]
    assert not attempts.select("session", "key", "attempt").is_duplicated().any()
    for at, keys in known:
        later = attempts.filter((pl.col("started_at") > at) & pl.col("key").is_in(list(keys)))
        assert later.height == 0
    assert known[-1][1]
    assert told["repeated_calls"] <= share * flying
    assert len(audit.facts()["sessions"]) <= kills + 1

    with server() as fast:
        whole = Audit(
            audit.folder / "whole", fast, models=audit.models, molecules=audit.molecules,
            in_flight=audit.in_flight, model=audit.model,
        )  # fmt: skip
        assert whole.make() == 0
    assert whole.cells() == audit.cells()
    for name in ("answered", "calls", "input_tokens", "output_tokens", "cost_usd"):
        assert audit.facts()["totals"][name] == pytest.approx(whole.facts()["totals"][name], rel=1e-12), name


PRICE = "price = { input = 2.5, output = 10.0 }"


@pytest.mark.slow
def test_three_kills_lose_and_repeat_nothing(tmp_path: Path) -> None:
    with server(latency="uniform:0.2,0.6") as url:
        audit = Audit(tmp_path, url, models=("reciter", "skilled"), molecules=160, in_flight=50, model=PRICE)
        check_kills(audit, url, 3, longest_s=0.7, share=0.06)  # a busy machine: a few of 100


@pytest.mark.slow
@pytest.mark.alone
def test_twenty_five_kills_with_500_in_flight_lose_and_repeat_nothing(tmp_path: Path) -> None:
    models = [f"reciter-{n}" for n in range(1, 101, 4)] + ["skilled", "blind", "constant"]
    # 2 % is what bench/engine_kill.py holds on an idle machine; where others take the processor, answers wait longer
    # in the sockets for the run to read them.
    with server(latency="uniform:0.5,1.5") as url:
        audit = Audit(tmp_path, url, models=models, molecules=500, in_flight=500, model=PRICE)
        check_kills(audit, url, 25, longest_s=1.6, share=0.1)
