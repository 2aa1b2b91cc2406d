"""What the kernel benchmark prints beside its rows: coverage, projection, scaling, and peers that are missing."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from molaudit.bench import coverage, kernels_bootstrap, kernels_intervals, projection, scaling
from molaudit.bench import kernels as kernels_bench
from molaudit.kernels.bootstrap import Method

METHOD_NAMES = {Method.PERCENTILE: "percentile", Method.BCA: "BCa"}


@pytest.mark.slow
@pytest.mark.parametrize("law", coverage.LAWS)
@pytest.mark.parametrize("n", coverage.SIZES)
@pytest.mark.parametrize("method", coverage.METHODS)
def test_skewed_samples_are_covered_as_often_as_by_scipy(law: str, n: int, method: Method) -> None:
    number = 300
    ours = coverage.coverage(law, n, method, samples=number, seed=7)
    found = stats.bootstrap(
        (coverage.samples_of(law, n, number, 7),),
        np.mean,
        axis=-1,
        n_resamples=coverage.RESAMPLES,
        batch=100,
        method=METHOD_NAMES[method],
        rng=np.random.default_rng(1),
    ).confidence_interval
    theirs = float(((found.low <= coverage.LAWS[law]) & (coverage.LAWS[law] <= found.high)).mean())
    # The samples are the same, so only bounds that nearly touch the mean may differ: a few in a hundred.
    assert abs(ours - theirs) <= 0.03


@pytest.mark.slow
def test_percentile_intervals_of_few_skewed_values_cover_too_seldom_and_bca_more_often() -> None:
    share = {
        (row["law"], row["n"], row["method"]): row["coverage"] for row in coverage.rows(quick=False, seed=3)
    }
    error = np.sqrt(0.9 * 0.1 / 2000)
    for law in coverage.LAWS:
        few = share[law, 20, "percentile"]
        assert 0.84 - 4 * error < few < 0.95 - 4 * error
        assert few < share[law, 200, "percentile"] < 0.95 + 4 * error
        assert share[law, 20, "bca"] > few


def test_thread_counts_double_up_to_the_most() -> None:
    assert [projection.thread_counts(most) for most in (1, 2, 3, 8, 12)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 4, 8],
        [1, 2, 4, 8, 12],
    ]


def test_projection_costs_what_its_core_hours_cost() -> None:
    for row in projection.project(quick=True, price=3.6):
        assert row["cost_usd"] == pytest.approx(row["seconds"] * row["threads"] * 1e-3)
        whole = 264 * 3 * 1_000_000
        assert row["seconds"] == pytest.approx(whole / row["repeats_per_second"])


def test_missing_matplotlib_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert scaling.plot([], tmp_path / "plot.svg") == "no plot: matplotlib is not installed"
    assert not list(tmp_path.iterdir())


def test_scaling_is_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = [
        {"against": against, "task": "task", "x": x, "per_second": 2.0 * x}
        for against in ("threads", "n")
        for x in (1, 2)
    ]
    assert scaling.plot(rows, tmp_path / "plot.svg") == str(tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()


def test_missing_peers_are_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kernels_bootstrap, kernels_intervals):
        monkeypatch.setattr(module, "find_spec", lambda _name: None)
    rows = kernels_bootstrap._mean_rows(50, 2000)
    assert {row["peer"] for row in rows}.isdisjoint({"arch", "resample"})
    assert "arch is not installed" in rows[0]["note"]
    k, n = kernels_intervals.all_pairs(20)
    rows = kernels_intervals._rows("task", k, n)
    assert [row["peer"] for row in rows] == ["molaudit", "scipy.special.betaincinv"]
    assert rows[0]["note"] == "statsmodels is not installed"


@pytest.mark.slow
def test_a_quick_run_writes_json_markdown_and_a_plot(tmp_path: Path) -> None:
    console = Console(width=80, record=True)
    rows = kernels_bench.run(quick=True, out=tmp_path, console=console)
    shown = console.export_text()
    assert "null of 12 benchmarks x 22 models at 1,000,000 repeats" in shown
    assert "coverage of nominal 95 % intervals" in shown
    assert (tmp_path / "kernels.json").is_file()
    assert (tmp_path / "kernels.md").read_text().count("\n") == len(rows) + 2
