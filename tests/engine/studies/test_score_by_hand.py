"""Two models on one made-up benchmark, every number of their cells recomputed with format, numpy and scipy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import molaudit

N = 240
RESAMPLES = 4_000


@pytest.fixture(scope="module")
def made() -> tuple[np.ndarray, dict[str, np.ndarray], pl.DataFrame]:
    """Labels, answers of three models, and the cells that come of them.

    ``half`` recites every second label and guesses the rest, ``near`` is off by a fifth, ``rare`` answered eight
    molecules, so that its rungs are untested.
    """
    rng = np.random.default_rng(11)
    label = np.round(rng.uniform(1.0, 9.9, N), 2)
    half = np.where(np.arange(N) % 2 == 0, label, np.round(rng.uniform(1.0, 9.9, N), 2))
    near = np.round(label * rng.normal(1.0, 0.2, N), 2)
    answers = {"half": half, "near": near, "rare": near[:8]}
    molecules = [f"m{i}" for i in range(N)]
    table = pl.concat(
        pl.DataFrame({"model": name, "molecule": molecules[: len(x)], "answer": [f"{v:.2f}" for v in x]})
        for name, x in answers.items()
    )
    labels = pl.DataFrame({"molecule": molecules, "label": [f"{v:.2f}" for v in label], "kind": "measured"})
    return label, answers, molaudit.score(table, labels, repeats=300, resamples=RESAMPLES, seed=5).cells


MODELS = ("half", "near", "rare")


def cell(cells: pl.DataFrame, model: str) -> dict[str, Any]:
    return cells.row(by_predicate=pl.col("model") == model, named=True)


def agrees(p: float, y: float, figures: int) -> bool:
    return format(p, f".{figures - 1}e") == format(y, f".{figures - 1}e")


def usable(y: float) -> bool:
    return len(f"{y:.2f}".replace(".", "").strip("0")) >= 3


@pytest.mark.parametrize("model", MODELS)
def test_counts_are_those_of_format(
    made: tuple[np.ndarray, dict[str, np.ndarray], pl.DataFrame], model: str
) -> None:
    label, answers, cells = made
    pairs = [(p, y) for p, y in zip(answers[model], label, strict=False) if usable(y)]
    hits = [tuple(agrees(p, y, k) for k in (1, 2, 3)) for p, y in pairs]
    row = cell(cells, model)
    assert row["n_usable"] == len(pairs)
    assert [row[f"h{k}"] for k in (1, 2, 3)] == [sum(h[k - 1] for h in hits) for k in (1, 2, 3)]
    assert [row[f"m{k}"] for k in (1, 2, 3)] == [sum(all(h[:k]) for h in hits) for k in (1, 2, 3)]


@pytest.mark.parametrize("model", MODELS)
def test_rates_have_exact_intervals_and_a_one_sided_bound(
    made: tuple[np.ndarray, dict[str, np.ndarray], pl.DataFrame], model: str
) -> None:
    row = cell(made[2], model)
    for name, hits, trials in (("R12", "m2", "m1"), ("R23", "m3", "m2"), ("hit3", "m3", "n_usable")):
        if row[trials] == 0:
            assert row[name] is None
            continue
        interval = stats.binomtest(row[hits], row[trials]).proportion_ci(0.95, method="exact")
        got = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
        assert got == pytest.approx([row[hits] / row[trials], interval.low, interval.high], rel=1e-9)
    bound = stats.binomtest(row["m3"], row["n_usable"], alternative="less").proportion_ci(0.95, "exact")
    assert row["hit3_upper"] == pytest.approx(bound.high, rel=1e-9)


def test_p_and_q_are_exact_tails_corrected_with_the_untested_as_one(
    made: tuple[np.ndarray, dict[str, np.ndarray], pl.DataFrame],
) -> None:
    cells = made[2]
    expected: list[float] = []
    for model in MODELS:
        row = cell(cells, model)
        tested12, tested23 = row["m1"] >= 15, row["m1"] >= 15 and row["m2"] >= 15
        expected.append(stats.binom.sf(row["m2"] - 1, row["m1"], row["floor12"]) if tested12 else np.nan)
        expected.append(stats.binom.sf(row["m3"] - 1, row["m2"], row["floor23"]) if tested23 else np.nan)
    assert np.isnan(expected[4:]).all(), "rare must be untested for this to test anything"
    assert columns(cells, "p12", "p23") == pytest.approx(expected, rel=1e-9, nan_ok=True)
    q = np.where(np.isnan(expected), np.nan, stats.false_discovery_control(np.nan_to_num(expected, nan=1.0)))
    assert columns(cells, "q12", "q23") == pytest.approx(q.tolist(), rel=1e-9, nan_ok=True)
    assert cell(cells, "half")["verdict"] == "flagged"


def columns(cells: pl.DataFrame, *names: str) -> list[float]:
    return [np.nan if (x := cell(cells, m)[name]) is None else x for m in MODELS for name in names]


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "mae": lambda p, y: float(np.abs(p - y).mean()),
    "medae": lambda p, y: float(np.median(np.abs(p - y))),
    "rmse": lambda p, y: float(np.sqrt(np.square(p - y).mean())),
    "pearson": lambda p, y: float(stats.pearsonr(p, y).statistic),
    "spearman": lambda p, y: float(stats.spearmanr(p, y).statistic),
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("model", ["half", "near"])
def test_error_measures_and_their_intervals_are_those_of_scipy(
    made: tuple[np.ndarray, dict[str, np.ndarray], pl.DataFrame], model: str, measure: str
) -> None:
    label, answers, cells = made
    row, pred, of = cell(cells, model), answers[model], MEASURES[measure]
    assert row["n_pred"] == N
    assert row[measure] == pytest.approx(of(pred, label), rel=1e-9)
    other = stats.bootstrap(
        (pred, label), of, paired=True, vectorized=False, n_resamples=1_000, method="percentile", rng=1
    ).confidence_interval
    # A 2.5 % quantile of 1,000 draws has a standard error near 0.085 of a normal interval's half width.
    within = 4 * 0.085 * (other.high - other.low) / 2
    assert abs(row[f"{measure}_low"] - other.low) < within
    assert abs(row[f"{measure}_high"] - other.high) < within
