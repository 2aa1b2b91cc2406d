"""A benchmark may publish several values of a molecule; an answer is then compared with the best of them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import molaudit
from molaudit.engine.errors import SettingsError

LABELS = pl.DataFrame(
    {
        "benchmark": "bp",
        "molecule": ["a", "a", "a", "b", "b", "c"],
        "label": ["1.2", "1.23", "1.19", "4.56", "4.57", "7.89"],
        "kind": "measured",
    }
)


def pairs(replies: dict[str, str], **settings: Any) -> molaudit.Scores:
    answers = pl.DataFrame(
        {"model": "m", "molecule": list(replies), "answer": list(replies.values())}, strict=True
    )
    return molaudit.score(answers, LABELS, repeats=20, resamples=20, **settings)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("1.23", "1.23"),
        ("1.19", "1.19"),
        # The label 1.2 agrees to three figures, but carries two and could not be scored; of the others the first.
        ("1.2", "1.23"),
        ("1.24", "1.23"),  # one figure with both; the first of the two
        ("9", "1.23"),
    ],
)
def test_the_best_value_with_three_figures_is_compared(reply: str, label: str) -> None:
    row = pairs({"a": reply}, several_values=["bp"]).pairs.row(0, named=True)
    assert (row["label_text"], row["scorable"]) == (label, True)


def test_ties_take_the_first_value_and_single_values_stay() -> None:
    scores = pairs({"b": "9.99", "c": "7.89"}, several_values=["bp"])
    assert scores.pairs["label_text"].to_list() == ["4.56", "7.89"]
    assert any("1 answers were compared with the best of several" in note for note in scores.notes)


def test_undeclared_benchmarks_leave_such_molecules_out() -> None:
    scores = pairs({"a": "1.23", "c": "7.89"})
    assert scores.pairs["left_out"].to_list() == ["conflict", None]
    assert scores.floors["n_label"].to_list() == [5]


def test_floors_are_the_same_declared_or_not() -> None:
    assert pairs({"a": "1"}, several_values=["bp"]).floors.equals(pairs({"a": "1", "c": "1"}).floors)


def test_samples_that_agree_with_different_values_are_one_molecule() -> None:
    answers = pl.DataFrame({"model": "m", "molecule": ["b", "b"], "answer": ["4.57", "4.56"]})
    scores = molaudit.score(answers, LABELS, repeats=20, resamples=20, several_values=["bp"])
    assert scores.cells.select("n_asked", "n_usable", "m3").rows() == [(1, 1, 1)]
    assert scores.pairs["left_out"].to_list() == [None, "later_sample"]


def test_unknown_benchmarks_and_bare_strings_are_refused() -> None:
    with pytest.raises(SettingsError, match="several_values: found 'esol'; the labels hold"):
        pairs({"a": "1"}, several_values=["esol"])
    with pytest.raises(SettingsError, match="several_values: found 'bp'; allowed: a list"):
        pairs({"a": "1"}, several_values="bp")
