"""Answers of models: one row a reply, or a number that was read from one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import TableError
from ..logs import harness as harness_logs
from . import reading as tables
from .checks import DECIMAL_COMMA, drop, identify, plain_number, rows_named, stripped, whole_numbers

COLUMNS = tables.Columns(
    required=("model",),
    one_of=(("molecule", "smiles"), ("answer", "prediction")),
    optional=("benchmark", "condition", "effort", "sample", "reasoning_tokens"),
)
SCHEMA = {
    "file": pl.String,
    "row": pl.Int64,
    "model": pl.String,
    "benchmark": pl.String,
    "molecule": pl.String,
    "smiles": pl.String,
    "answer": pl.String,
    "prediction": pl.String,
    "condition": pl.String,
    "effort": pl.String,
    "sample": pl.Int64,
    "reasoning_tokens": pl.Int64,
    "outcome": pl.String,
}
_ONE_REPLY = ["model", "benchmark", "molecule", "smiles", "condition", "effort"]


@dataclass(frozen=True)
class Answers:
    """Answers that can be scored.

    Attributes
    ----------
    frame
        Columns of `SCHEMA`. At most one of `answer` (the reply as written, may be "") and `prediction` (a number as
        written) is set; neither means that the model was asked and gave nothing. `sample` counts from 0.
        `outcome` is null but where a log says how a call ended that gave no answer.
    files
        The files read, for their digests.
    notes
        Sentences for the report.
    left_out
        Number of records left out, by reason.
    """

    frame: pl.DataFrame
    files: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def load_answers(path: str | Path | Sequence[str | Path], *, decimal_comma: bool = False) -> Answers:
    """Read answers from tables or from the logs of evaluation harnesses.

    Parameters
    ----------
    path
        A table (CSV, TSV, JSON Lines, JSON, Parquet, spreadsheet) with `model`, `molecule` or `smiles`, and `answer`
        or `prediction`; a sample file of lm-evaluation-harness; an Inspect log (.eval or .json); results of
        promptfoo (.json or .jsonl); the output file of an OpenAI batch (.jsonl); a folder of logs; or several of
        these.
    decimal_comma
        Whether a `prediction` of "-3,10" is -3.10.

    Raises
    ------
    TableError
        Something cannot be used; the message names the file, and the row and column where there is one.
    """
    named: Iterable[str | Path] = [path] if isinstance(path, str | Path) else path
    files = [file for each in named for file in harness_logs.within(each)]
    if not files:
        raise TableError("No file of answers was given.")
    return _joined([harness_logs.read(file) or tables.read(file, COLUMNS) for file in files], decimal_comma)


def answers_from_frame(frame: Any, *, decimal_comma: bool = False) -> Answers:
    """Answers from a polars or pandas frame; the same columns and checks as `load_answers`.

    Raises
    ------
    TableError
        Something cannot be used; the message names the record, counted from 1, and the column.
    """
    return _joined([tables.from_frame(frame, COLUMNS)], decimal_comma)


def _joined(parts: list[tables.Table], decimal_comma: bool) -> Answers:
    check = partial(_checked, decimal_comma=decimal_comma)
    frame, notes, left_out = tables.joined(parts, check)
    frame = _without_repeats(_numbered(frame), notes, left_out)
    if not frame.height:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in left_out.items())
        raise TableError(f"{', '.join(part.path for part in parts)}: no usable answer ({reasons}).")
    return Answers(frame, tables.files_of(parts), notes, left_out)


def _checked(
    table: tables.Table, notes: list[str], left_out: dict[str, int], decimal_comma: bool
) -> pl.DataFrame:
    source = table.path
    frame = identify(table.frame, source, notes).with_columns(
        [stripped(name) for name in ("model", "benchmark", "condition", "effort", "prediction")]
    )
    frame = drop(frame, pl.col("model").is_null(), "no model", source, notes, left_out)
    frame = drop(frame, pl.col("molecule").is_null(), "no molecule", source, notes, left_out)
    if decimal_comma:
        commas = pl.col("prediction").str.contains(DECIMAL_COMMA)
        point = pl.col("prediction").str.replace(",", ".", literal=True)
        frame = frame.with_columns(pl.when(commas).then(point).otherwise("prediction").alias("prediction"))
    frame = _one_answer(frame, source, notes)
    if "outcome" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("outcome"))
    frame = whole_numbers(frame, "sample", source)
    if frame["sample"].null_count() not in (0, frame.height):
        row = frame.filter(pl.col("sample").is_null())["row"][0]
        raise TableError(
            f"{source}, row {row}, column 'sample': found nothing while other rows have one. Fill it in."
        )
    frame = whole_numbers(frame, "reasoning_tokens", source)
    return frame.with_columns(pl.lit(source).alias("file")).select(
        pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()
    )


def _one_answer(frame: pl.DataFrame, source: str, notes: list[str]) -> pl.DataFrame:
    written = (pl.col("answer").str.strip_chars().str.len_bytes() > 0).fill_null(False)
    predicted = pl.col("prediction").is_not_null()
    both = frame.select((written & predicted).sum()).item()
    if both:
        notes.append(f"{source}: rows with an answer and a prediction: {both}; the answer is used.")
    wrong = frame.filter(predicted & ~written & plain_number("prediction").is_null())
    comma = pl.col("prediction").str.contains(DECIMAL_COMMA)
    if wrong.height:
        notes.append(
            f"{source}, column 'prediction', {rows_named(wrong['row'].to_list())}: not a finite number "
            f"(first: {wrong['prediction'][0][:40]!r})."
            + (" Decimal commas are read with --decimal-comma." if wrong.filter(comma).height else "")
        )
    return frame.with_columns(
        pl.when(~written).then("prediction").alias("prediction"),
        pl.when(written | ~predicted).then("answer").alias("answer"),
    )


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Replies without a sample index are numbered in the order in which they come."""
    order = pl.int_range(pl.len(), dtype=pl.Int64).over([*_ONE_REPLY, pl.col("sample").is_null()])
    return frame.with_columns(pl.coalesce("sample", order).alias("sample"))


def _without_repeats(frame: pl.DataFrame, notes: list[str], left_out: dict[str, int]) -> pl.DataFrame:
    """One reply for each sample index: counting a reply twice would make agreement look significant.

    Where a call failed in one log and was answered in another (a retried run), the answer counts.
    """
    frame = frame.with_row_index("_order")
    mixed = frame["outcome"].null_count() < frame.height
    if mixed:
        frame = frame.sort(pl.col("outcome").is_not_null(), "_order")
    again = ~pl.struct([*_ONE_REPLY, "sample"]).is_first_distinct()
    repeats = frame.filter(again).sort("_order")
    frame = frame.filter(~again) if repeats.height else frame
    frame = (frame.sort("_order") if mixed else frame).drop("_order")
    if not repeats.height:
        return frame
    left_out["same sample again"] = repeats.height
    file, row = repeats.select("file", "row").row(0)
    notes.append(
        f"{file}, row {row}: this model, molecule and sample index came before; {repeats.height} such rows left out. "
        "Give each repeat its own 'sample' to keep them."
    )
    return frame
