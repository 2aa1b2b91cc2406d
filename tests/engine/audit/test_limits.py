"""Limits of rate and of money, in real runs against a server that enforces them."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from running_audits import Audit, server, stats

from molaudit.engine.cli import main

CALLS, RPM, BURST = 300, 600, 20
IDEAL_S = (CALLS - BURST) / (RPM / 60)


def check_all_answered_once(audit: Audit, url: str) -> None:
    told = stats(url)
    assert (told["answered"], told["distinct_calls"], told["repeated_calls"]) == (CALLS, CALLS, 0)
    assert audit.attempts().height == told["requests"]


@pytest.mark.slow
@pytest.mark.alone
def test_a_known_limit_is_used_to_the_full_and_never_passed(tmp_path: Path) -> None:
    with server(rpm=RPM, burst=BURST) as url:
        audit = Audit(tmp_path, url, molecules=CALLS, in_flight=200, endpoint=f"requests_per_minute = {RPM}")
        assert audit.make() == 0
        check_all_answered_once(audit, url)
        assert stats(url)["rejected_429"] == 0
        # A client that does not know the server's burst cannot use it, so the bar is the rate itself.
        assert audit.facts()["run"]["elapsed_s"] <= CALLS / (RPM / 60) / 0.97


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("hints", ["openai", "retry-after"])
def test_an_unknown_limit_is_found_with_few_rejections(hints: str, tmp_path: Path) -> None:
    with server(rpm=RPM, burst=BURST, hints=hints) as url:
        audit = Audit(tmp_path, url, molecules=CALLS, in_flight=200)
        assert audit.make() == 0
        check_all_answered_once(audit, url)
        assert stats(url)["rejected_429"] < 20
        assert audit.facts()["run"]["elapsed_s"] <= CALLS / (RPM / 60) / 0.9


def test_a_known_limit_meets_no_rejection(tmp_path: Path) -> None:
    with server(rpm=3000, burst=5) as url:
        stated = "requests_per_minute = 3000\nburst = 5"
        audit = Audit(tmp_path, url, molecules=60, in_flight=60, endpoint=stated)
        assert audit.make() == 0
        told = stats(url)
        assert (told["answered"], told["rejected_429"]) == (60, 0)
        assert audit.facts()["run"]["elapsed_s"] > 0.9 * (60 - 5) / 50


def test_a_stated_burst_is_not_passed(tmp_path: Path) -> None:
    with server(rpm=600, burst=2) as url:
        audit = Audit(
            tmp_path, url, molecules=30, in_flight=30, endpoint="requests_per_minute = 600\nburst = 2"
        )
        assert audit.make() == 0
        told = stats(url)
        assert (told["answered"], told["rejected_429"]) == (30, 0)


@pytest.mark.slow
def test_in_flight_is_never_passed(tmp_path: Path) -> None:
    with server(latency="0.1") as url:
        audit = Audit(tmp_path, url, models=("reciter", "skilled"), molecules=30, in_flight=7)
        assert audit.make() == 0
        assert stats(url)["max_in_flight"] <= 7


def test_a_budget_stops_admission_before_it_is_passed_and_raising_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = "price = { input = 100.0, output = 1000.0 }\nmax_output_tokens = 50"
    with server(latency="0.02") as url:
        audit = Audit(tmp_path, url, molecules=60, in_flight=10, run="budget_usd = 0.5", model=prices)
        assert audit.make() == 3
        shown = capsys.readouterr().out
        spent = audit.facts()["totals"]["cost_usd"]
        told = stats(url)
        assert 0 < told["answered"] < 60
        assert spent <= 0.5
        # A call more at its worst (50 tokens out, about 110 in) would not have fitted.
        assert spent > 0.5 - 2 * (50 * 1e-3 + 200 * 1e-4)
        assert "budget" in shown
        assert audit.facts()["run"]["ended"] == "budget"
        command = next(line for line in shown.splitlines() if "to go on, " in line)
        # What was spent counts in the next session too.
        assert audit.make() == 3
        assert stats(url)["requests"] == told["requests"]
        audit.run = "budget_usd = 100.0"
        audit.write()
        assert main(shlex.split(command.split("molaudit ")[1])) == 0
        assert stats(url)["answered"] == 60
        assert stats(url)["repeated_calls"] == 0


def test_the_tables_of_a_run_say_what_was_done(tmp_path: Path) -> None:
    with server(faults="500=0.15", latency="0.01") as url:
        price = "price = { input = 2.0, output = 8.0 }"
        audit = Audit(tmp_path, url, models=("reciter", "skilled"), molecules=25, model=price)
        assert audit.make() == 0
        first = audit.facts()
        attempts = audit.attempts()
        assert {"key", "model", "benchmark", "molecule", "attempt", "outcome", "http_status", "tokens", "latency_s",
                "started_at"} <= set(attempts.columns)  # fmt: skip
        assert attempts["attempt"].max() > 1  # type: ignore[operator]
        assert attempts["latency_s"].min() >= 0.009  # type: ignore[operator]
        assert set(attempts["model"]) == {"reciter", "skilled"}
        answered = attempts.filter(pl.col("outcome") == "answered")
        by_hand = (answered["input_tokens"] * 2.0 + answered["output_tokens"] * 8.0).sum() / 1e6
        assert first["totals"]["cost_usd"] == pytest.approx(by_hand, rel=1e-12)
        assert answered["tokens"].sum() == first["totals"]["input_tokens"] + first["totals"]["output_tokens"]
        assert first["totals"]["output_tokens"] == stats(url)["output_tokens"]
        assert first["run"]["calls_made"] == first["totals"]["attempts"] == stats(url)["requests"]
        assert first["run"]["lag_p99_s"] is None or 0 <= first["run"]["lag_p99_s"] < 5
        assert [one["session"] for one in first["sessions"]] == [first["run"]["session"]]
        assert first["audit"]["run"]["seed"] == 1
        audit.molecules = 35
        audit.write()
        assert audit.make() == 0
        second = audit.facts()
        assert len(second["sessions"]) == 2
        own = next(one for one in second["sessions"] if one["session"] == second["run"]["session"])
        assert own["answered"] == 20
        assert second["totals"]["answered"] == 70
        for name in ("attempts", "input_tokens", "output_tokens", "cost_usd"):
            assert sum(one[name] for one in second["sessions"]) == pytest.approx(
                second["totals"][name], rel=1e-12
            )
        json.dumps(second, allow_nan=False)
