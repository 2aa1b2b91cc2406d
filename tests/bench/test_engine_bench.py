"""The engine benchmark's own logic: what it asks, what it counts, and when a run does not count."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rdkit import Chem

from molaudit.bench import engine_big, engine_kill, engine_tables, engine_workload
from molaudit.bench.engine_peers import KINDS, find, modules
from molaudit.bench.engine_runs import Measured, Run, measure, run_ours, run_peer
from molaudit.bench.engine_scenarios import (
    OURS,
    EngineRow,
    Scenario,
    medians,
    rerun_rows,
    row_of,
    run_scenario,
    scenarios,
)
from molaudit.bench.engine_workload import Workload
from molaudit.bench.peers.drive import drive
from molaudit.engine.simulated.server import ServeSettings

FINE = Measured(exit=0, seconds=10.0, cpu_seconds=3.0, peak_bytes=50_000_000, stdout="", stderr="")


def stats(answered: int, repeated: int = 0, rejected: int = 0) -> dict[str, Any]:
    return {
        "requests": answered + rejected + repeated,
        "distinct_calls": answered,
        "repeated_calls": repeated,
        "rejected_429": rejected,
    }


def run(answered: int, *, phase: float | None = 8.0, **counts: int) -> Run:
    return Run(FINE, stats(answered, **counts), answered, phase)


def row(peer: str, seconds: float | None, **changes: Any) -> EngineRow:
    made = row_of(Scenario("task", Workload(100)), peer, "1.0", run(100))
    return replace(made, seconds=seconds, **changes)


# What is asked.


def test_structures_are_valid_and_no_two_are_the_same_molecule() -> None:
    indices = [*range(300), 4**9 - 1, 4**8, 131_999]
    spelled = {Chem.CanonSmiles(engine_workload.smiles(index)) for index in indices}
    assert len(spelled) == len(indices)


def test_benchmarks_are_the_same_each_time_and_share_no_molecule() -> None:
    first, second = engine_workload.benchmark(0, 50), engine_workload.benchmark(1, 50)
    assert first.equals(engine_workload.benchmark(0, 50))
    assert not set(first["smiles"]) & set(second["smiles"])
    assert set(first["molecule"]) | set(second["molecule"]) == {f"compound {row}" for row in range(100)}
    figures = [text.replace(".", "").lstrip("0") for text in first["label"]]
    assert {len(text) for text in figures} == {3}


def test_peers_send_the_bodies_of_our_plan_once_each(tmp_path: Path) -> None:
    workload = Workload(6, ("reciter", "blind@2"), 2)
    files = engine_workload.write(workload, tmp_path)
    bodies = engine_workload.write_bodies(workload, files).read_bytes().splitlines()
    asked = [json.loads(body) for body in bodies]
    assert len(bodies) == len(set(bodies)) == workload.calls == 24
    assert {one["model"] for one in asked} == {"reciter", "blind@2"}
    texts = {one["messages"][-1]["content"] for one in asked}
    assert sum("Property: property 1\n" in text for text in texts) == 6
    assert all(any(f"SMILES: {engine_workload.smiles(i)}\n" in text for text in texts) for i in range(12))


def test_our_engine_is_told_the_limit_only_where_the_workload_says_so(tmp_path: Path) -> None:
    files = engine_workload.write(Workload(3), tmp_path)
    for limit, said in ((None, False), (600.0, True)):
        engine_workload.point(Workload(3, requests_per_minute=limit), files, "http://127.0.0.1:9/v1")
        text = files.audit.read_text()
        assert ("requests_per_minute = 600" in text) == said
        assert 'base_url = "http://127.0.0.1:9/v1"' in text


# How a process is measured.


def test_peak_memory_is_the_processes_own_and_not_inherited(tmp_path: Path) -> None:
    held = bytearray(b"x") * 300_000_000
    small = measure([sys.executable, "-I", "-S", "-c", "pass"], tmp_path, 60)
    big = measure([sys.executable, "-I", "-S", "-c", "bytearray(b'x') * 200_000_000"], tmp_path, 60)
    assert len(held) == 300_000_000
    assert small.peak_bytes < 60_000_000
    assert 200_000_000 < big.peak_bytes < 260_000_000


def test_exit_code_output_and_time_come_back(tmp_path: Path) -> None:
    code = "import sys, time; print('out'); print('err', file=sys.stderr); time.sleep(0.3); sys.exit(3)"
    done = measure([sys.executable, "-c", code], tmp_path, 60)
    assert (done.exit, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert done.seconds >= 0.3


def test_a_process_that_takes_too_long_is_stopped_and_does_not_count(tmp_path: Path) -> None:
    done = measure([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, 0.5)
    assert done.exit == 124
    assert done.seconds < 60
    assert Run(done, stats(100), 100, 1.0).fault(100) == "stopped: took too long"


def test_byte_code_is_cached_in_what_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    done = measure([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"], tmp_path, 60)
    assert done.stdout == "False\n"


# The loop that clients without one are driven by.


def test_drive_makes_each_call_once_and_keeps_to_the_calls_in_flight() -> None:
    seen: list[bytes] = []
    flying = most = 0

    async def post(body: bytes) -> str:
        nonlocal flying, most
        seen.append(body)
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.001)
        flying -= 1
        return "Answer: 1"

    bodies = [b"%d" % n for n in range(40)]
    result = asyncio.run(drive(post, bodies, 7))
    assert sorted(seen) == sorted(bodies)
    assert most == 7
    assert (result["answered"], result["failed"], result["error"]) == (40, 0, None)
    assert result["call_phase_s"] > 0.005


def test_drive_counts_errors_and_empty_replies_as_failed() -> None:
    async def post(body: bytes) -> str:
        if body == b"2":
            raise ConnectionError("reset")
        return "" if body == b"3" else "Answer: 1"

    result = asyncio.run(drive(post, [b"1", b"2", b"3"], 1))
    assert (result["answered"], result["failed"], result["error"]) == (1, 2, "ConnectionError: reset")


# When a run counts.


@pytest.mark.parametrize(
    ("measured", "fault"),
    [
        (run(100), None),
        (run(99), "99 of 100 answered, 99 sent: no message"),
        (Run(FINE, stats(100), 99, 8.0), "99 of 100 answered, 100 sent: no message"),
        (Run(FINE, stats(99), 100, 8.0), "100 of 100 answered, 99 sent: no message"),
        (run(100, repeated=2), "2 calls paid twice"),
        (Run(replace(FINE, exit=1, stderr="a\nboom\n"), stats(100), 100, 8.0), "exit 1: boom"),
    ],
)
def test_a_run_counts_only_if_both_sides_have_every_call_once(measured: Run, fault: str | None) -> None:
    assert measured.fault(100) == fault


def test_a_run_that_lost_calls_has_no_time() -> None:
    made = row_of(Scenario("task", Workload(100)), "peer", "", run(99))
    assert (made.seconds, made.per_second, made.call_phase_s, made.unanswered) == (None, None, None, 1)
    assert "99 of 100" in made.note


def test_rates_are_calls_over_seconds() -> None:
    made = row_of(Scenario("task", Workload(100)), "peer", "", run(100))
    assert (made.per_second, made.call_phase_per_second, made.peak_mb) == (10.0, 12.5, 50.0)
    assert made.share is None


def test_share_of_the_allowed_rate_by_hand() -> None:
    # 20 at once and ten a second after that: 300 in 28 s, 370 in 35 s.
    scenario = Scenario("task", Workload(300), rpm=600, burst=20)
    assert row_of(scenario, "peer", "", run(300, phase=28.0)).share == pytest.approx(1.0)
    assert row_of(scenario, "peer", "", run(300, phase=35.0)).share == pytest.approx(300 / 370)
    lossy = row_of(scenario, "peer", "", run(150, phase=28.0, rejected=400))
    assert lossy.share == pytest.approx(0.5)
    assert (lossy.seconds, lossy.unanswered, lossy.rejected_429) == (10.0, 150, 400)


def test_the_median_run_of_each_engine_counts() -> None:
    turns = [
        row(OURS, 4.0),
        row("peer", 9.0),
        row(OURS, 2.0),
        row("peer", 30.0),
        row(OURS, 8.0),
        row("peer", 6.0),
    ]
    ours, peer = medians(turns)
    assert (ours.peer, ours.seconds, ours.ratio_to_ours) == (OURS, 4.0, None)
    assert (peer.peer, peer.seconds, peer.ratio_to_ours) == ("peer", 9.0, 2.25)


def test_an_engine_that_failed_in_one_turn_has_no_median() -> None:
    _, peer = medians([row(OURS, 4.0), row("peer", 9.0), row("peer", None, note="lost")])
    assert (peer.seconds, peer.note) == (None, "lost")


def test_quick_tasks_are_a_twentieth() -> None:
    whole, quick = scenarios(quick=False), scenarios(quick=True)
    assert [one.workload.calls for one in whole] == [2_000, 20_000, 4_000, 300]
    assert [one.workload.calls for one in quick] == [100, 1_000, 200, 15]
    assert [one.workload.in_flight for one in whole] == [100, 100, 2_000, 100]


# Tables.


def test_markdown_shows_the_columns_that_say_something_and_escapes() -> None:
    about = {"python": "3.11.7", "cores": 2, "load_1min": 0.1}
    text = engine_tables.markdown([row(OURS, 4.0), row("pe|er", None, note="a\nb")], about, ["a note"])
    lines = text.splitlines()
    heading = next(line for line in lines if line.startswith("| engine"))
    assert "429s" not in heading
    assert "note" in heading
    assert any(line.startswith("| pe\\|er |") and line.endswith("| a b |") for line in lines)
    assert {line.count(" |") for line in lines if line.startswith("| ")} == {heading.count(" |")}
    assert lines[-1] == "- a note"


# Peers.


def test_every_peer_has_its_module() -> None:
    folder = Path(engine_workload.__file__).parent / "peers"
    scripts = {path.stem for path in folder.glob("*.py")} - {"__init__", "drive"}
    assert set(modules()) == scripts
    assert len({kind.title for kind in KINDS}) == len(KINDS)


def test_a_peer_that_is_not_there_is_skipped_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLAUDIT_BENCH_PYTHON_LITELLM", "/no/such/python")
    peers, notes = find({"litellm_acompletion"})
    assert peers == []
    assert notes == [
        "litellm: not installed for /no/such/python; MOLAUDIT_BENCH_PYTHON_LITELLM may name another"
    ]


def test_clients_answer_every_call_of_a_tiny_workload(tmp_path: Path) -> None:
    workload = Workload(40, in_flight=8)
    files = engine_workload.write(workload, tmp_path)
    bodies = engine_workload.write_bodies(workload, files)
    peers, _ = find({"floor_transport", "floor_client", "openai_aiohttp"})
    assert {peer.module for peer in peers} >= {"floor_transport", "floor_client"}
    for peer in peers:
        done = run_peer(peer, workload, files, bodies, ServeSettings(labels=files.labels), 0, 60)
        assert done.fault(40) is None
        assert done.call_phase_s is not None
        assert 0 < done.call_phase_s < done.measured.seconds


def test_a_client_that_loses_calls_does_not_count(tmp_path: Path) -> None:
    workload = Workload(20, in_flight=4)
    files = engine_workload.write(workload, tmp_path)
    bodies = engine_workload.write_bodies(workload, files)
    peers, _ = find({"floor_transport"})
    done = run_peer(peers[0], workload, files, bodies, ServeSettings(faults="500=0.5", seed=3), 0, 60)
    assert 0 < done.answered < 20
    assert done.answered == done.stats["distinct_calls"]
    assert done.fault(20) is not None


# The night's audit and the kills: what would break each claim.

CELLS = pl.DataFrame({"model": ["reciter@1", "blind@1"], "verdict": ["flagged", "clean"]})


def audit(**changes: Any) -> engine_big.Audit:
    summary = {"lag_p99_s": 0.01, "lag_max_s": 0.02}
    return replace(engine_big.Audit(FINE, stats(100), summary, 100, CELLS), **changes)


AGAIN = audit(measured=replace(FINE, seconds=0.4), stats=stats(0))
SOUND = {"small": audit(), "first": audit(), "again": AGAIN}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"first": audit(answered=99)}, {0}),
        ({"first": audit(stats=stats(100, repeated=1))}, {0}),
        ({"first": audit(measured=replace(FINE, peak_bytes=610_000_000))}, {1, 2}),
        ({"small": audit(measured=replace(FINE, peak_bytes=30_000_000))}, {2}),
        ({"first": audit(summary={"lag_p99_s": 0.06, "lag_max_s": 0.1})}, {3}),
        ({"again": replace(AGAIN, stats=stats(1))}, {4}),
        ({"again": replace(AGAIN, measured=replace(FINE, seconds=0.6))}, {5}),
        ({"again": replace(AGAIN, cells=CELLS.with_columns(verdict=pl.lit("clean")))}, {7}),
        (
            {
                name: audit(cells=CELLS.with_columns(verdict=pl.lit("clean")))
                if name == "first"
                else replace(AGAIN, cells=CELLS.with_columns(verdict=pl.lit("clean")))
                for name in ("first", "again")
            },
            {6},
        ),
    ],
)
def test_each_claim_on_the_big_plan_can_fail(changes: dict[str, Any], broken: set[int]) -> None:
    found = engine_big.findings(**{**SOUND, **changes}, calls=100)
    assert {index for index, one in enumerate(found) if not one.holds} == broken


def test_the_big_plan_is_132_000_calls_and_the_small_one_5_000() -> None:
    small, big = engine_big.plans(quick=False)
    assert (small.calls, big.calls) == (5_000, 132_000)
    assert {model.split("@")[0] for model in small.models} == {"reciter", "blind"}


TOTALS = {"answers": 1_400.0, "calls": 1_400.0, "input_tokens": 9.0, "output_tokens": 5.0, "cost_usd": 0.1}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"server": stats(1_400, repeated=20)}, set()),
        ({"server": stats(1_400, repeated=21)}, {1}),
        ({"totals": {"killed": {**TOTALS, "answers": 1_401.0}, "whole": TOTALS}}, {0, 2}),
        ({"totals": {"killed": {**TOTALS, "calls": 1_399.0}, "whole": TOTALS}}, {0, 2}),
        ({"totals": {"killed": {**TOTALS, "cost_usd": 0.2}, "whole": TOTALS}}, {2}),
        ({"same_cells": False}, {3}),
    ],
)
def test_each_claim_on_kills_can_fail(changes: dict[str, Any], broken: set[int]) -> None:
    result = {
        "kills": [{"in_flight": 500}, {"in_flight": 500}],
        "server": stats(1_400),
        "totals": {"killed": TOTALS, "whole": TOTALS},
        "same_cells": True,
        **changes,
    }
    found = engine_kill.findings(result, Workload(1_400))
    assert {index for index, one in enumerate(found) if not one.holds} == broken


# Whole programs: slow, since each starts a process that may have kernels to compile.


@pytest.mark.slow
def test_our_engine_is_measured_and_rerun_without_a_call(tmp_path: Path) -> None:
    scenario = Scenario("tiny", Workload(40, in_flight=8))
    measured, *_ = run_scenario(scenario, tmp_path / "a", [], lambda _: None)
    assert measured.note == ""
    assert measured.call_phase_s is not None
    assert measured.seconds is not None
    assert 0 < measured.call_phase_s < measured.seconds
    again, limit = rerun_rows(scenario, tmp_path / "b", lambda _: None)
    assert (again.note, again.unanswered) == ("", 0)
    assert limit.seconds is not None


@pytest.mark.slow
def test_our_engine_keeps_a_limit_that_it_is_told(tmp_path: Path) -> None:
    workload = Workload(30, in_flight=8, requests_per_minute=600)
    files = engine_workload.write(workload, tmp_path)
    server = ServeSettings(labels=files.labels, rpm=600, burst=20)
    done = run_ours(workload, files, server, tmp_path / "cache.duckdb")
    assert done.fault(30) is None
    assert done.stats["rejected_429"] == 0


@pytest.mark.slow
@pytest.mark.alone
def test_two_kills_lose_nothing(tmp_path: Path) -> None:
    found = engine_kill.main(tmp_path, quick=True)
    assert [one.claim for one in found if not one.holds] == []
    assert json.loads((tmp_path / "engine-kill.json").read_text())["same_cells"] is True
