"""``pairs.parquet``: one row an answer, with the codes that were compared."""

from __future__ import annotations

import polars as pl

from molaudit.kernels import figures

from ..seams.columns import Column, typed
from .counting import INDEX
from .pairs import Pairs

COLUMNS = (
    *INDEX,
    Column("file", pl.String, "the file that the answer stands in, or `the run`"),
    Column("row", pl.Int64, "its row there"),
    Column("molecule", pl.String, "the molecule, as the answers call it"),
    Column("sample", pl.Int64, "which of several answers to one question, from 0"),
    *typed(
        pl.String,
        text="the answer as it stands in the reply, or the number that was given",
        digits="the same as a plain decimal, with the trailing zeros that were written",
        rule="the rule that found the answer",
        kind="what was found: point (one number), or why there is none",
        flags="what a reader may want to know of the reading, with `; ` between",
    ),
    Column("value", pl.Float64, "the answer as a number"),
    Column("answer_figures", pl.Int64, "significant figures of the answer"),
    Column("label_text", pl.String, "the label as it was written"),
    Column("label", pl.Float64, "the label as a number"),
    Column("label_figures", pl.Int64, "significant figures of the label"),
    Column("parsed", pl.Boolean, "whether the answer enters the error measures"),
    Column("scorable", pl.Boolean, "whether it enters the counts"),
    Column("left_out", pl.String, "why it does not count; empty where it does"),
    Column("depth", pl.Int8, "at how many figures it is right, from 0 to 3; empty where it does not count"),
    *typed(
        pl.Int64,
        answer_code1="the answer rounded to one figure, as a code: equal codes agree",
        answer_code2="the answer rounded to two figures, as a code",
        answer_code3="the answer rounded to three figures, as a code",
        label_code1="the label rounded to one figure, as a code",
        label_code2="the label rounded to two figures, as a code",
        label_code3="the label rounded to three figures, as a code",
    ),
)


def pair_table(met: Pairs) -> pl.DataFrame:
    """Return `COLUMNS`, one row an answer."""
    frame = met.frame
    value = frame["value"].fill_null(float("nan")).to_numpy()
    label = frame["label"].fill_null(float("nan")).to_numpy()
    codes = {}
    for name, numbers in (("answer", value), ("label", label)):
        for k in (1, 2, 3):
            codes[f"{name}_code{k}"] = pl.Series(figures.codes(numbers, k), dtype=pl.Int64)
    depth = pl.Series(figures.depth(value, label), dtype=pl.Int8)
    made = {"left_out", "depth", *codes}
    return frame.select(
        *(column.name for column in COLUMNS if column.name not in made),
        left_out="reason",
        depth=pl.when(frame["scorable"]).then(depth),
        **codes,
    )
