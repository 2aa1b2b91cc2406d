"""Counts of the cells: what was asked, what agreed at 1, 2 and 3 figures, what was left out (METHOD 1.1, 1.2)."""

from __future__ import annotations

import numpy as np
import polars as pl

from molaudit.kernels import figures, intervals

from ..seams.columns import Column
from .pairs import CELL
from .reasons import REASONS
from .settings import ScoreSettings

COUNTS = ("m1", "m2", "m3", "h1", "h2", "h3")
PAIRWISE = ("match3", "total3", "m1_2", "m2_2", "m2_3", "m3_3")

RUNGS = {
    "recall": {"12": ("m2", "m1"), "23": ("m3", "m2"), "hit3": ("m3", "n_usable")},
    "blinding": {"12": ("m2_2", "m1_2"), "23": ("m3_3", "m2_3"), "hit3": ("match3", "total3")},
}
"""Per protocol and statistic: the column of hits and the column of trials."""

_MEANINGS = {
    "benchmark": "the benchmark",
    "model": "the model, as the answers call it",
    "condition": "how the question was put; empty where the answers do not say",
    "effort": "how long the model might think; empty where the answers do not say",
    "arm": "the arm of the run; without arms the condition",
}

INDEX = tuple(Column(name, pl.String, _MEANINGS[name]) for name in CELL)
"""What a cell is named by."""


def cell_index(frame: pl.DataFrame) -> pl.DataFrame:
    """One row a cell with `CELL` and the family it is tested with; ``frame`` is that of `pairs.pair`."""
    # Cells are numbered in order of first appearance, so the greatest number so far grows at each new one.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(frame["cell"].to_numpy()), prepend=-1))
    return frame.select("cell", *CELL, "family")[first].select(*CELL, family=family())


def family() -> pl.Expr:
    """Name the tests that a cell is corrected with, such as "rewritten, effort=low"; "all" without arm and effort."""
    effort = pl.concat_str(pl.lit("effort="), "effort")
    parts = [
        pl.when(pl.col("family") != "").then("family"),
        pl.when(pl.col("effort") != "").then(effort),
    ]
    return pl.concat_str(parts, separator=", ", ignore_nulls=True).replace("", "all")


def counts(frame: pl.DataFrame, cells: int, settings: ScoreSettings) -> pl.DataFrame:
    """Count every cell in one pass over the answers: ``n_asked, n_pred, n_usable`` and `COUNTS`."""
    group = frame["cell"].to_numpy()
    value = frame["value"].fill_null(float("nan")).to_numpy()
    label = frame["label"].fill_null(float("nan")).to_numpy()
    scorable = frame["scorable"].to_numpy()
    counted = figures.agreement(value, label, scorable, group, cells, prefix=settings.match == "prefix")
    asked = np.bincount(group, minlength=cells)
    if not settings.pooled:
        # A molecule is its label; two ids that met the same label by structure are one.
        found, lost = pl.col("label_row"), pl.col("molecule").filter(pl.col("label_row").is_null())
        molecules = frame.group_by("cell").agg(asked=found.drop_nulls().n_unique() + lost.n_unique())
        asked = molecules.sort("cell")["asked"].to_numpy()
    return pl.DataFrame(
        {
            "n_asked": pl.Series(asked, dtype=pl.Int64),
            "n_pred": pl.Series(
                np.bincount(group[frame["parsed"].to_numpy()], minlength=cells), dtype=pl.Int64
            ),
            **{name: counted[:, i] for i, name in enumerate(("n_usable", *COUNTS))},
        }
    )


def pairwise(frame: pl.DataFrame, cells: int) -> pl.DataFrame:
    """Count every cell as the protocol ``blinding`` does: `PAIRWISE`."""
    value = frame["value"].fill_null(float("nan")).to_numpy()
    label = frame["label"].fill_null(float("nan")).to_numpy()
    carried = frame["answer_figures"].fill_null(0).cast(pl.Int8).to_numpy()
    label_figures = frame["label_figures"].fill_null(0).cast(pl.Int8).to_numpy()
    used = np.where(frame["parsed"].to_numpy(), label_figures, 0).astype(np.int8)
    counted = figures.agreement_pairwise(value, label, carried, used, frame["cell"].to_numpy(), cells)
    return pl.DataFrame({name: counted[:, i] for i, name in enumerate(PAIRWISE)})


def left_out(frame: pl.DataFrame, cells: int) -> pl.DataFrame:
    """Count the answers of each cell by the reason why they do not count: ``left_out_REASON``."""
    found = frame.select("cell", "reason").drop_nulls().group_by("cell", "reason").len()
    reasons = list(REASONS)
    counted = np.zeros((len(reasons), cells), np.int64)
    for cell, reason, count in found.iter_rows():
        counted[reasons.index(reason), cell] = count
    return pl.DataFrame({f"left_out_{reason}": counted[i] for i, reason in enumerate(reasons)})


def rungs(cells: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    """Hits and trials of both rungs and of hit3, by the protocol's counts."""
    chosen = RUNGS[settings.protocol]
    return cells.select(
        hits12=chosen["12"][0],
        trials12=chosen["12"][1],
        hits23=chosen["23"][0],
        trials23=chosen["23"][1],
        hits3=chosen["hit3"][0],
        n_hit3=chosen["hit3"][1],
    )


def rates(cells: pl.DataFrame) -> pl.DataFrame:
    """``R12, R23, hit3`` of what `rungs` gives, with Clopper-Pearson 95 % intervals; null without a trial."""
    columns: dict[str, pl.Series] = {}
    for name, hits, trials in (
        ("R12", "hits12", "trials12"),
        ("R23", "hits23", "trials23"),
        ("hit3", "hits3", "n_hit3"),
    ):
        k, n = cells[hits].to_numpy(), cells[trials].to_numpy()
        low, high = intervals.clopper_pearson(k, n, 0.95)
        ratio = np.divide(k, n, out=np.full(n.shape, np.nan), where=n > 0)
        for end, values in (("", ratio), ("_low", low), ("_high", high)):
            columns[name + end] = pl.Series(np.where(n > 0, values, np.nan)).fill_nan(None)
    return pl.DataFrame(columns)
