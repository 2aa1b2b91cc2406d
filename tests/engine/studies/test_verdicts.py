"""Verdicts against the published tables and against cells worked by hand."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest
from shared_data import DATA, needs_data

from molaudit.engine.errors import InputError
from molaudit.engine.studies.detection import detection_limits
from molaudit.engine.studies.judging import judge_counts, zero_floors
from molaudit.engine.studies.verdicts import operating_levels


def cells(*rows: tuple[int, int, int, int], **columns: object) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["n_usable", "m1", "m2", "m3"], orient="row")
    return frame.with_columns(
        benchmark=pl.lit("b"),
        model=pl.format("model-{}", pl.int_range(pl.len())),
        arm=pl.lit("one"),
        **{name: pl.lit(value) for name, value in columns.items()},
    )


FLOORS = pl.DataFrame({"benchmark": ["b"], "floor12": [0.12], "floor23": [0.11], "floor_hit1": [0.2]})


def judge(frame: pl.DataFrame, floors: pl.DataFrame = FLOORS) -> list[dict[str, object]]:
    return judge_counts(frame, floors, 0.05, "rung").to_dicts()


def tail(k: int, n: int, p: Fraction) -> float:
    return float(sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)))


def published_floors() -> pl.DataFrame:
    floors = pl.read_csv(DATA / "published/recall/label_floor.csv")
    return floors.select(
        pl.col("dataset").alias("benchmark"),
        floor12=pl.col("mode_R12") / 100,
        floor23=pl.col("mode_R23") / 100,
        floor_hit1=pl.col("floor_hit1") / 100,
    )


PUBLISHED_EVIDENCE = {
    "both": "R12 + R23",
    "R12 only": "R12 only (broad, R23 at chance)",
    "R23 only": "R23 only (concentrated)",
    "none": "both rungs at chance",
    "no power R23": "R12 at chance, R23 no power",
    "no power": "rungs without power; first figure at chance",
}
"""Our words and the published tables' words for the same evidence."""


def assert_same_to_five_digits(ours: pl.Series, theirs: pl.Series) -> None:
    """The published table cuts at six digits, so the sixth may differ."""
    assert (ours.is_null() == theirs.is_null()).all()
    np.testing.assert_allclose(ours.drop_nulls(), theirs.cast(pl.Float64).drop_nulls(), rtol=1e-5)


@needs_data
def test_all_540_published_cells_come_out() -> None:
    published = pl.read_csv(DATA / "published/recall/cells.csv").rename({"dataset": "benchmark"})
    ours = judge_counts(published, published_floors(), 0.05, "rung")
    for column, theirs in (("p12", "p_R12"), ("p23", "p_R23"), ("q12", "q_R12"), ("q23", "q_R23")):
        assert_same_to_five_digits(ours[column], published[theirs])
    assert ours["regime"].to_list() == published["regime"].to_list()
    assert ours["evidence"].replace_strict(PUBLISHED_EVIDENCE).to_list() == published["evidence"].to_list()
    flagged = dict(ours.group_by("arm").agg(pl.col("verdict").eq("flagged").sum()).iter_rows())
    assert flagged == {"t1024": 89, "reg": 47, "t1024r": 12}


@needs_data
def test_published_blinding_map_is_one_family_of_48_tests() -> None:
    published = pl.read_csv(DATA / "published/recall/blinding.csv").rename({"dataset": "benchmark"})
    ours = judge_counts(published.with_columns(family=pl.lit("all")), published_floors(), 0.05, "rung")
    assert_same_to_five_digits(ours["q12"], published["q_R12"])
    assert_same_to_five_digits(ours["q23"], published["q_R23"])
    assert ours["regime"].to_list() == published["regime"].to_list()
    flagged = dict(ours.group_by("level").agg(pl.col("verdict").eq("flagged").sum()).iter_rows())
    assert flagged == {"L1": 10, "L5": 3}


@needs_data
def test_published_operating_point_comes_out() -> None:
    cells = pl.read_csv(DATA / "published/recall/cells.csv").select("arm", p12="p_R12", p23="p_R23")
    levels = operating_levels(cells.rename({"arm": "family"}))
    assert levels["t1024"] == pytest.approx(0.010499147628217775, rel=1e-4)
    # The arms are judged apart, and so is the level of each.
    assert set(levels) == {"reg", "t1024", "t1024r"}
    assert len(set(levels.values())) == 3


def test_a_family_without_a_call_has_the_level_of_its_own_cells() -> None:
    p = {"p12": [0.001, None, 0.9, 0.8], "p23": [0.9, 0.7, None, None]}
    levels = operating_levels(pl.DataFrame(p).with_columns(family=pl.Series(["a", "a", "b", "b"])))
    assert levels == {"a": 0.001, "b": pytest.approx(0.05 / 4)}


def test_p_is_the_exact_binomial_tail() -> None:
    (row,) = judge(cells((100, 40, 12, 3)), FLOORS.with_columns(floor12=0.125))
    assert row["p12"] == pytest.approx(tail(12, 40, Fraction(1, 8)), rel=1e-12)
    assert row["p23"] is None


def test_far_tail_is_not_zero() -> None:
    (row,) = judge(cells((400, 330, 330, 330)))
    expected = 330 * np.log10(0.12)
    assert np.log10(row["p12"]) == pytest.approx(expected, abs=1e-9)
    assert row["p12"] > 0


def test_untested_rungs_enter_the_correction_as_one() -> None:
    # One strong cell beside three that are untested: q = p x (2 cells x 4) / 1.
    rows = judge(cells((60, 40, 14, 0), (60, 2, 0, 0), (60, 2, 0, 0), (60, 2, 0, 0)))
    assert rows[0]["q12"] == pytest.approx(min(1.0, 8 * rows[0]["p12"]))
    assert [row["q12"] for row in rows[1:]] == [None] * 3


def test_families_are_corrected_apart() -> None:
    together = judge(cells((100, 60, 16, 2), (100, 60, 5, 0)))
    apart = judge(cells((100, 60, 16, 2), (100, 60, 5, 0)).with_columns(arm=pl.Series(["one", "two"])))
    assert apart[0]["q12"] < together[0]["q12"]
    named = judge(
        cells((100, 60, 16, 2), (100, 60, 5, 0)).with_columns(
            arm=pl.Series(["one", "two"]), family=pl.lit("all")
        )
    )
    assert named[0]["q12"] == together[0]["q12"]


@pytest.mark.parametrize(
    ("counts", "evidence", "regime"),
    [
        ((100, 60, 40, 30), "both", "heavy"),
        ((100, 60, 40, 5), "R12 only", "partial"),
        ((400, 100, 40, 4), "R12 only", "partial"),
        ((400, 300, 36, 30), "R23 only", "trace"),
        ((400, 300, 36, 4), "none", "clean"),
        ((200, 60, 7, 1), "no power R23", "clean"),
        ((200, 14, 14, 14), "no power", "no-signal"),
        ((40, 14, 14, 14), "no power", "untestable"),
        ((0, 0, 0, 0), "no power", "untestable"),
    ],
)
def test_evidence_and_regime(counts: tuple[int, int, int, int], evidence: str, regime: str) -> None:
    (row,) = judge(cells(counts))
    assert (row["evidence"], row["regime"]) == (evidence, regime)
    flagged = regime in ("heavy", "partial", "trace")
    assert (row["verdict"] == "flagged") == flagged


def test_cell_without_floor_is_untestable() -> None:
    (row,) = judge(cells((100, 60, 40, 30)), FLOORS.with_columns(floor12=pl.lit(None, pl.Float64)))
    assert row["verdict"] == "untestable"
    assert row["p12"] is None


def test_a_floor_of_zero_leaves_its_rung_untested() -> None:
    (row,) = judge(cells((400, 100, 40, 4)), FLOORS.with_columns(floor23=0.0))
    assert row["p23"] is None
    assert (row["verdict"], row["evidence"]) == ("flagged", "R12 only")
    (row,) = judge(cells((400, 100, 40, 4)), FLOORS.with_columns(floor12=0.0, floor23=0.0))
    assert (row["p12"], row["p23"], row["verdict"]) == (None, None, "untestable")
    (said,) = zero_floors(FLOORS.head(1).with_columns(floor23=0.0))
    assert "floor23 is 0, so R23 is not tested" in said
    assert zero_floors(FLOORS) == []


def test_a_floor_of_zero_limits_neither_rung() -> None:
    limits = detection_limits(FLOORS.head(1).with_columns(floor12=0.0), n=[50], alpha=0.05)
    assert limits.filter(pl.col("stat") == "R12")["k_min"].to_list() == [None]
    assert limits.filter(pl.col("stat") == "R23")["k_min"].null_count() == 0


def test_hit3_upper_is_the_one_sided_exact_bound() -> None:
    # 0 of n: 1 - 0.05^(1/n), the exact bound behind the rule of three.
    (row,) = judge(cells((50, 20, 1, 0)))
    assert row["hit3"] == 0
    assert row["hit3_upper"] == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-10)


def test_benchmark_without_floors_row_is_named() -> None:
    with pytest.raises(InputError, match="no row for benchmark 'other'"):
        judge(cells((1, 1, 1, 1)).with_columns(benchmark=pl.lit("other")))


def test_missing_floor_column_is_named() -> None:
    with pytest.raises(InputError, match="'floor23' is missing"):
        judge(cells((1, 1, 1, 1)), FLOORS.drop("floor23"))


def test_correction_over_cells_doubles_the_smaller_p() -> None:
    frame = cells((400, 100, 30, 4))
    row = judge_counts(frame, FLOORS, 0.05, "cell").row(0, named=True)
    assert row["q12"] == pytest.approx(min(1.0, 2 * row["p12"]))
