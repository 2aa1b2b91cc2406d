"""Exact hits against answers next door, through `molaudit.score`: published cells and small ones by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom
from shared_data import DATA, needs_data

import molaudit

QUICK = {"repeats": 300, "resamples": 20}


def only_cell(answers: pl.DataFrame, labels: pl.DataFrame, **settings: Any) -> dict[str, Any]:
    (row,) = molaudit.score(answers, labels, **(QUICK | settings)).cells.to_dicts()
    return row


@needs_data
@pytest.mark.parametrize(
    ("arm", "exact", "beside", "p_core"),
    [("reg", 108, 7, 8.7e-17), ("t1024", 247, 9, 5.0e-43), ("t1024r", 242, 13, 3.4e-38)],
)
def test_opus_on_esol_is_exact_and_hardly_ever_next_door(
    arm: str, exact: int, beside: int, p_core: float
) -> None:
    """From the stored values, against all labels of the benchmark."""
    calls = pl.read_csv(DATA / f"replies/esol__opus5__{arm}.csv", infer_schema=False)
    answers = calls.select(model=pl.lit("Claude Opus 5"), molecule="mol_id", prediction="value")
    labels = pl.read_csv(DATA / "benchmarks/esol.csv", infer_schema=False)
    cell = only_cell(
        answers.with_columns(pl.col("prediction").cast(pl.Float64)),
        labels.select("molecule", "label", kind=pl.lit("measured")),
    )
    assert (cell["n_usable"], cell["exact"], cell["off_by_one"]) == (398, exact, beside)
    assert cell["p_core"] == pytest.approx(p_core, rel=0.02)
    assert cell["p_core"] == pytest.approx(binom.sf(exact - 1, exact + beside, 0.6), rel=1e-6)
    assert cell["p_near"] < 1e-80
    assert (cell["verdict"], cell["stands"]) == ("flagged", True)


@needs_data
@pytest.mark.parametrize(
    ("name", "molecule", "text", "n", "exact", "beside", "p_core"),
    [
        ("boilingpoint_opus5_replies.csv", "mol_id", "text", 41, 33, 5, 3.1e-4),
        ("freesolv_opus5_first_half.csv", "mol_id", "answer_text", 194, 80, 16, 7.1e-7),
    ],
)
def test_opus_on_boiling_points_and_freesolv_stands(
    name: str, molecule: str, text: str, n: int, exact: int, beside: int, p_core: float
) -> None:
    table = pl.read_csv(DATA / "replies" / name, infer_schema=False)
    cell = only_cell(
        table.select(model=pl.lit("Claude Opus 5"), molecule=molecule, answer=text),
        table.select(molecule=molecule, label="truth", kind=pl.lit("measured")),
    )
    assert (cell["n_usable"], cell["exact"], cell["off_by_one"]) == (n, exact, beside)
    assert cell["p_core"] == pytest.approx(p_core, rel=0.02)
    assert (cell["verdict"], cell["stands"]) == ("flagged", True)


def table(rows: list[tuple[str, str, float | None]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return answers and labels of rows of molecule, label, answer."""
    frame = pl.DataFrame(rows, schema=["molecule", "label", "prediction"], orient="row")
    answers = frame.select("molecule", "prediction", model=pl.lit("m")).drop_nulls()
    return answers.unique("molecule", maintain_order=True), frame.select(
        "molecule", "label", kind=pl.lit("measured")
    )


def test_counts_across_a_power_of_ten_by_hand() -> None:
    cell = only_cell(
        *table(
            [
                ("a", "1.01", 1.01),  # exact
                ("b", "1.01", 1.0),  # one beside
                ("c", "9.99", 10.0),  # one beside, the label's unit being 0.01
                ("d", "1.01", 0.996),  # 0.996 is 100 in units of 0.01: one beside
                ("e", "1.01", 0.994),  # 99: two beside
                ("f", "-3.18", 3.18),  # the other sign
                ("g", "3.18", 0.0),  # zero is never near
                ("h", "3.1", 3.1),  # the label has two figures
            ]
        )
    )
    assert (cell["n_usable"], cell["exact"], cell["off_by_one"], cell["n_near"]) == (7, 1, 3, 5)
    assert (cell["p_core"], cell["p_near"], cell["stands"]) == (None, None, None)


def test_a_cell_without_a_usable_answer_has_no_hits() -> None:
    cell = only_cell(*table([("a", "2.5", 2.5), ("b", "3.14", None)]))
    assert (cell["n_usable"], cell["exact"], cell["off_by_one"], cell["n_near"]) == (0, 0, 0, 0)


def test_each_molecule_stands_once_among_the_neighbours() -> None:
    """Further values of molecules that are not asked change neither their number nor p."""
    rng = np.random.default_rng(1)
    labels = np.round(rng.normal(3, 0.4, 300), 2)
    labels = labels[np.round(100 * labels) % 10 != 0]
    rows = [(f"m{i}", f"{y:.2f}", float(y) if i % 2 else float(y) * 1.2) for i, y in enumerate(labels)]
    once = only_cell(*table(rows[:200] + [(m, y, None) for m, y, _ in rows[200:]]))
    again = [(m, f"{float(y) + 0.01:.2f}", None) for m, y, _ in rows[200:]]
    answers, truth = table(rows[:200] + [(m, y, None) for m, y, _ in rows[200:]] + again)
    twice = only_cell(answers, truth)
    assert once["p_near"] is not None
    assert twice["p_near"] == once["p_near"]


def test_with_several_values_the_one_that_stands_for_the_molecule_is_left_out() -> None:
    rng = np.random.default_rng(2)
    labels = np.round(rng.normal(300, 20, 200), 1)
    rows = [(f"m{i}", f"{y:.1f}", float(y)) for i, y in enumerate(labels)]
    answers, truth = table([*rows, ("m3", "350.2", None), ("m5", "20.5", None)])
    cell = only_cell(
        answers.with_columns(
            prediction=pl.when(pl.col("molecule") == "m5").then(20.5).otherwise("prediction")
        ),
        truth.with_columns(benchmark=pl.lit("b")),
        several_values=["b"],
    )
    assert cell["exact"] == cell["n_usable"] >= 150
    assert cell["p_near"] < 1e-100
