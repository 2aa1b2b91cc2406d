"""Answers counted per cell: from two tables in memory to the counts, beside a plain Python loop over ``format``."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl

from molaudit.engine.studies.pairs import pair
from molaudit.engine.studies.retrieval import count_cells
from molaudit.engine.studies.settings import ScoreSettings
from molaudit.storage import imports

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
    counts: Counts = defaultdict(lambda: [0, 0, 0, 0])
    for model, molecule, _, prediction in answers.iter_rows():
        text = known[molecule]
        if len(text.lstrip("-0.").replace(".", "").rstrip("0")) < 3 or float(text) == 0:
            continue
        cell, label = counts[model], float(text)
        cell[0] += 1
        for figures in (1, 2, 3):
            if format(prediction, f".{figures - 1}e") != format(label, f".{figures - 1}e"):
                break
            cell[figures] += 1
    return counts


def our_counts(answers: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Join, mark and count with the code that ``score`` uses; the frames are read and checked already."""
    settings = ScoreSettings(samples="pool")
    return count_cells(pair(answers, labels, settings).frame, settings)


def rows(quick: bool) -> list[dict[str, Any]]:
    """Time the counting of 206,820 answers in 54 cells (a tenth when quick); counts are compared first."""
    n = ANSWERS // 10 if quick else ANSWERS
    raw_answers, raw_labels = example_tables(n, CELLS)
    answers = imports.answers_from_frame(raw_answers).frame
    labels = imports.labels_from_frame(raw_labels).frame
    expected = python_counts(raw_answers, raw_labels)
    for row in our_counts(answers, labels).iter_rows(named=True):
        got = [row[name] for name in ("n_usable", "m1", "m2", "m3")]
        assert got == expected[row["model"]], (row["model"], got, expected[row["model"]])
    ours = median_of(lambda: our_counts(answers, labels))
    read = median_of(lambda: our_counts(imports.answers_from_frame(raw_answers).frame, labels), 3)
    loop = median_of(lambda: python_counts(raw_answers, raw_labels), 3)
    contenders = [
        ("molaudit", 2, ours, "join, parse, count"),
        ("molaudit with input checks", 2, read, "from an unchecked frame"),
        ("Python format loop", 1, loop, ""),
    ]
    return compare("answers counted", raw_answers.height, "answers", contenders)
