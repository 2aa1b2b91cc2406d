"""Cautions through `molaudit.score`, on cells whose truth is known."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from shared_data import DATA, needs_data

import molaudit
from molaudit.engine.benchmarks import BENCHMARKS
from molaudit.engine.studies.cautions import calling_levels
from molaudit.engine.studies.floors_table import usable_labels
from molaudit.engine.studies.pairs import label_values
from molaudit.kernels import floors, reciters, simulate, tails
from molaudit.storage.tables import imports

QUICK = {"repeats": 300, "resamples": 20}
EMBEDDED = "crc-boiling-points"


@cache
def labels() -> pl.DataFrame:
    """The embedded boiling points that carry three figures."""
    frame = BENCHMARKS.get(EMBEDDED).load().frame.with_columns(kind=pl.lit("measured"))
    read = label_values(
        imports.labels_from_frame(frame.with_columns(benchmark=pl.lit(EMBEDDED))).frame, "stripped"
    )
    known = read.filter((pl.col("label_figures") >= 3) & (pl.col("label") != 0))["molecule"]
    return frame.filter(pl.col("molecule").is_in(known.implode()) & pl.col("molecule").is_unique())


def values() -> np.ndarray:
    return labels()["label"].cast(pl.Float64).to_numpy()


def cells(answers: dict[str, np.ndarray], n: int, **settings: Any) -> dict[str, dict[str, Any]]:
    """Score models that answer the first n of the labels, in a random order."""
    order = np.random.default_rng(2).permutation(labels().height)[:n]
    asked = labels()["molecule"].to_numpy()[order]
    table = pl.concat(
        pl.DataFrame({"model": name, "molecule": asked, "prediction": given[order]})
        for name, given in answers.items()
    )
    scored = molaudit.score(table, labels(), **(QUICK | settings)).cells
    return {row["model"]: row for row in scored.iter_rows(named=True)}


def test_skilled_models_flagged_by_r12_carry_skill_and_do_not_stand_and_reciters_do() -> None:
    models = {f"skilled {i}": row for i, row in enumerate(simulate.skilled(values(), 0.98, 1, 8))}
    base = simulate.window(values(), 1, 4)
    models |= {f"reciter {i}": row for i, row in enumerate(simulate.reciter(values(), base, 0.2, 1))}
    models |= {f"window {i}": row for i, row in enumerate(base)}
    found = cells(models, 500)
    skilled = [row for name, row in found.items() if name.startswith("skilled")]
    assert all(row["verdict"] == "flagged" and row["q12"] < 0.05 for row in skilled)
    # Each is missed with chance 0.05: three of eight would be a false alarm in 170 runs; the seed is fixed.
    assert sum("skill R12" in row["cautions"] for row in skilled) >= 6
    assert sum(row["stands"] for row in skilled) <= 1
    for name, row in found.items():
        if name.startswith("reciter"):
            assert (row["evidence"], row["p12_skill"] < 0.05, row["p23_skill"] < 0.05) == ("both", True, True)
            assert row["stands"] is True
        if name.startswith("window"):
            assert (row["verdict"], row["stands"]) == ("clean", None)
        for rung in ("12", "23"):
            called = row[f"q{rung}"] is not None and row[f"q{rung}"] < 0.05
            assert (f"skill R{rung}" in row["cautions"]) == (called and row[f"p{rung}_skill"] >= 0.05)


def test_a_rung_that_is_not_called_carries_no_skill() -> None:
    base = simulate.window(values(), 6, 1)
    row = cells({"m": simulate.reciter(values(), base, 0.04, 6)[0]}, 600)["m"]
    assert row["evidence"] == "R23 only"
    assert row["p12_skill"] >= 0.05
    assert "skill" not in row["cautions"]
    assert (row["verdict"], row["stands"]) == ("flagged", True)


def test_where_the_third_figure_is_coarse_it_can_be_predicted_and_that_is_said() -> None:
    coarse = np.round(np.random.default_rng(3).normal(-1540, 223, 900), 1)
    sharp = simulate.skilled(coarse, 0.999, 1, 1)[0]
    names = [f"m{i}" for i in range(900)]
    truth = pl.DataFrame({"molecule": names, "label": [f"{y:.1f}" for y in coarse], "kind": "measured"})
    answers = pl.DataFrame({"model": "m", "molecule": names, "prediction": sharp})
    (row,) = molaudit.score(answers, truth, **QUICK).cells.to_dicts()
    assert (row["verdict"], row["evidence"], row["stands"]) == ("flagged", "both", False)
    assert "resolution" in row["cautions"]
    assert "skill R23" in row["cautions"]
    assert row["p_near"] is None


def test_labels_on_few_values_are_a_lattice() -> None:
    steps = np.random.default_rng(4).choice(np.arange(10.5, 60, 1.0), 400)
    names = [f"m{i}" for i in range(400)]
    truth = pl.DataFrame({"molecule": names, "label": [f"{y:.1f}" for y in steps], "kind": "measured"})
    answers = pl.DataFrame({"model": "m", "molecule": names, "prediction": steps})
    (row,) = molaudit.score(answers, truth, **QUICK).cells.to_dicts()
    assert "lattice" in row["cautions"]
    assert (row["p_core"], row["p_near"]) == (1.0, None)
    assert row["verdict"] != "flagged" or row["stands"] is False


@pytest.mark.parametrize(("n", "models"), [(60, 20), (90, 20), (220, 20), (400, 20), (120, 80), (400, 80)])
def test_low_power_is_said_where_a_twentieth_recited_would_be_missed(n: int, models: int) -> None:
    """More clean models in the run lower the level at which one more rung is called."""
    found = cells({f"m{i}": row for i, row in enumerate(simulate.window(values(), 9, models))}, n)
    fitted = floors.floors(values(), 300, 0)
    counts = reciters.counts(values(), [n], 0.05, "window", seed=1, draws=2000)[:, 0]
    one, two, three = counts.T
    p12 = tails.binomial_upper(two, one, fitted.floor12)
    p23 = np.where(two >= 15, tails.binomial_upper(three, two, fitted.floor23), 1.0)
    power = np.mean(np.minimum(p12, p23) < 0.05 / (2 * models))
    said = np.mean(["low power" in row["cautions"] for row in found.values()])
    assert abs(power - 0.5) > 0.15, "a case on the edge shows nothing"
    # A cell knows its own second figures only, 15 or so of them: one in ten may judge itself wrongly.
    assert said > 0.9 if power < 0.5 else said < 0.1, (power, said)


def test_each_family_has_its_own_calling_level() -> None:
    called = {"q12": [0.01, None, None, None], "q23": [0.02, 0.3, None, 0.2]}
    family = {"family": ["a", "b", "b", "b"], "effort": [None, "low", "low", "low"]}
    # One cell of two called tests: everything; three cells of six tests without a call: a sixth.
    assert calling_levels(pl.DataFrame(called | family), 0.05) == pytest.approx([0.05, *[0.05 / 6] * 3])


def test_constant_in_a_steep_prefix_is_flagged_with_cautions_and_without_the_matched_floor() -> None:
    row = cells({"m": np.full(values().size, 142.0)}, values().size)["m"]
    assert row["q12"] < 0.05
    assert row["verdict"] == "flagged"
    assert "few answers" in row["cautions"]
    assert row["p12_matched"] >= 0.05


@needs_data
@pytest.mark.parametrize(
    ("name", "constant", "rungs"),
    [
        ("esol", "-1.24", ("12",)),
        ("caco2", "-5.82", ("12", "23")),
        ("ld50", "1.42", ("12",)),
        ("qm7", "-1720", ("23",)),
    ],
)
def test_real_constants_that_the_pooled_floor_flags(name: str, constant: str, rungs: tuple[str, ...]) -> None:
    read = pl.read_csv(DATA / "benchmarks" / f"{name}.csv", infer_schema=False)
    truth = read.select("molecule", "label", kind=pl.lit("measured"))
    answers = truth.select(model=pl.lit("m"), molecule="molecule", answer=pl.lit(constant)).unique("molecule")
    (row,) = molaudit.score(answers, truth, **QUICK).cells.to_dicts()
    assert row["verdict"] == "flagged"
    assert "few answers" in row["cautions"]
    assert row["stands"] is False
    for rung in rungs:
        assert row[f"q{rung}"] < 0.05
        assert row[f"p{rung}_matched"] >= 0.05


def test_scorable_labels_are_those_of_the_floor() -> None:
    table = label_values(
        imports.labels_from_frame(labels().with_columns(benchmark=pl.lit(EMBEDDED))).frame, "stripped"
    )
    assert usable_labels(table, EMBEDDED).size == labels().height
