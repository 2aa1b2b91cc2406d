"""Every answer as a number: reply text by the parser, in its benchmark's unit; numbers as they were written."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ..answers.labels import MISSING, NOT_A_NUMBER, NOT_FINITE, read_labels
from ..answers.numbers import parse_column
from .distinct import distinct
from .settings import ScoreSettings

_PROBLEMS = {MISSING: "empty", NOT_A_NUMBER: "none", NOT_FINITE: "non-finite"}
"""Problem of a prediction that was given as a number, to the kind of the same reply given as text."""


def read_answers(
    answers: pl.DataFrame, labels: pl.DataFrame, settings: ScoreSettings, notes: list[str]
) -> pl.DataFrame:
    """Replace ``answer`` and ``prediction`` by ``text, digits, value, rule, kind, flags, answer_figures``.

    Parameters
    ----------
    answers, labels
        Frames of `molaudit.storage.tables.imports`; the labels tell the unit of each benchmark.
    settings
        Which figures ``answer_figures`` counts, and how replies are read.
    notes
        Gets a sentence where answers were left out for a comma.

    Returns
    -------
    One row an answer, in order.
    """
    answers = answers.with_row_index("position")
    is_text = answers["answer"].is_not_null() | answers["prediction"].is_null()
    parts = []
    if not is_text.all():
        numbers = answers if not is_text.any() else answers.filter(~is_text)
        parts.append(_read_as(numbers, _read_predictions(numbers["prediction"], settings)))
    if is_text.any():
        for unit, texts in _by_unit(answers.filter(is_text), labels):
            parts.append(_read_as(texts, _read_replies(texts["answer"], unit, settings)))
    frame = parts[0] if len(parts) == 1 else pl.concat(parts).sort("position")
    _say_commas(frame, notes)
    return frame.drop("position")


def _say_commas(frame: pl.DataFrame, notes: list[str]) -> None:
    """Name the way on for answers that were left out because their comma may be a decimal sign."""
    lost = frame.filter((pl.col("kind") == "ambiguous") & pl.col("flags").str.contains("decimal-comma"))
    if lost.height:
        notes.append(
            f"{lost.height} answers were left out as ambiguous for a comma, first {lost['text'][0]!r}: where replies "
            "write decimal commas, say so (--decimal-comma, decimal_comma=True)"
        )


def _read_as(answers: pl.DataFrame, read: pl.DataFrame) -> pl.DataFrame:
    return answers.drop("answer", "prediction").hstack(read)


def _by_unit(answers: pl.DataFrame, labels: pl.DataFrame) -> Iterator[tuple[str | None, pl.DataFrame]]:
    units = labels.group_by("benchmark").agg(pl.col("unit").drop_nulls().first())
    by_benchmark = dict(units.iter_rows())
    if len(set(by_benchmark.values())) == 1:
        yield next(iter(by_benchmark.values())), answers
        return
    for name, part in answers.partition_by("benchmark", as_dict=True, maintain_order=True).items():
        yield by_benchmark.get(name[0]), part


def _read_replies(replies: pl.Series, unit: str | None, settings: ScoreSettings) -> pl.DataFrame:
    values, index = distinct(replies)
    parsed = parse_column(
        values, unit, approximate=settings.approximate == "count", decimal_comma=settings.decimal_comma
    )
    figures = settings.figures
    read = parsed.select(
        *("text", "digits", "value", "rule", "kind"),
        pl.col("flags").list.join("; "),
        pl.col("figures" if figures == "written" else figures).cast(pl.Int64).alias("answer_figures"),
    )
    return read[index]


def _read_predictions(predictions: pl.Series, settings: ScoreSettings) -> pl.DataFrame:
    """Read predictions by the strict grammar of labels; NaN is how tables spell a missing one."""
    values, index = distinct(predictions)
    missing = pl.col("text").str.strip_chars().str.to_lowercase() == "nan"
    read = read_labels(values).select(
        *("text", "digits", "value"),
        pl.lit("prediction").alias("rule"),
        pl.when(missing)
        .then(pl.lit("empty"))
        .otherwise(pl.col("problem").replace_strict(_PROBLEMS, default="point", return_dtype=pl.String))
        .alias("kind"),
        pl.lit("").alias("flags"),
        pl.col(settings.figures).cast(pl.Int64).alias("answer_figures"),
    )
    return read[index]
