"""Answers counted per cell: from two tables in memory to the counts, beside a plain Python loop over ``format``."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl

from molaudit.engine.studies import counting
from molaudit.engine.studies.pairs import pair
from molaudit.engine.studies.settings import ScoreSettings
from molaudit.kernels import figures
from molaudit.storage.tables import imports

from .rows import compare, median_of

ANSWERS = 206_820
CELLS = 54

Counts = dict[str, list[int]]


def example_tables(n: int, cells: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return answers of ``cells`` models to the same molecules, five samples each, and the labels."""
    rng = np.random.default_rng(0)
    molecules = n // cells // 5
    labels = np.round(rng.normal(-3.0, 2.0, molecules), 2)
    model, molecule, sample = np.meshgrid(np.arange(cells), np.arange(molecules), np.arange(5), indexing="ij")
    answers = np.round(labels[molecule] + rng.normal(0, 1.0, molecule.shape), 2)
    return (
        pl.DataFrame(
            {
                "model": pl.Series(model.ravel()).cast(pl.String),
                "molecule": pl.Series(molecule.ravel()).cast(pl.String),
                "sample": sample.ravel(),
                "prediction": answers.ravel(),
            }
        ),
        pl.DataFrame(
            {
                "molecule": pl.Series(np.arange(molecules)).cast(pl.String),
                "label": [f"{label:.2f}" for label in labels],
                "kind": "measured",
            }
        ),
    )


def python_counts(answers: pl.DataFrame, labels: pl.DataFrame) -> Counts:
    """Count as one would by hand: the oracle of three lines, value by value."""
    known = {row["molecule"]: row["label"] for row in labels.iter_rows(named=True)}
    counts: Counts = defaultdict(lambda: [0] * 7)
    for model, molecule, _, prediction in answers.iter_rows():
        text = known[molecule]
        if len(text.lstrip("-0.").replace(".", "").rstrip("0")) < 3 or float(text) == 0:
            continue
        add_agreement(counts[model], prediction, float(text))
    return counts


def add_agreement(cell: list[int], prediction: float, label: float) -> None:
    """Add one pair to n, the three nested and the three flat counts, by the oracle's six calls of ``format``."""
    agree = [format(prediction, f".{k}e") == format(label, f".{k}e") for k in (0, 1, 2)]
    cell[0] += 1
    nested = True
    for k, same in enumerate(agree):
        nested = nested and same
        cell[1 + k] += nested
        cell[4 + k] += same


def python_pairs(values: list[float], labels: list[float], cells: list[int]) -> Counts:
    """Count joined pairs by the oracle."""
    counts: Counts = defaultdict(lambda: [0] * 7)
    for value, label, cell in zip(values, labels, cells, strict=True):
        add_agreement(counts[str(cell)], value, label)
    return counts


def pair_rows(answers: pl.DataFrame, labels: pl.DataFrame) -> list[dict[str, Any]]:
    """Time the comparison itself, both sides from the same joined numbers."""
    frame = pair(answers, labels, ScoreSettings(samples="pool")).frame.filter("scorable")
    value, label = frame["value"].to_numpy(), frame["label"].to_numpy()
    cell = frame["cell"].to_numpy()
    every = np.ones(value.size, np.bool_)
    n = int(cell.max()) + 1
    arguments = (value.tolist(), label.tolist(), cell.tolist())
    expected = python_pairs(*arguments)
    found = figures.agreement(value, label, every, cell, n)
    assert all(found[i].tolist() == expected[str(i)] for i in range(n))
    ours = median_of(lambda: figures.agreement(value, label, every, cell, n))
    loop = median_of(lambda: python_pairs(*arguments), 3)
    contenders = [("molaudit", 2, ours, ""), ("Python format loop", 1, loop, "six calls a pair")]
    return compare("pairs scored at three figures", value.size, "pairs", contenders)


def our_counts(answers: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Join, mark and count with the code that ``score`` uses; the frames are read and checked already."""
    settings = ScoreSettings(samples="pool")
    frame = pair(answers, labels, settings).frame
    cells = counting.cell_index(frame)
    counts = counting.counts(frame, cells.height, settings)
    return cells.hstack(counts).hstack(counting.left_out(frame, cells.height))


def rows(quick: bool) -> list[dict[str, Any]]:
    """Time the counting of 206,820 answers in 54 cells (a tenth when quick); counts are compared first."""
    n = ANSWERS // 10 if quick else ANSWERS
    raw_answers, raw_labels = example_tables(n, CELLS)
    answers = imports.answers_from_frame(raw_answers).frame
    labels = imports.labels_from_frame(raw_labels).frame
    expected = python_counts(raw_answers, raw_labels)
    for row in our_counts(answers, labels).iter_rows(named=True):
        got = [row[name] for name in ("n_usable", "m1", "m2", "m3", "h1", "h2", "h3")]
        assert got == expected[row["model"]], (row["model"], got, expected[row["model"]])
    ours = median_of(lambda: our_counts(answers, labels))
    read = median_of(lambda: our_counts(imports.answers_from_frame(raw_answers).frame, labels), 3)
    loop = median_of(lambda: python_counts(raw_answers, raw_labels), 3)
    contenders = [
        ("molaudit", 2, ours, "join, parse, count"),
        ("molaudit with input checks", 2, read, "from an unchecked frame"),
        ("Python format loop", 1, loop, ""),
    ]
    whole = compare("answers counted from tables", raw_answers.height, "answers", contenders)
    return pair_rows(answers, labels) + whole
