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
from .distinct import numbered, runs
from .reading import read_answers
from .settings import ScoreSettings
from .several_values import choose_values

CELL = ("benchmark", "model", "condition", "effort")

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

REASONS = (
    "unmatched",
    "conflict",
    "not_asked",
    "failed",
    "filtered",
    "recitation",
    *UNPARSED.values(),
    "later_sample",
    "label_zero",
    "label_short",
    "answer_short",
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """``frame``: one row an answer. ``labels``: one row a numeric label. ``notes``: what a reader must know."""

    frame: pl.DataFrame
    labels: pl.DataFrame
    notes: tuple[str, ...]


def pair(answers: pl.DataFrame, labels: pl.DataFrame, settings: ScoreSettings) -> Pairs:
    """Join answers to labels and mark what counts.

    Parameters
    ----------
    answers, labels
        Frames of `molaudit.storage.imports`.
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
    answers = _with_benchmark(answers, values, notes)
    joined = _join(read_answers(answers, values, settings, notes), values, notes)
    if settings.several_values:
        joined = choose_values(joined, values, settings, notes)
    return Pairs(_with_cell(_mark(joined, settings)), values, tuple(notes))


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


_LABEL_COLUMNS = ("label_text", "label", "label_figures", "label_row", "conflict")


def _join(read: pl.DataFrame, labels: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Give every answer its label: by molecule id, else by structure.

    An id that stands for several structures decides nothing when the answer brings its structure.
    """
    # A conflicting molecule stands once for each label; any of its rows says that it is one.
    by_id = labels.unique(["benchmark", "molecule"], keep="first", maintain_order=True)
    by_id = by_id.select("benchmark", "molecule", "shared_id", *_LABEL_COLUMNS)
    starts, run = runs(read, ["benchmark", "molecule"])
    heads = read.select("benchmark", "molecule").filter(starts)
    met = heads.join(by_id, on=["benchmark", "molecule"], how="left", maintain_order="left")
    joined = read.with_row_index("position").hstack(met.drop("benchmark", "molecule")[run])
    open_ = pl.col("label_row").is_null() | (pl.col("shared_id") & pl.col("smiles").is_not_null())
    lost = joined.filter(open_)
    if lost.height:
        rescued = _join_by_structure(lost.drop("shared_id", *_LABEL_COLUMNS), labels)
        found = rescued.height - rescued["label_row"].null_count()
        if found:
            notes.append(f"{found} answers were matched by canonical structure, not by molecule id")
            still = lost.filter(rescued["label_row"].is_null()).drop("shared_id")
            kept = joined.filter(~open_).drop("shared_id")
            parts = [kept, rescued.filter(pl.col("label_row").is_not_null()), still]
            joined = pl.concat(part.select(kept.columns) for part in parts).sort("position")
    _say_unmatched(joined, labels, notes)
    return joined.drop("position")


def _say_unmatched(joined: pl.DataFrame, labels: pl.DataFrame, notes: list[str]) -> None:
    unmatched = joined.filter(pl.col("label_row").is_null())
    if unmatched.is_empty():
        return
    first = unmatched.row(0, named=True)
    if unmatched.height == joined.height:
        raise InputError(
            f"{first['file']}, row {first['row']}: no answer meets a label, neither by molecule id nor by "
            f"structure; the answers name molecules such as {first['molecule']!r}, the labels "
            f"{labels['molecule'].head(3).to_list()}"
        )
    rows = ", ".join(str(row) for row in unmatched["row"].head(5))
    notes.append(
        f"{first['file']}: {unmatched.height} answers have no label (rows {rows}"
        f"{', ...' if unmatched.height > 5 else ''}; first molecule {first['molecule']!r})"
    )


def _join_by_structure(lost: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    from ..molecules.structures import canonical_smiles

    def with_structure(frame: pl.DataFrame) -> pl.DataFrame:
        text = frame["smiles"].fill_null(frame["molecule"])
        known = canonical_smiles(text.unique().to_list())
        return frame.with_columns(structure=text.replace_strict(known, default=None, return_dtype=pl.String))

    key = ["benchmark", "structure"]
    target = with_structure(labels).drop_nulls("structure")
    target = target.with_columns(conflict=pl.col("label").n_unique().over(key) > 1)
    target = target.unique(key, keep="first", maintain_order=True).select(*key, *_LABEL_COLUMNS)
    return with_structure(lost).join(target, on=key, how="left", maintain_order="left")


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
    return pl.when(pl.col("outcome") == "answered").then(unparsed).otherwise(lost)


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
