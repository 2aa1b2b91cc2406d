"""The molecule-blind floor of every benchmark (METHOD 1.3), as a table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from molaudit.kernels import floors as floor_kernels

MIN_FIGURES = 3

COLUMNS = (
    "mode12",
    "mode12_se",
    "pair12",
    "floor12",
    "mode23",
    "mode23_se",
    "pair23",
    "floor23",
    "floor_hit1",
    "floor_hit2",
    "floor_hit3",
)

SCHEMA: dict[str, type[pl.DataType]] = {
    "benchmark": pl.String,
    "n_label": pl.Int64,
    **dict.fromkeys(COLUMNS, pl.Float64),
}


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
        rows.append({"benchmark": name, "n_label": values.size, **{c: getattr(fitted, c) for c in COLUMNS}})
    return pl.DataFrame(rows, schema=SCHEMA).with_columns(pl.col(*COLUMNS).fill_nan(None))


def usable_labels(labels: pl.DataFrame, benchmark: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the benchmark's labels that carry at least three figures."""
    chosen = labels.filter(
        (pl.col("benchmark") == benchmark) & (pl.col("label_figures") >= MIN_FIGURES) & (pl.col("label") != 0)
    )
    return chosen["label"].to_numpy()
