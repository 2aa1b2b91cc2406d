"""What is missing: the bounds that it leaves, approximate answers, and cells that lost most of theirs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import molaudit
from molaudit.engine.studies.missing import missing_columns

QUICK = {"repeats": 50, "resamples": 20}


def score(rows: list[tuple[str, str, int, str]], **settings: Any) -> dict[str, Any]:
    """Score rows of molecule, label, sample and reply."""
    frame = pl.DataFrame(rows, schema=["molecule", "label", "sample", "answer"], orient="row")
    labels = frame.select("molecule", "label").unique("molecule", maintain_order=True)
    answers = frame.select("molecule", "sample", "answer", model=pl.lit("m"))
    (row,) = molaudit.score(
        answers, labels.with_columns(kind=pl.lit("measured")), **(QUICK | settings)
    ).cells.to_dicts()
    return row


ROWS = [
    ("a", "3.18", 0, "3.18"),
    ("b", "3.19", 0, "2.00"),
    ("c", "3.21", 0, "I cannot say."),
    ("d", "3.22", 0, ""),
    ("e", "3.2", 0, ""),  # a label of two figures could not count
    ("f", "0.0", 0, ""),
]


def test_bounds_take_missing_answers_as_all_wrong_and_all_right() -> None:
    row = score(ROWS)
    assert (row["n_usable"], row["m3"], row["hit3"]) == (2, 1, 0.5)
    assert row["hit3_if_missing_wrong"] == 1 / 4
    assert row["hit3_if_missing_right"] == 3 / 4


def test_a_molecule_is_missing_once_and_not_where_another_sample_was_parsed() -> None:
    more = [*ROWS, ("c", "3.21", 1, ""), ("d", "3.22", 1, "3.22"), ("a", "3.18", 1, "")]
    row = score(more)
    assert (row["n_usable"], row["m3"]) == (3, 2)
    assert (row["hit3_if_missing_wrong"], row["hit3_if_missing_right"]) == (2 / 4, 3 / 4)
    pooled = score(more, samples="pool")
    assert pooled["n_usable"] == 3
    assert (pooled["hit3_if_missing_wrong"], pooled["hit3_if_missing_right"]) == (2 / 7, 6 / 7)


def test_without_anything_missing_all_three_are_equal() -> None:
    row = score(ROWS[:2])
    assert row["hit3"] == row["hit3_if_missing_wrong"] == row["hit3_if_missing_right"] == 0.5
    assert row["n_approximate"] == 0


def test_without_a_scorable_label_there_are_no_bounds() -> None:
    row = score(ROWS[4:])
    assert (row["hit3"], row["hit3_if_missing_wrong"], row["hit3_if_missing_right"]) == (None, None, None)


def test_approximate_answers_are_counted_among_the_usable() -> None:
    frame = pl.DataFrame(
        {
            "cell": [0, 0, 0, 0, 1],
            "flags": ["approximate", "unit; approximate", "approximately", None, "approximate"],
            "scorable": [True, True, True, True, False],
            "reason": [None, None, None, None, "label_short"],
            "label_row": [0, 1, 2, 3, 4],
            "label": [3.18] * 5,
            "label_figures": [3, 3, 3, 3, 2],
        }
    )
    table = missing_columns(frame, pl.Series([1, 0]), pl.Series([4, 0]), pooled=False)
    assert table["n_approximate"].to_list() == [2, 0]


@pytest.mark.parametrize(("lost", "said"), [(4, False), (5, True)])
def test_over_half_lost_to_one_reason_is_said(lost: int, said: bool) -> None:
    rows = [(f"m{i}", f"{3.11 + i / 100:.2f}", 0, "" if i < lost else "3.18") for i in range(8)]
    row = score(rows)
    assert ("many left out" in row["cautions"]) == said


def test_two_reasons_of_less_than_half_each_are_not_one() -> None:
    replies = ["", "", "", "no number", "no number", "no number", "3.18", "3.18"]
    row = score([(f"m{i}", f"{3.11 + i / 100:.2f}", 0, reply) for i, reply in enumerate(replies)])
    assert "many left out" not in row["cautions"]


def test_further_samples_are_no_loss() -> None:
    rows = [(f"m{i}", f"{3.11 + i / 100:.2f}", s, "3.18") for i in range(8) for s in range(5)]
    assert "many left out" not in score(rows)["cautions"]
