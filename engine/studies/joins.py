"""How answers meet labels: by the molecule's id, by its structure, and what happens where the two disagree.

An id is worth what its maker put into it. A name says which molecule is meant, more exactly than a SMILES without
stereochemistry does; a number may be a mere position in somebody's file. So where both sides carry a structure it
decides: an id that leads to another structure is counted as a disagreement and passed over, and where that happens
often nothing is compared at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..errors import InputError
from ..seams.columns import Column, schema, typed
from .distinct import numbered

MOST_DISAGREE = 0.05
"""Share of the answers with both an id and a structure whose structure may be another than that of their id."""

_HOWS = typed(
    pl.Int64,
    by_both="answers whose id and structure name the same label",
    by_id="answers that met their label by id alone",
    by_structure="answers that met their label by structure, for want of a known id",
    disagreed="answers whose id names another molecule than their structure; the structure decided",
    unmatched="answers without a label",
)
COLUMNS = (
    *typed(
        pl.String,
        benchmark="the benchmark",
        model="the model, as the answers call it",
        file="the file that the answers stand in, or `the run`",
    ),
    Column("answers", pl.Int64, "answers in all: the sum of the five that follow"),
    *_HOWS,
    Column("met", pl.Int64, "answers that have a label"),
)
"""One row for each benchmark, model and file of answers."""

_CODE = r"^[A-Za-z]{0,12}[ _\-.:#]?[0-9]+$"
"""An id that says nothing of the molecule: a number, or letters and a number."""

_LABEL = ("label_text", "label", "label_figures", "label_row")
_ID, _STRUCTURE = ["benchmark", "molecule"], ["benchmark", "structure"]


@dataclass(frozen=True, slots=True)
class Met:
    """Answers that have met their labels.

    Attributes
    ----------
    frame
        The answers, in order, with ``label_text, label, label_figures, label_row`` (null where unmatched),
        ``conflict`` and ``same``: the number that its molecule's labels bear, null where its id may mean several.
    labels
        As given, with ``structure`` and ``same``.
    table
        `COLUMNS`.
    """

    frame: pl.DataFrame
    labels: pl.DataFrame
    table: pl.DataFrame


def meet(answers: pl.DataFrame, labels: pl.DataFrame, notes: list[str]) -> Met:
    """Give every answer its label, or none.

    Parameters
    ----------
    answers
        ``benchmark, molecule, smiles, model, file, row`` and anything else.
    labels
        Of `pairs.label_values`.
    notes
        What a reader must know is added here.

    Raises
    ------
    InputError
        No answer meets a label, or ids and structures disagree too often; the message names an example of both.
    """
    judged = _judged(labels, answers["benchmark"].unique().to_list())
    number = numbered(answers, [*_ID, "smiles"])
    first = np.flatnonzero(np.diff(np.maximum.accumulate(number.to_numpy()), prepend=-1))
    asked = _decided(answers.select(*_ID, "smiles")[first], judged)
    frame = answers.hstack(asked.select(*_LABEL, "conflict", "same", "how", "id_row")[number])
    _refuse(frame, judged)
    _say_disagreed(frame, judged, notes)
    _say_several(judged, asked, notes)
    _say_unmatched(frame, judged, notes)
    kept = judged.select(*labels.columns, "structure", "same")
    return Met(frame.drop("how", "id_row"), kept, _table(frame))


def _structures(frame: pl.DataFrame, needed: pl.Expr) -> pl.Series:
    """Canonical structures of the rows where they are needed: of the SMILES, else of a name that is one."""
    from ..molecules.structures import canonical_smiles, is_formula

    text = frame.select(pl.when(needed).then(pl.coalesce("smiles", "molecule"))).to_series()
    known = canonical_smiles(text.drop_nulls().unique().to_list())
    named = frame["smiles"].is_null()
    # The column of names says that a text is a name: CO is carbon monoxide there, and methanol among SMILES.
    formulas = [each for each in text.filter(named).drop_nulls().unique().to_list() if is_formula(each)]
    found = text.replace_strict(known, default=None, return_dtype=pl.String)
    return pl.select(pl.when(~(named & text.is_in(formulas))).then(found)).to_series().alias("structure")


def _judged(labels: pl.DataFrame, benchmarks: list[str]) -> pl.DataFrame:
    """Labels with what their structures say: rows of one molecule, ids of several, values that differ."""
    frame = labels.hstack([_structures(labels, pl.col("benchmark").is_in(benchmarks))])
    known, distinct = pl.col("structure").is_not_null(), pl.col("structure").n_unique()
    coded = pl.col("molecule").str.contains(_CODE) | pl.coalesce("smiles", "molecule").eq(pl.col("molecule"))
    frame = frame.with_columns(
        several=pl.when(known.all().over(_ID)).then(distinct.over(_ID) > 1).otherwise("shared_id"),
        differ=known & (pl.col("label").n_unique().over(_STRUCTURE) > 1),
        own=pl.col("label").n_unique().over([*_ID, "structure"]) > 1,
        coded=coded.all().over(_STRUCTURE),
    )
    of_id = pl.col("structure").drop_nulls().first().over(_ID)
    key = pl.coalesce("structure", pl.when(~pl.col("several")).then(of_id), "molecule")
    return frame.with_columns(same=pl.col("label_row").first().over("benchmark", key))


def _decided(asked: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """One row a distinct (benchmark, molecule, smiles): how it meets which label."""
    of_id = labels.unique(_ID, keep="first", maintain_order=True).select(
        *_ID, id_row="label_row", id_smiles="smiles", id_structure="structure", several="several"
    )
    asked = asked.join(of_id, on=_ID, how="left", maintain_order="left")
    alike = (pl.col("smiles") == pl.col("id_smiles")) & ~pl.col("several")
    unnamed = pl.col("molecule").eq_missing(pl.col("smiles"))
    needed = unnamed | pl.col("id_row").is_null() | (pl.col("smiles").is_not_null() & ~alike.fill_null(False))
    asked = asked.hstack([_structures(asked, needed)])
    # A molecule that goes by its SMILES has no id of its own; text that is no SMILES is one, whatever its column.
    known = unnamed & pl.col("structure").is_not_null()
    asked = asked.with_columns(pl.when(~known).then("id_row").alias("id_row"))
    structured = labels.drop_nulls("structure")
    for name, keys in (("both_row", [*_ID, "structure"]), ("structure_row", _STRUCTURE)):
        rows = structured.unique(keys, keep="first", maintain_order=True)
        rows = rows.select(*keys, pl.col("label_row").alias(name))
        asked = asked.join(rows, on=keys, how="left", maintain_order="left")
    asked = asked.with_columns(compatible=_compatible(asked))
    asked = asked.with_columns(how=_how(alike))
    row = (
        pl.when(pl.col("how") == "by_both")
        .then(pl.coalesce("both_row", "id_row"))
        .when(pl.col("how") == "by_id")
        .then("id_row")
        .otherwise("structure_row")
    )
    flags = labels.select(*_LABEL, "conflict", "several", "differ", "own", "coded", "same")
    asked = asked.drop("several").with_columns(label_row=row)
    return _with_conflict(asked.join(flags, on="label_row", how="left", maintain_order="left"))


def _how(alike: pl.Expr) -> pl.Expr:
    by_structure = pl.col("structure_row").is_not_null()
    read = pl.col("id_structure").is_not_null()
    compared = pl.col("structure").is_not_null() & read
    return (
        pl.when(pl.col("id_row").is_null())
        .then(pl.when(by_structure).then(pl.lit("by_structure")).otherwise(pl.lit("unmatched")))
        .when((alike & read) | pl.col("both_row").is_not_null() | pl.col("compatible"))
        .then(pl.lit("by_both"))
        .when(compared)
        .then(pl.lit("disagreed"))
        .otherwise(pl.lit("by_id"))
    )


def _compatible(asked: pl.DataFrame) -> pl.Series:
    """Whether two structures are one but that only one of them says how its centres are: no disagreement."""
    from ..molecules.structures import without_stereo

    ours, theirs = asked["structure"], asked["id_structure"]
    open_ = (ours != theirs).fill_null(False) & asked["id_row"].is_not_null() & asked["both_row"].is_null()
    flat = without_stereo([*ours.filter(open_).to_list(), *theirs.filter(open_).to_list()])
    found = [
        is_open and flat[one] == flat[other] and flat[one] in (one, other)
        for one, other, is_open in zip(ours, theirs, open_, strict=True)
    ]
    return pl.Series(found, dtype=pl.Boolean)


def _with_conflict(asked: pl.DataFrame) -> pl.DataFrame:
    """Mark what has several values: under its id, and under its structure where no name tells the values apart."""
    by_id, by_both = pl.col("how") == "by_id", pl.col("how") == "by_both"
    of_id = pl.when(by_both & pl.col("several")).then("own").otherwise("conflict")
    named = of_id | (pl.col("differ") & pl.col("coded"))
    return asked.with_columns(
        conflict=pl.when(by_id | by_both).then(named).otherwise("differ"),
        same=pl.when(~(by_id & pl.col("several"))).then("same"),
    )


def _table(frame: pl.DataFrame) -> pl.DataFrame:
    counts = [(pl.col("how") == how).sum().alias(how) for how in schema(_HOWS)]
    found = frame.group_by("benchmark", "model", "file", maintain_order=True).agg(
        pl.len().alias("answers"), *counts, pl.col("label_row").count().alias("met")
    )
    return found.select(pl.col(name).cast(dtype) for name, dtype in schema(COLUMNS).items())


def _refuse(frame: pl.DataFrame, labels: pl.DataFrame) -> None:
    both = frame.filter(pl.col("how").is_in(["by_both", "disagreed"]))
    for (file, benchmark), part in both.group_by("file", "benchmark", maintain_order=True):
        wrong = part.filter(pl.col("how") == "disagreed")
        if wrong.height > MOST_DISAGREE * part.height:
            raise InputError(
                f"{file}: of {part.height} answers with a molecule id and a structure, {wrong.height} name by id "
                f"another molecule of {benchmark!r} than by structure ({_example(wrong, labels)}); the ids seem to "
                "be another table's, or mere positions. Leave out the column of ids to compare by structure alone, "
                "or that of structures to compare by id alone"
            )


def _example(wrong: pl.DataFrame, labels: pl.DataFrame) -> str:
    answer = wrong.row(0, named=True)
    label = labels.row(answer["id_row"], named=True)
    return (
        f"row {answer['row']}: {answer['molecule']!r} with structure {answer['smiles']!r}, but in {label['file']}, "
        f"row {label['row']}, {label['molecule']!r} is {label['smiles'] or label['molecule']!r}"
    )


def _say_disagreed(frame: pl.DataFrame, labels: pl.DataFrame, notes: list[str]) -> None:
    wrong = frame.filter(pl.col("how") == "disagreed")
    if wrong.height:
        notes.append(
            f"{wrong['file'][0]}: {wrong.height} answers name by their molecule id another molecule than by their "
            f"structure, which decided ({_example(wrong, labels)})"
        )
    found = frame.filter(pl.col("how") == "by_structure").height
    if found:
        notes.append(f"{found} answers were matched by canonical structure, not by molecule id")


def _say_several(labels: pl.DataFrame, asked: pl.DataFrame, notes: list[str]) -> None:
    """Name the molecules that stand under several ids with different values."""
    ids = pl.col("molecule").n_unique().over(_STRUCTURE) > 1
    rows = labels.filter(
        pl.col("differ") & ids & pl.col("benchmark").is_in(asked["benchmark"].unique().to_list())
    )
    for (benchmark,), part in rows.group_by("benchmark", maintain_order=True):
        first = part.filter(pl.col("structure") == part["structure"][0])
        example = " and ".join(
            f"{name!r} {text}" for name, text in first.select("molecule", "label_text").head(2).rows()
        )
        notes.append(
            f"{benchmark}: {part['structure'].n_unique()} structures stand under several molecule ids with different "
            f"values (first: {example}, both {part['structure'][0]}): not scored where the structure or a mere "
            "number leads to them; under names of their own each counts with its own value"
        )


def _say_unmatched(frame: pl.DataFrame, labels: pl.DataFrame, notes: list[str]) -> None:
    unmatched = frame.filter(pl.col("label_row").is_null())
    if unmatched.is_empty():
        return
    first = unmatched.row(0, named=True)
    if unmatched.height == frame.height:
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
