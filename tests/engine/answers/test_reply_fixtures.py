"""Published reply texts and the fixtures of hostile ones: every reading as it must be, differences reply by reply."""

from __future__ import annotations

import csv
from decimal import Decimal

import polars as pl
import pytest
from shared_data import DATA, needs_data

from molaudit.engine.answers.labels import read_labels
from molaudit.engine.answers.numbers import parse_column, parse_number

CUT = 80
"""Characters after which the stored replies were cut off."""


@needs_data
def test_every_fixture_is_read_as_it_should_be() -> None:
    with (DATA / "fixtures/reply_texts.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 53
    wrong = []
    for row in rows:
        answer = parse_number(row["text"])
        value = Decimal(row["value"]) if row["value"] else None
        if (answer.kind, answer.value) != (row["kind"], value):
            wrong.append((row["id"], row["kind"], row["value"], answer))
    assert wrong == []


def _counts(values: list[float | None], labels: pl.Series) -> tuple[int, int, int, int]:
    """n_usable, m1, m2, m3 by the oracle of three lines."""
    read = read_labels(labels)
    n = [0, 0, 0, 0]
    for value, label, figures in zip(values, read["value"], read["stripped"], strict=True):
        if value is None or figures < 3:
            continue
        n[0] += 1
        for k in range(3):
            if f"{value:.{k}e}" != f"{label:.{k}e}":
                break
            n[k + 1] += 1
    return n[0], n[1], n[2], n[3]


@needs_data
@pytest.mark.parametrize(
    ("name", "column", "published"),
    [
        ("esol__opus5__reg", "answer_text", (398, 254, 137, 108)),
        ("esol__opus5__t1024", "answer_text", (398, 335, 270, 247)),
        ("esol__opus5__t1024r", "answer_text", (398, 334, 270, 242)),
        ("freesolv_opus5_first_half", "answer_text", (194, 148, 96, 79)),
        ("boilingpoint_opus5_replies", "text", (41, 41, 38, 33)),
    ],
)
def test_published_counts_come_out_of_the_reply_texts(
    name: str, column: str, published: tuple[int, int, int, int]
) -> None:
    frame = pl.read_csv(DATA / f"replies/{name}.csv", infer_schema=False)
    assert _counts(parse_column(frame[column])["value"].to_list(), frame["truth"]) == published


HYPHENS = {
    "Chloroethane": "-1.20",
    "5-Allyl-5-ethylbarbital": "-2.30",
    "Secobarbital": "-2.60",
    "3-Methyl-2-pentanol": "-1.20",
    "Benfluralin": "-4.20",
    "Cyfluthrin": "-6.20",
    "2-Phenoxyethanol": "-2.10",
    "Diphenylmethane": "-4.10",
    "1-Heptanol": "-1.20",
    "cyclobarbital": "-3.60",
}
"""Replies whose minus is U+2011, which were stored as positive; three more are found by their character."""


@needs_data
def test_the_blinded_replies_differ_from_their_stored_values_in_thirteen_signs_alone() -> None:
    frame = pl.read_csv(DATA / "replies/blinding__esol__opus5__L5__t1024.csv", infer_schema=False)
    read = parse_column(frame["answer_text"])
    values: list[float | None] = []
    differing = {}
    for row, value, kind, digits in zip(
        frame.iter_rows(named=True), read["value"], read["kind"], read["digits"], strict=True
    ):
        stored = float(row["value"])
        if len(row["answer_text"]) >= CUT:
            # What follows was not kept, and the answer with it: only the stored value is left.
            values.append(stored)
            continue
        assert kind == "point", row
        values.append(value)
        if value != stored:
            differing[row["mol_id"]] = digits
            assert "\u2011" in row["answer_text"], row
            assert value == -stored, row
    assert len(differing) == 13
    assert HYPHENS.items() <= differing.items()
    stored_values = [float(value) for value in frame["value"]]
    assert _counts(list(stored_values), frame["truth"]) == (120, 35, 12, 8)
    assert _counts(values, frame["truth"]) == (120, 38, 13, 8)


@needs_data
def test_no_named_blinded_reply_that_states_its_number_is_lost() -> None:
    frame = pl.read_csv(DATA / "replies/blinding__esol__opus5__L1__t1024.csv", infer_schema=False)
    read = parse_column(frame["answer_text"])
    stated = frame.hstack(read.select("kind", parsed="value")).filter(
        (pl.col("answer_text").str.len_chars() < CUT)
        | pl.col("answer_text").str.contains(r"^\*\*Predict[^\n:≈]{0,40}[:≈ ]+[-−‑]?\d+\.\d")
    )
    assert stated.height > 30
    assert stated.filter(pl.col("kind") != "point").is_empty()
    assert stated.filter(pl.col("parsed") != pl.col("value").cast(pl.Float64)).is_empty()
