"""`molaudit.run`, `arun` and `plan`: the commands as functions, wherever they are called from."""

from __future__ import annotations

import asyncio
import inspect
import tomllib
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import polars as pl
import pytest
import trio
from running_audits import Audit, server, stats

import molaudit
from molaudit.engine.audit.in_python import Job
from molaudit.engine.errors import InputError, SettingsError

PRICE = "price = { input = 1.0, output = 2.0 }\nmax_output_tokens = 1000"
COUNTS = ("model", "n_asked", "n_usable", "m1", "m2", "m3", "verdict")


def test_run_gives_what_the_command_writes_and_asks_nothing_twice(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter", "blind"))
        said: list[str] = []
        scores = molaudit.run(audit.path, cache=audit.cache, notify=said.append)
        assert stats(url)["requests"] == 40
        assert audit.make() == 0
        assert stats(url)["requests"] == 40
    assert isinstance(scores, molaudit.Scores)
    written = pl.read_parquet(audit.out / "cells.parquet")
    assert scores.cells.equals(written)
    assert (scores.ended, scores.calls, scores.cached, scores.made) == ("complete", 40, 0, 40)
    assert scores.outcomes == {"answered": 40}
    assert scores.cost_usd == 0
    assert said == []
    assert not list(tmp_path.glob("molaudit-*"))


def test_a_second_run_makes_no_call_and_gives_the_same(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)
        first = molaudit.run(audit.path, out=tmp_path / "results")
        again = molaudit.run(audit.path)
        assert stats(url)["requests"] == 20
    assert again.cells.equals(first.cells)
    assert (again.ended, again.calls, again.cached, again.made) == ("complete", 20, 20, 0)
    assert pl.read_parquet(tmp_path / "results" / "cells.parquet").equals(first.cells)
    assert (tmp_path / "molaudit-cache.duckdb").exists()


@pytest.mark.parametrize("given", ["text", "mapping", "path as text"])
def test_an_audit_is_a_path_its_text_or_a_mapping(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with server() as url:
        audit = Audit(tmp_path, url)
        source: Any = {"text": audit.written, "mapping": tomllib.loads(audit.written)}.get(
            given, str(audit.path)
        )
        scores = molaudit.run(source)
    assert scores.cells["n_asked"].to_list() == [20]
    assert (tmp_path / "molaudit-cache.duckdb").exists()


def in_asyncio(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(work())


def in_trio(work: Callable[[], Awaitable[Any]]) -> Any:
    return trio.run(work)


def in_a_notebook(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """A loop that lives before and after the cell, as a kernel's does."""
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(asyncio.sleep(0))
        found = loop.run_until_complete(loop.create_task(work()))
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()
    return found


LOOPS = [in_asyncio, in_trio, in_a_notebook]


@pytest.mark.parametrize("loop", LOOPS)
def test_run_works_inside_a_running_loop(loop: Callable[..., Any], tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)

        async def cell() -> molaudit.AuditScores:
            return molaudit.run(audit.path)

        assert loop(cell).cells["n_asked"].to_list() == [20]


@pytest.mark.parametrize("loop", LOOPS)
def test_arun_leaves_the_loop_to_others(loop: Callable[..., Any], tmp_path: Path) -> None:
    with server(latency="0.3") as url:
        audit = Audit(tmp_path, url)

        async def both() -> tuple[molaudit.AuditScores, int]:
            turns, found = 0, None

            async def ask() -> None:
                nonlocal found
                found = await molaudit.arun(audit.path)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                while found is None:
                    turns += 1
                    await anyio.sleep(0.01)
            return found, turns

        scores, turns = loop(both)
        assert scores.cells["n_asked"].to_list() == [20]
        assert turns > 10


@pytest.mark.parametrize("loop", [in_asyncio, in_trio])
def test_a_cancelled_arun_keeps_what_it_has_received(loop: Callable[..., Any], tmp_path: Path) -> None:
    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url, molecules=60, in_flight=2)

        async def give_up() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(molaudit.arun, audit.path)
                while stats(url)["answered"] < 4:
                    await anyio.sleep(0.05)
                tasks.cancel_scope.cancel()

        loop(give_up)
        told = stats(url)
        assert 4 <= told["requests"] == told["answered"] < 60
        audit.in_flight = 60
        audit.write()
        assert molaudit.run(audit.path).cached == told["answered"]
        assert stats(url)["requests"] == 60


def test_ctrl_c_drains_keeps_and_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Job.wait
    with server(latency="0.2") as url:
        audit = Audit(tmp_path, url, molecules=60, in_flight=2)

        def interrupted(self: Job, seconds: float | None = None) -> bool:
            if stats(url)["answered"] >= 4 and not self._stops:
                raise KeyboardInterrupt
            return wait(self, seconds)

        monkeypatch.setattr(Job, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            molaudit.run(audit.path)
        told = stats(url)
        assert 4 <= told["requests"] == told["answered"] < 60


def test_a_run_that_costs_money_needs_a_yes_and_is_never_asked_for(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, model=PRICE)
        with pytest.raises(SettingsError) as caught:
            molaudit.run(audit.path, out=tmp_path / "results")
        assert stats(url)["requests"] == 0
        assert str(caught.value) == (
            f"{audit.path}: this run may cost up to 0.04 USD (20 calls, each reply at its cap of output tokens). "
            "Nothing was asked of any model: give yes=True to go on"
        )
        assert not (tmp_path / "results").exists()
        scores = molaudit.run(audit.path, yes=True)
    assert 0 < scores.cost_usd <= 0.05


def test_a_run_of_which_nothing_is_answered_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    with (
        server(faults="401=1") as url,
        pytest.raises(InputError, match="no call of this audit has been answered"),
    ):
        molaudit.run(Audit(tmp_path, url).path, notify=said.append)
    assert [line for line in said if line.startswith("stopped: ")]


def test_a_run_that_is_partly_answered_says_how_it_ended_and_why(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter", "no-such-model"))
        scores = molaudit.run(audit.path)
    assert scores.ended == "partial"
    assert any("no simulated model is called" in line for line in scores.stopped)
    assert dict(scores.cells.select("model", "n_usable").iter_rows())["no-such-model"] == 0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("none.toml", "none.toml: cannot be read (No such file or directory)"),
        ({"runs": {}}, "settings: unknown key 'runs'; allowed: arm, benchmark, endpoint, model, run"),
        ("[run\nname = 1", "settings: is not TOML: "),
        (7, "audit: found int; allowed: a path, the text of an audit.toml, or a mapping"),
    ],
)
def test_a_wrong_audit_is_named(
    source: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for function in (molaudit.plan, molaudit.run):
        with pytest.raises(SettingsError) as caught:
            function(source)
        assert str(caught.value).startswith(said)
    assert list(tmp_path.iterdir()) == []


def test_a_plan_says_what_is_cached_and_what_the_rest_may_cost(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, model=PRICE, molecules=10)
        molaudit.run(audit.path, yes=True)
        audit.molecules = 30
        audit.write()
        found = molaudit.plan(audit.path)
        assert stats(url)["requests"] == 10
    assert (found.calls, found.cached, found.unpriced) == (30, 10, ())
    row = found.models.row(0, named=True)
    assert (row["cached"], row["max_output_tokens"], row["output_tokens"]) == (10, 1000, 30_000)
    # Two thirds of the calls are left: of the replies, 20 x 1,000 tokens at 2 USD a million, and the prompts at 1.
    prompts = row["input_tokens"] / 1e6
    assert found.cost_usd == pytest.approx(2 / 3 * prompts + 0.04)
    assert row["cost_usd"] == pytest.approx(prompts + 0.06)
    assert found.pools.columns == ["pool", "calls", "seconds", "bound_by"]
    assert any("max_output_tokens (1,000)" in line for line in found.assumptions)


def test_a_plan_of_an_unknown_price_has_an_unknown_cost(tmp_path: Path) -> None:
    audit = Audit(tmp_path, "https://h.example/v1", models=("mine", "gpt-5.5"))
    found = molaudit.plan(audit.path)
    assert (found.cost_usd, found.unpriced) == (None, ("mine",))
    assert [path.name for path in tmp_path.iterdir()] == ["audit.toml"]


def test_run_and_arun_take_the_same() -> None:
    assert inspect.signature(molaudit.run).parameters == inspect.signature(molaudit.arun).parameters
