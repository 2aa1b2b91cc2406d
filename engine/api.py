"""The public functions: tables in, tables out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import polars as pl

from molaudit.storage.tables import imports

from .errors import SettingsError
from .processes import compiling
from .studies.retrieval import Scored, score_frames
from .studies.settings import (
    AnswerFigures,
    Approximate,
    Correction,
    Figures,
    Match,
    Protocol,
    Samples,
    ScoreSettings,
)

if TYPE_CHECKING:
    import pandas as pd

Paths: TypeAlias = str | Path | Sequence[str | Path]
Source: TypeAlias = "Paths | pl.DataFrame | pl.LazyFrame | pd.DataFrame"
"""What a table may be given as."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A scored set of answers.

    Attributes
    ----------
    cells
        One row a model x benchmark x condition x effort, with counts, tests, verdict and error measures.
    pairs
        One row an answer: what was read, what it was compared with, why it was left out.
    floors
        One row a benchmark.
    joins
        One row a benchmark, model and file: how many answers met their label by molecule id, by structure or by
        both, how often the two disagreed, and how many met nothing.
    notes
        What a reader must know about the input.
    settings
        How it was scored.
    operating_level
        The largest p that the false-discovery correction calls, by family (condition and effort).
    inputs
        BLAKE2b digest of every file that was read.
    rows_left_out
        Rows of the input tables that could not be used at all, by reason.
    tables
        Of statistics of whole runs and of tasks, by the name of their file.
    """

    cells: pl.DataFrame
    pairs: pl.DataFrame
    floors: pl.DataFrame
    notes: tuple[str, ...]
    settings: ScoreSettings
    operating_level: Mapping[str, float]
    joins: pl.DataFrame = field(default_factory=pl.DataFrame)
    inputs: Mapping[str, str] = field(default_factory=dict)
    rows_left_out: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        scored: Scored | None,
        settings: ScoreSettings,
        *,
        before: Sequence[str] = (),
        after: Sequence[str] = (),
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> Scores:
        """The scores of a run, with notes of what came before and after; ``scored`` is None without benchmarks."""
        return cls(
            cells=pl.DataFrame() if scored is None else scored.cells,
            pairs=pl.DataFrame() if scored is None else scored.pairs,
            floors=pl.DataFrame() if scored is None else scored.floors,
            notes=(*before, *(() if scored is None else scored.notes), *after),
            settings=settings,
            operating_level={} if scored is None else scored.operating_level,
            joins=pl.DataFrame() if scored is None else scored.joins,
            tables=_together({} if scored is None else scored.tables, tables or {}),
        )

    def write(self, folder: str | Path) -> None:
        """Write ``cells.csv``, ``cells.parquet``, ``pairs.parquet``, ``floors.csv``, ``joins.csv``, ``run.json``."""
        from .report.files import write_scores

        write_scores(self, Path(folder))

    def _repr_html_(self) -> str:
        from .report.notebook import map_html

        return map_html(self.cells)


def score(
    answers: Source,
    labels: Source,
    *,
    protocol: Protocol = "recall",
    figures: Figures = "stripped",
    samples: Samples | None = None,
    answer_figures: AnswerFigures = "padded",
    match: Match = "nested",
    correction: Correction = "rung",
    approximate: Approximate = "count",
    decimal_comma: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    repeats: int = 10_000,
    resamples: int = 2_000,
    source_units: Mapping[str, str] | None = None,
    several_values: Collection[str] = (),
) -> Scores:
    """Score answers against published labels: did the model predict, or recite?

    Parameters
    ----------
    answers
        A polars or pandas frame with ``model``, ``molecule`` or ``smiles``, and ``answer`` (text) or ``prediction``
        (number), optionally ``benchmark, sample, condition, effort, reasoning_tokens``; or the path of such a table,
        of an lm-evaluation-harness sample file, of an Inspect log, of results of promptfoo or of a batch's output;
        or a list of paths.
    labels
        A frame or path with ``label`` and ``molecule`` or ``smiles``, optionally ``benchmark, kind, unit,
        uncertainty``.
    protocol
        ``recall``, or ``blinding`` for the counts of the earlier study.
    figures
        Whether a label's trailing zeros count as figures: ``stripped`` (never) or ``written`` (after a point).
    samples
        Which of several answers to a molecule count: the ``first`` that was parsed (default of ``recall``) or all,
        as a ``pool`` (of ``blinding``).
    answer_figures
        Answers with fewer than three figures are ``padded`` with zeros, or left out (``required``).
    match
        Compare values rounded to 1, 2 and 3 figures each (``nested``), or the ``prefix`` of the three figures.
    correction
        Benjamini-Hochberg over both rungs of all cells (``rung``), or over cells (``cell``).
    approximate
        Whether "about 3.14", "~ -4.1" and "3.18 ± 0.05" ``count`` (flagged ``approximate``) or are left out as
        uncertain (``leave-out``).
    decimal_comma
        Whether the replies write decimal commas: "3,18" is then 3.18. Otherwise it is ambiguous and left out.
    alpha
        False discovery rate.
    seed
        Of all resampling: the same seed gives the same bits on any number of threads.
    repeats, resamples
        Random halves of the mode floor; bootstrap resamples of the error measures.
    source_units
        Benchmark to the unit that its labels were converted from, such as ``{"ld50": "mg/kg"}``.
    several_values
        Benchmarks that publish several values of a molecule: an answer may agree with any of them.

    Returns
    -------
    Scores

    Raises
    ------
    TableError, InputError, SettingsError
        The message names the file, column or row, what was found and what is allowed.

    Examples
    --------
    >>> import polars as pl, molaudit
    >>> labels = pl.DataFrame({"molecule": ["a", "b"], "label": ["-3.18", "1.25"]})
    >>> answers = pl.DataFrame({"model": "m", "molecule": ["a", "b"], "answer": ["-3.18", "2.5"]})
    >>> molaudit.score(answers, labels).cells.select("n_usable", "m1", "m3", "verdict").rows()
    [(2, 1, 1, 'untestable')]
    """
    chosen = ScoreSettings(
        protocol=protocol,
        figures=figures,
        samples=samples,
        answer_figures=answer_figures,
        match=match,
        correction=correction,
        approximate=approximate,
        decimal_comma=decimal_comma,
        alpha=alpha,
        seed=seed,
        repeats=repeats,
        resamples=resamples,
        source_units=source_units or {},
        several_values=tuple(several_values) if not isinstance(several_values, str) else several_values,
    )
    return score_with(answers, labels, chosen)


def score_with(answers: Source, labels: Source, chosen: ScoreSettings) -> Scores:
    """`score`, with its settings as one record.

    Raises
    ------
    TableError, InputError
        As of `score`.
    """
    comma = chosen.decimal_comma
    if _is_path(answers):
        read_answers = imports.load_answers(answers, decimal_comma=comma)
    else:
        read_answers = imports.answers_from_frame(answers, decimal_comma=comma)
    if _is_path(labels):
        read_labels = imports.load_labels(labels, decimal_comma=comma)
    else:
        read_labels = imports.labels_from_frame(labels, decimal_comma=comma)
    compiling.prepare()
    scored = score_frames(read_answers.frame, read_labels.frame, chosen)
    return Scores(
        cells=scored.cells,
        pairs=scored.pairs,
        floors=scored.floors,
        notes=(*read_answers.notes, *read_labels.notes, *scored.notes),
        settings=chosen,
        operating_level=scored.operating_level,
        joins=scored.joins,
        tables=scored.tables,
        rows_left_out=_added(read_answers.left_out, read_labels.left_out),
        inputs={path: imports.digest(path) for path in (*read_answers.files, *read_labels.files)},
    )


def _together(
    of_statistics: Mapping[str, pl.DataFrame], of_tasks: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Tables of both kinds; one of each that share a name would be one file."""
    for name in of_statistics:
        if name in of_tasks:
            raise SettingsError(f"{name}.csv: is a table of a task and of a statistic; rename one of the two")
    return {**of_statistics, **of_tasks}


def _is_path(source: Source) -> TypeGuard[Paths]:
    if isinstance(source, str | Path):
        return True
    return isinstance(source, list | tuple) and all(isinstance(item, str | Path) for item in source)


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {reason: one.get(reason, 0) + other.get(reason, 0) for reason in {**one, **other}}
