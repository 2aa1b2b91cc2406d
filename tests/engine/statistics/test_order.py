"""In which order statistics are computed and shown, and how a wrong one is named."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from molaudit.engine.errors import SettingsError
from molaudit.engine.statistics import Column, Given, Statistic, cell_columns
from molaudit.engine.statistics._registry import in_order
from molaudit.engine.statistics._running import checked, compute
from molaudit.engine.studies.settings import ScoreSettings

HEAD = """
benchmark model condition effort arm n_asked n_pred n_usable m1 m2 m3 h1 h2 h3 R12 R12_low R12_high
R23 R23_low R23_high hit3 hit3_low hit3_high floor12 floor23 p12 p23 q12 q23 verdict evidence regime
hit3_upper p12_matched p23_matched p12_skill p23_skill exact off_by_one p_core p_near n_near stands
hit3_if_missing_wrong hit3_if_missing_right n_approximate n_distinct top_share cautions mae mae_low
mae_high medae medae_low medae_high rmse rmse_low rmse_high pearson pearson_low pearson_high
spearman spearman_low spearman_high left_out_unmatched left_out_conflict left_out_not_asked
left_out_failed left_out_filtered left_out_recitation left_out_empty left_out_refusal
left_out_truncated left_out_range left_out_bound left_out_uncertain left_out_ambiguous
left_out_no_number left_out_later_sample left_out_label_zero left_out_label_short
left_out_answer_short
"""
"""The head of ``cells.csv`` as it was before statistics were files."""

BLINDING = ["match3", "total3", "m1_2", "m2_2", "m2_3", "m3_3"]
SOURCE = ["source_n_usable", "source_m1", "source_m2", "source_m3"]


def statistic(name: str, gives: str, **stated: Any) -> Statistic:
    columns = tuple(Column(one, pl.Int64, "a number") for one in gives.split())
    return Statistic(
        name, "a toy", stated.pop("input", "cells"), columns, lambda given: given.cells, **stated
    )


def names(*every: Statistic) -> list[str]:
    return [one.name for one in in_order(every)]


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({}, []),
        ({"protocol": "blinding"}, BLINDING),
        ({"source_units": {"b": "mg/L"}}, SOURCE),
        ({"protocol": "blinding", "source_units": {"b": "mg/L"}}, [*BLINDING, *SOURCE]),
    ],
)
def test_the_columns_of_the_cells_stand_in_their_old_order(settings: dict[str, Any], more: list[str]) -> None:
    assert [one.name for one in cell_columns(ScoreSettings(**settings))] == [*HEAD.split(), *more]


def test_a_statistic_comes_after_those_that_it_needs() -> None:
    a, b, c = (
        statistic("a", "x", needs=("y",)),
        statistic("b", "y", needs=("z", "model")),
        statistic("c", "z"),
    )
    assert names(a, b, c) == ["c", "b", "a"]


def test_whole_runs_come_after_every_cell() -> None:
    assert names(statistic("a", "x", input="runs"), statistic("b", "x")) == ["b", "a"]


@pytest.mark.parametrize(
    ("every", "message"),
    [
        ([statistic("a", "x", needs=("exakt",)), statistic("b", "exact")], "'exakt', which none gives"),
        ([statistic("a", "x", needs=("y",)), statistic("b", "y", needs=("x",))], "columns of each other: "),
        ([statistic("a", "x"), statistic("b", "x")], "statistic 'b': column 'x' is given by a too"),
        ([statistic("a", "model")], "column 'model' is given by the index of the cells too"),
        ([statistic("cells", "x", input="runs")], "statistic 'cells': a table of that name exists"),
    ],
)
def test_a_wrong_statistic_is_named(every: list[Statistic], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        in_order(every)


def test_a_column_that_is_not_stated_is_refused() -> None:
    with pytest.raises(SettingsError, match="gave the columns x, y; it states x"):
        checked(statistic("a", "x"), pl.DataFrame({"x": [1], "y": [2]}))


def test_rows_that_are_not_those_of_the_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    short = Statistic(
        "short", "a toy", "cells", (Column("x", pl.Int64, "one"),), lambda _: pl.DataFrame({"x": [1]})
    )
    monkeypatch.setattr("molaudit.engine.statistics._running.ordered", lambda _settings: (short,))
    given = Given(pl.DataFrame({"model": ["m", "n"]}), pl.DataFrame(), ScoreSettings(), [], None)
    with pytest.raises(SettingsError, match="gave 1 rows; allowed: one for each of 2 cells"):
        compute(given)


def test_a_statistic_of_cells_is_given_no_answers() -> None:
    given = Given(pl.DataFrame(), pl.DataFrame(), ScoreSettings(), [], None)
    with pytest.raises(LookupError, match="state input='pairs'"):
        _ = given.pairs
