"""The public functions: tables in, tables out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.storage import imports

from .studies.retrieval import score_frames
from .studies.settings import ScoreSettings


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
    notes
        What a reader must know about the input.
    settings
        How it was scored.
    operating_level
        The largest p that the false-discovery correction calls in this run.
    inputs
        BLAKE2b digest of every file that was read.
    rows_left_out
        Rows of the input tables that could not be used at all, by reason.
    """

    cells: pl.DataFrame
    pairs: pl.DataFrame
    floors: pl.DataFrame
    notes: tuple[str, ...]
    settings: ScoreSettings
    operating_level: float
    inputs: Mapping[str, str] = field(default_factory=dict)
    rows_left_out: Mapping[str, int] = field(default_factory=dict)

    def write(self, folder: str | Path) -> None:
        """Write ``cells.csv``, ``cells.parquet``, ``pairs.parquet``, ``floors.csv`` and ``run.json``."""
        from .output import write_scores

        write_scores(self, Path(folder))

    def _repr_html_(self) -> str:
        from .terminal import map_html

        return map_html(self.cells)


def score(answers: Any, labels: Any, **settings: Any) -> Scores:
    """Score answers against published labels: did the model predict, or recite?

    Parameters
    ----------
    answers
        A polars or pandas frame with ``model, molecule`` and ``answer`` (text) or ``prediction`` (number),
        optionally ``benchmark, sample, condition, effort, reasoning_tokens``; or the path of such a table, of
        an lm-evaluation-harness sample file or of an Inspect log; or a list of paths.
    labels
        A frame or path with ``molecule, label``, optionally ``benchmark, smiles, kind, unit, uncertainty``.
    **settings
        Fields of `molaudit.engine.studies.settings.ScoreSettings`: ``protocol``, ``figures``, ``samples``,
        ``seed``, ``alpha``, ...

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
    >>> answers = pl.DataFrame({"model": "m", "molecule": ["a", "b"], "answer": ["-3.18", "about 2.5"]})
    >>> molaudit.score(answers, labels).cells.select("n_usable", "m1", "m3", "verdict").rows()
    [(2, 1, 1, 'untestable')]
    """
    chosen = ScoreSettings(**_known(settings))
    read_answers = imports.load_answers(answers) if _is_path(answers) else imports.answers_from_frame(answers)
    read_labels = imports.load_labels(labels) if _is_path(labels) else imports.labels_from_frame(labels)
    scored = score_frames(read_answers.frame, read_labels.frame, chosen)
    return Scores(
        cells=scored.cells,
        pairs=scored.pairs,
        floors=scored.floors,
        notes=(*read_answers.notes, *read_labels.notes, *scored.notes),
        settings=chosen,
        operating_level=scored.operating_level,
        rows_left_out=_added(read_answers.left_out, read_labels.left_out),
        inputs={path: imports.digest(path) for path in (*read_answers.files, *read_labels.files)},
    )


def _known(settings: Mapping[str, Any]) -> dict[str, Any]:
    from .errors import SettingsError

    allowed = set(ScoreSettings.__dataclass_fields__)
    unknown = sorted(set(settings) - allowed)
    if unknown:
        raise SettingsError(
            f"score: found {', '.join(unknown)}; allowed settings: {', '.join(sorted(allowed))}"
        )
    return dict(settings)


def _is_path(source: Any) -> bool:
    if isinstance(source, str | Path):
        return True
    return isinstance(source, list | tuple) and all(isinstance(item, str | Path) for item in source)


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {reason: one.get(reason, 0) + other.get(reason, 0) for reason in {**one, **other}}
