"""Answers meet labels: one row an answer, with the reason why it does not count where it does not.

Reasons, in the order in which they are looked for:

unmatched          no label for this molecule in this benchmark, by id or by structure
conflict           the molecule has several different labels
not_asked, failed, filtered, recitation   a call of a run without an answer (refusals and cuts as below)
empty ... no_number  the reply holds no single number (the kinds of `answers.numbers`)
later_sample       another sample of the molecule is the one that counts
label_zero         the label carries no figures: it is zero
label_short        the label carries fewer than three figures
answer_short       the answer carries fewer figures than the settings require
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ..answers.labels import read_labels
from ..errors import InputError
from .distinct import numbered
from .joins import meet
from .reading import read_answers
from .settings import ScoreSettings
from .several_values import choose_values

CELL = ("benchmark", "model", "condition", "effort", "arm")

UNPARSED = {
    "empty": "empty",
    "refusal": "refusal",
    "truncated": "truncated",
    "range": "range",
    "bound": "bound",
    "uncertain": "uncertain",
    "ambiguous": "ambiguous",
    "none": "no_number",
}
"""Kind of a reply without a single number, to the reason under which it is left out."""

OUTCOMES = {
    "refused": "refusal",
    "truncated": "truncated",
    "empty": "empty",
    "filtered": "filtered",
    "recitation": "recitation",
    "not_asked": "not_asked",
}
"""Outcome of a call without an answer, to the reason; any other outcome is a failure of the infrastructure."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """``frame``: one row an answer. ``labels``: one row a numeric label. ``notes``: what a reader must know.

    ``joins``: how the answers met the labels, `joins.COLUMNS`.
    """

    frame: pl.DataFrame
    labels: pl.DataFrame
    notes: tuple[str, ...]
    joins: pl.DataFrame


def pair(answers: pl.DataFrame, labels: pl.DataFrame, settings: ScoreSettings) -> Pairs:
    """Join answers to labels and mark what counts.

    Parameters
    ----------
    answers, labels
        Frames of `molaudit.storage.tables.imports`.
    settings
        Protocol, figures, sample rule.

    Returns
    -------
    Pairs. ``frame`` has for each answer the cell (`CELL`, and its number ``cell``), ``molecule, sample, text,
    digits, rule, kind, flags, value, answer_figures, label_text, label, label_figures, label_row, parsed,
    scorable, reason``;
    ``parsed`` rows enter the error measures, ``scorable`` rows the counts.

    Raises
    ------
    InputError
        No answer meets a label, or the benchmarks of the two tables cannot be told apart.
    """
    notes: list[str] = []
    values = label_values(labels, settings.figures)
    if values.height < labels.height:
        notes.append(
            f"{_file_of(labels)}: {labels.height - values.height} labels are no finite numbers; left out"
        )
    answers = _with_arm(_with_benchmark(answers, values, notes))
    met = meet(read_answers(answers, values, settings, notes), values, notes)
    joined = met.frame
    if settings.several_values:
        joined = choose_values(joined, met.labels, settings, notes)
    return Pairs(_with_cell(_mark(joined, settings)), met.labels, tuple(notes), met.table)


def _with_arm(answers: pl.DataFrame) -> pl.DataFrame:
    """Without an arm of its own an answer belongs to that of its condition; without a family, to that of its arm."""
    for name, default in (("arm", "condition"), ("family", "arm")):
        stated = pl.col(name) if name in answers.columns else pl.lit(None, pl.String)
        answers = answers.with_columns(stated.fill_null(pl.col(default)).alias(name))
    return answers


def _with_cell(frame: pl.DataFrame) -> pl.DataFrame:
    """Number the cells from 0 in order of first appearance."""
    return frame.with_columns(cell=numbered(frame, CELL))


def label_values(labels: pl.DataFrame, figures: str) -> pl.DataFrame:
    """Return the numeric labels with ``label_text``, ``label``, ``label_figures`` (by the rule) and ``label_row``."""
    read = read_labels(labels["label"]).select(
        pl.col("value").alias("label"),
        pl.col(figures).cast(pl.Int64).alias("label_figures"),
    )
    return (
        labels.rename({"label": "label_text"})
        .hstack(read)
        .filter(pl.col("label").is_finite())
        .with_row_index("label_row")
        .with_columns(pl.col("label_row").cast(pl.Int64))
    )


def _with_benchmark(answers: pl.DataFrame, labels: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Fill in a benchmark where the answers name none: only one set of labels leaves no doubt."""
    known = labels["benchmark"].unique(maintain_order=True).to_list()
    if not known:
        raise InputError(f"{_file_of(labels)}: no row has a numeric label; nothing can be compared")
    named = answers["benchmark"].drop_nulls().unique(maintain_order=True).to_list()
    missing = answers["benchmark"].null_count()
    if missing and len(known) > 1:
        raise InputError(
            f"{_file_of(answers)}: {missing} answers name no benchmark, and the labels hold {len(known)}: "
            f"{_listed(known)}; add a column 'benchmark' to the answers"
        )
    answers = answers.with_columns(pl.col("benchmark").fill_null(known[0]))
    unknown = [name for name in named if name not in known]
    if unknown and len(known) == 1 and len(named) == 1:
        notes.append(
            f"benchmark: the answers call it {named[0]!r}, the labels {known[0]!r}; taken as the same"
        )
        return answers.with_columns(benchmark=pl.lit(known[0]))
    if unknown and len(unknown) == len(named) and not missing:
        raise InputError(
            f"{_file_of(answers)}: no benchmark in common; the answers name {_listed(named)}, the labels hold "
            f"{_listed(known)} (labels without a column 'benchmark' go by the name of their file); "
            "give both tables the same names"
        )
    if unknown:
        notes.append(f"benchmark: no labels for {_listed(unknown)}; the labels hold {_listed(known)}")
    return answers


def _listed(names: list[str], most: int = 5) -> str:
    return ", ".join(map(repr, names[:most])) + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )


def _file_of(frame: pl.DataFrame) -> str:
    return str(frame["file"][0]) if frame.height and "file" in frame.columns else "input"


def _mark(joined: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    reason = (
        pl.when(pl.col("label_row").is_null())
        .then(pl.lit("unmatched"))
        .when(pl.col("conflict"))
        .then(pl.lit("conflict"))
        .otherwise(_without_answer(joined))
    )
    frame = joined.with_columns(reason=reason, sample=pl.col("sample").fill_null(0))
    if not settings.pooled:
        frame = _keep_first_sample(frame)
    required = 3 if settings.answer_figures == "required" and settings.protocol == "recall" else 0
    counted = pl.col("reason").is_null()
    why = (
        pl.when(~counted)
        .then("reason")
        .when(pl.col("label") == 0)
        .then(pl.lit("label_zero"))
        .when(pl.col("label_figures") < 3)
        .then(pl.lit("label_short"))
        .when(pl.col("answer_figures") < required)
        .then(pl.lit("answer_short"))
    )
    return frame.with_columns(parsed=counted, reason=why).with_columns(scorable=pl.col("reason").is_null())


def _without_answer(joined: pl.DataFrame) -> pl.Expr:
    """Why there is no number: the call's own outcome where a run knows it, else the kind of the reply."""
    unparsed = pl.col("kind").replace_strict(UNPARSED, default=None, return_dtype=pl.String)
    if "outcome" not in joined.columns:
        return unparsed
    lost = pl.col("outcome").replace_strict(OUTCOMES, default="failed", return_dtype=pl.String)
    answered = pl.col("outcome").is_null() | (pl.col("outcome") == "answered")
    return pl.when(answered).then(unparsed).otherwise(lost)


def _keep_first_sample(frame: pl.DataFrame) -> pl.DataFrame:
    """Let one answer a molecule count: the lowest sample that was parsed, the first row on a tie."""
    frame = frame.with_row_index("_order")
    chosen = (
        frame.filter(pl.col("reason").is_null())
        .sort("sample", "_order")
        .unique([*CELL, "label_row"], keep="first", maintain_order=True)
        .select("_order", _chosen=True)
    )
    frame = frame.join(chosen, on="_order", how="left", maintain_order="left")
    later = pl.col("reason").is_null() & pl.col("_chosen").is_null()
    return frame.with_columns(reason=pl.when(later).then(pl.lit("later_sample")).otherwise("reason")).drop(
        "_order", "_chosen"
    )
