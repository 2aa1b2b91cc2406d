"""The retrieval audit: from answers and labels to the judged cells (METHOD 1.1 to 1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from molaudit.kernels import figures, intervals

from . import accuracy, cautions
from .accuracy_alone import skill_columns
from .floors_table import floors_table
from .matched import matched_p
from .missing import missing_columns
from .pairs import CELL, REASONS, Pairs, pair
from .pooled import pooled_bounds
from .settings import ScoreSettings
from .verdicts import judge, operating_levels

COUNTS = ("m1", "m2", "m3", "h1", "h2", "h3")
PAIRWISE = ("match3", "total3", "m1_2", "m2_2", "m2_3", "m3_3")

RUNGS = {
    "recall": {"12": ("m2", "m1"), "23": ("m3", "m2"), "hit3": ("m3", "n_usable")},
    "blinding": {"12": ("m2_2", "m1_2"), "23": ("m3_3", "m2_3"), "hit3": ("match3", "total3")},
}
"""Per protocol and statistic: the column of hits and the column of trials."""

CELL_COLUMNS = (
    *CELL,
    *("n_asked", "n_pred", "n_usable", *COUNTS),
    *("R12", "R12_low", "R12_high", "R23", "R23_low", "R23_high", "hit3", "hit3_low", "hit3_high"),
    *("floor12", "floor23", "p12", "p23", "q12", "q23", "verdict", "evidence", "regime", "hit3_upper"),
    *("p12_matched", "p23_matched", "p12_skill", "p23_skill"),
    *("exact", "off_by_one", "p_core", "p_near", "n_near", "stands"),
    *("hit3_if_missing_wrong", "hit3_if_missing_right", "n_approximate"),
    *("n_distinct", "top_share", "cautions"),
    *(f"{measure}{end}" for measure in accuracy.MEASURES for end in ("", "_low", "_high")),
    *(f"left_out_{reason}" for reason in REASONS),
)


@dataclass(frozen=True, slots=True)
class Scored:
    """``cells``: one row a cell. ``pairs``: one row an answer. ``floors``: one row a benchmark.

    ``joins``: how the answers met the labels. ``operating_level``: the largest p called, by family.
    """

    cells: pl.DataFrame
    pairs: pl.DataFrame
    floors: pl.DataFrame
    notes: tuple[str, ...]
    operating_level: Mapping[str, float]
    joins: pl.DataFrame


def score_frames(answers: pl.DataFrame, labels: pl.DataFrame, settings: ScoreSettings) -> Scored:
    """Score answers against labels.

    Parameters
    ----------
    answers, labels
        Frames of `molaudit.storage.imports`.
    settings
        How to score.

    Raises
    ------
    InputError
        Nothing can be compared; the message names the file and the way on.
    """
    met = pair(answers, labels, settings)
    counted = count_cells(met.frame, settings)
    asked = counted["benchmark"].unique(maintain_order=True).to_list()
    known = met.labels["benchmark"].unique().to_list()
    floors = floors_table(
        met.labels,
        repeats=settings.repeats,
        seed=settings.seed,
        only=[name for name in asked if name in known],
    )
    cells = counted.join(
        floors.select("benchmark", "floor12", "floor23", "floor_hit1"),
        on="benchmark",
        how="left",
        maintain_order="left",
    )
    cells = _judged(cells, settings)
    levels = operating_levels(cells, settings.alpha)
    if settings.pooled:
        cells = cells.with_columns(*pooled_bounds(met.frame, cells.height, settings))
    hits, trials = RUNGS[settings.protocol]["hit3"]
    cells = cells.hstack(missing_columns(met.frame, cells[hits], cells[trials], pooled=settings.pooled))
    cells = cells.hstack(accuracy.errors_by_cell(met.frame, cells.height, settings))
    cells = cells.hstack(matched_p(met, cells, settings))
    cells = cells.hstack(skill_columns(met, cells, settings))
    cells, notes = cautions.add(cells, met, settings)
    extra = [column for column in PAIRWISE if column in cells.columns]
    extra += [column for column in cells.columns if column.startswith("source_")]
    return Scored(
        cells=cells.select(*CELL_COLUMNS, *extra),
        pairs=_pair_table(met),
        floors=floors,
        notes=(*met.notes, *notes),
        operating_level=levels,
        joins=met.joins,
    )


def count_cells(frame: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    """Count every cell in one pass over the answers.

    ``frame`` is that of `pairs.pair`. Returns `CELL`, ``n_asked, n_pred, n_usable``, the nested and flat
    counts, ``left_out_*``, and for the protocol ``blinding`` the pairwise counts.
    """
    cells = _cell_index(frame)
    n = cells.height
    group = frame["cell"].to_numpy()
    value = frame["value"].fill_null(float("nan")).to_numpy()
    label = frame["label"].fill_null(float("nan")).to_numpy()
    scorable = frame["scorable"].to_numpy()
    counts = figures.agreement(value, label, scorable, group, n, prefix=settings.match == "prefix")
    table = cells.select(*CELL, "family").hstack(
        [pl.Series(name, counts[:, i]) for i, name in enumerate(("n_usable", *COUNTS))]
    )
    asked = np.bincount(group, minlength=n)
    if not settings.pooled:
        # A molecule is its label; two ids that met the same label by structure are one.
        found, lost = pl.col("label_row"), pl.col("molecule").filter(pl.col("label_row").is_null())
        molecules = frame.group_by("cell").agg(asked=found.drop_nulls().n_unique() + lost.n_unique())
        asked = molecules.sort("cell")["asked"].to_numpy()
    table = table.with_columns(
        n_asked=pl.Series(asked, dtype=pl.Int64),
        n_pred=pl.Series(np.bincount(group[frame["parsed"].to_numpy()], minlength=n), dtype=pl.Int64),
        **_left_out(frame, n),
    )
    if settings.protocol == "blinding":
        carried = frame["answer_figures"].fill_null(0).cast(pl.Int8).to_numpy()
        label_figures = frame["label_figures"].fill_null(0).cast(pl.Int8).to_numpy()
        used = np.where(frame["parsed"].to_numpy(), label_figures, 0).astype(np.int8)
        pairwise = figures.agreement_pairwise(value, label, carried, used, group, n)
        table = table.hstack([pl.Series(name, pairwise[:, i]) for i, name in enumerate(PAIRWISE)])
    return table


def _left_out(frame: pl.DataFrame, cells: int) -> dict[str, pl.Series]:
    """Count the answers of each cell by the reason why they do not count."""
    found = frame.select("cell", "reason").drop_nulls().group_by("cell", "reason").len()
    counts = np.zeros((len(REASONS), cells), np.int64)
    for cell, reason, count in found.iter_rows():
        counts[REASONS.index(reason), cell] = count
    return {f"left_out_{reason}": pl.Series(counts[i]) for i, reason in enumerate(REASONS)}


def _cell_index(frame: pl.DataFrame) -> pl.DataFrame:
    # Cells are numbered in order of first appearance, so the greatest number so far grows at each new one.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(frame["cell"].to_numpy()), prepend=-1))
    return frame.select("cell", *CELL, "family")[first]


def family() -> pl.Expr:
    """Name the tests that a cell is corrected with, such as "rewritten, effort=low"; "all" without arm and effort."""
    effort = pl.concat_str(pl.lit("effort="), "effort")
    parts = [
        pl.when(pl.col("family") != "").then("family"),
        pl.when(pl.col("effort") != "").then(effort),
    ]
    return pl.concat_str(parts, separator=", ", ignore_nulls=True).replace("", "all")


def _judged(cells: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    rungs = RUNGS[settings.protocol]
    tests = cells.with_columns(
        family=family(),
        hits12=rungs["12"][0],
        trials12=rungs["12"][1],
        hits23=rungs["23"][0],
        trials23=rungs["23"][1],
        hits3=rungs["hit3"][0],
        n_hit3=rungs["hit3"][1],
    )
    judged = judge(tests, alpha=settings.alpha, correction=settings.correction)
    columns: dict[str, pl.Series] = {}
    for name, hits, trials in (
        ("R12", "hits12", "trials12"),
        ("R23", "hits23", "trials23"),
        ("hit3", "hits3", "n_hit3"),
    ):
        k, n = judged[hits].to_numpy(), judged[trials].to_numpy()
        low, high = intervals.clopper_pearson(k, n, 0.95)
        ratio = np.divide(k, n, out=np.full(n.shape, np.nan), where=n > 0)
        for end, values in (("", ratio), ("_low", low), ("_high", high)):
            columns[name + end] = pl.Series(np.where(n > 0, values, np.nan)).fill_nan(None)
    return judged.with_columns(**columns)


def _pair_table(met: Pairs) -> pl.DataFrame:
    """One row an answer, with the codes that were compared."""
    frame = met.frame
    value = frame["value"].fill_null(float("nan")).to_numpy()
    label = frame["label"].fill_null(float("nan")).to_numpy()
    codes = {}
    for name, numbers in (("answer", value), ("label", label)):
        for k in (1, 2, 3):
            codes[f"{name}_code{k}"] = pl.Series(figures.codes(numbers, k), dtype=pl.Int64)
    depth = pl.Series(figures.depth(value, label), dtype=pl.Int8)
    return frame.select(
        *CELL,
        *("file", "row", "molecule", "sample", "text", "digits", "rule", "kind", "flags", "value"),
        *("answer_figures", "label_text", "label", "label_figures", "parsed", "scorable"),
        pl.col("reason").alias("left_out"),
    ).with_columns(depth=pl.when(frame["scorable"]).then(depth), **codes)
