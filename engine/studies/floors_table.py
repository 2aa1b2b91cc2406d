"""The molecule-blind floor of every benchmark (METHOD 1.3), as a table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from molaudit.kernels import floors as floor_kernels

from ..seams.columns import Column, schema, typed

MIN_FIGURES = 3

FITTED = typed(
    pl.Float64,
    mode12="share right at the second figure of who answers the most frequent one behind each first, learnt on half",
    mode12_se="standard error of mode12 over the halves",
    pair12="of the pairs of labels that agree at one figure, the share that agree at two",
    floor12="what R12 is tested against: the larger of mode12 and pair12, from 0.095 to 1",
    mode23="share right at the third figure of who answers the most frequent one behind each two, learnt on half",
    mode23_se="standard error of mode23 over the halves",
    pair23="of the pairs of labels that agree at two figures, the share that agree at three",
    floor23="what R23 is tested against: the larger of mode23 and pair23, from 0.095 to 1",
    floor_hit1="share of the pairs of labels that agree at one figure",
    floor_hit2="share of the pairs of labels that agree at two figures",
    floor_hit3="share of the pairs of labels that agree at three figures",
)
COLUMNS = (
    Column("benchmark", pl.String, "the benchmark"),
    Column("n_label", pl.Int64, "labels with three figures, which the floors are fitted on"),
    *FITTED,
)


def floors_table(
    labels: pl.DataFrame, *, repeats: int, seed: int, only: Iterable[str] | None = None
) -> pl.DataFrame:
    """Fit the floors of every benchmark on all its labels that carry at least three figures.

    Parameters
    ----------
    labels
        ``benchmark``, ``label`` (float64) and ``label_figures``, one row a label.
    repeats
        Random halves of the mode floor.
    seed
        Seed of the halves; the same for every benchmark, so a benchmark's floor does not depend on the others.
    only
        Benchmarks wanted; default all, in order of first appearance.

    Returns
    -------
    One row a benchmark, fractions; null floors below 20 labels.
    """
    wanted = labels["benchmark"].unique(maintain_order=True).to_list() if only is None else list(only)
    rows = []
    for name in wanted:
        values = usable_labels(labels, name)
        fitted = floor_kernels.floors(values, repeats=repeats, seed=seed)
        rows.append(
            {"benchmark": name, "n_label": values.size, **{c.name: getattr(fitted, c.name) for c in FITTED}}
        )
    return pl.DataFrame(rows, schema=schema(COLUMNS)).with_columns(pl.col(*schema(FITTED)).fill_nan(None))


def usable_labels(labels: pl.DataFrame, benchmark: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the benchmark's labels that carry at least three figures."""
    chosen = labels.filter(
        (pl.col("benchmark") == benchmark) & (pl.col("label_figures") >= MIN_FIGURES) & (pl.col("label") != 0)
    )
    return chosen["label"].to_numpy()
