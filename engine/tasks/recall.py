"""The retrieval audit: was the published value of a molecule's property predicted, or recited?

Its sections in audit.toml are ``[[benchmark]]`` and ``[[arm]]``: an arm asks models, at efforts and under a
condition, about the molecules of benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from pydantic import ValidationError

from molaudit.storage.tables import imports
from molaudit.storage.tables import reading as tables

from ..benchmarks import BENCHMARKS
from ..conditions import CONDITIONS, Condition, Item, Prompts, Subject
from ..errors import SettingsError
from ..models.records import Messages
from ..plan.lanes import Asked
from ..plan.plans import Block
from ..plan.samples import sample
from ..seams.nearest import did_you_mean
from ..settings.faults import explain_options
from ..settings.loading import Arm, ArmSettings, BenchmarkSettings, Settings
from ._task import Opened, Opening, Task

if TYPE_CHECKING:
    from ..studies.retrieval import Scored
    from ..studies.settings import ScoreSettings

# What scores is imported where it is used: a plan, and the simulated server, need none of it.


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A benchmark of the audit: the words of its question, its labels, and the molecules that can be asked about."""

    settings: BenchmarkSettings
    property: str
    unit: str
    labels: pl.DataFrame
    molecules: pl.DataFrame


class Recall:
    """The retrieval audit of one audit.toml, with its labels.

    Raises
    ------
    SettingsError, InputError, TableError
        The message names the file, the key and what is allowed.
    """

    name = "recall"

    def __init__(self, settings: Settings, path: Path) -> None:
        self._settings, self._path = settings, path
        self._notes: list[str] = []
        self._benchmarks = {one.name: self._load(one) for one in settings.benchmarks}
        self.labels = pl.concat(one.labels for one in self._benchmarks.values())
        self._prepared = tuple(self._prepare(arm) for arm in settings.arms)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the labels."""
        return tuple(self._notes)

    def blocks(self, asked: Mapping[str, tuple[Asked, ...]]) -> tuple[Block, ...]:
        """The questions of every arm about each of its benchmarks, to the models that ``asked`` names for the arm."""
        return tuple(
            Block(
                arm=arm.name,
                benchmark=subject.benchmark,
                condition=arm.condition,
                ids=[item.molecule for item in subject.asked],
                messages=_checked(prompts, subject.asked),
                asked=asked[arm.name],
                samples=arm.samples,
            )
            for arm, subjects in zip(self._settings.arms, self._prepared, strict=True)
            for subject, prompts in subjects
        )

    def read(self, replies: pl.DataFrame) -> pl.DataFrame:
        """Return the replies as `studies.retrieval` takes them, each with the family in which its cell is tested."""
        family = {arm.name: arm.family for arm in self._settings.arms}
        return replies.select(
            *("arm", "model", "benchmark", "molecule", "condition", "effort"),
            family=pl.col("arm").replace_strict(family, return_dtype=pl.String),
            file=pl.lit("the run"),
            row=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
            smiles=pl.lit(None, pl.String),
            answer="answer",
            prediction=pl.lit(None, pl.String),
            sample="repeat",
            reasoning_tokens="reasoning_tokens",
            outcome="outcome",
        )

    def study(self, answers: pl.DataFrame, settings: ScoreSettings) -> Scored:
        """Score what `read` returned."""
        from ..studies.retrieval import score_frames

        return score_frames(answers, self.labels, settings)

    def _load(self, one: BenchmarkSettings) -> _Loaded:
        frame, prop, unit = (
            _embedded(one, self._path)
            if one.use
            else _table(one, self._notes, decimal_comma=self._settings.scoring.decimal_comma)
        )
        asked = frame.filter(~pl.col("conflict")).unique("molecule", keep="first", maintain_order=True)
        return _Loaded(one, prop, unit, frame, asked.select("molecule", "smiles"))

    def _prepare(self, arm: Arm) -> tuple[tuple[Subject, Prompts], ...]:
        condition = self._condition(arm)
        try:
            options = condition.options.model_validate(arm.options)
        except ValidationError as error:
            where = f"arm {arm.name!r}"
            raise explain_options(error, self._path, where, condition.options, ArmSettings) from None
        prompt = arm.prompt or condition.prompts[0]
        if prompt not in condition.prompts:
            raise SettingsError(
                f"{self._path}: arm {arm.name!r}: prompt = {prompt!r}; allowed: {', '.join(condition.prompts)}"
            )
        subjects = []
        for name in arm.benchmarks:
            known = self._benchmarks[name]
            wanted = arm.molecules or known.settings.molecules or self._settings.run.molecules
            chosen = sample(known.molecules, name, self._settings.run.seed, wanted)
            items = tuple(
                Item(name, known.property, known.unit, molecule, smiles)
                for molecule, smiles in chosen.select("molecule", "smiles").iter_rows()
            )
            subject = Subject(name, known.labels, items, options, prompt, self._settings.run.seed)
            subjects.append((subject, condition.prepare(subject)))
        return tuple(subjects)

    def _condition(self, arm: Arm) -> Condition:
        found = CONDITIONS.find(arm.condition)
        if found is None:
            where = f"arm {arm.name!r}: condition" if self._settings.stated_arms else "run.conditions"
            raise SettingsError(
                f"{self._path}: {where}: found {arm.condition!r}; allowed: {', '.join(CONDITIONS.names())}"
                f"{did_you_mean(arm.condition, CONDITIONS.names())}"
            )
        return found


def digest(settings: Settings) -> list[str]:
    """What the labels of an audit are: digests of its files, versions of what is embedded.

    Raises
    ------
    TableError
        A file cannot be read.
    """
    return [_digest(one) for one in settings.benchmarks]


def _digest(one: BenchmarkSettings) -> str:
    if one.file is not None:
        return str(tables.digest(one.file))
    known = BENCHMARKS.find(str(one.use))
    return str(one.use) if known is None else known.digest()  # an unknown one is refused when it is loaded


def _checked(prompts: Prompts, items: tuple[Item, ...]) -> Callable[[int], Messages]:
    return lambda index: prompts.checked(items[index])


def _embedded(one: BenchmarkSettings, path: Path) -> tuple[pl.DataFrame, str, str]:
    known = BENCHMARKS.find(str(one.use))
    if known is None:
        raise SettingsError(
            f"{path}: benchmark {one.name!r}: use: found {one.use!r}; allowed: {', '.join(BENCHMARKS.names())}"
            f"{did_you_mean(str(one.use), BENCHMARKS.names())}"
        )
    unit = one.unit or known.unit
    frame = known.labels().with_columns(
        benchmark=pl.lit(one.name), kind=pl.lit(one.kind or known.kind), unit=pl.lit(unit)
    )
    return imports.labels_from_frame(frame).frame, one.property or known.property, unit


def _table(one: BenchmarkSettings, notes: list[str], *, decimal_comma: bool) -> tuple[pl.DataFrame, str, str]:
    assert one.file is not None
    loaded = imports.load_labels(one.file, decimal_comma=decimal_comma)
    notes += loaded.notes
    frame = loaded.frame
    names = frame["benchmark"].unique(maintain_order=True).to_list()
    if len(names) > 1:
        if one.name not in names:
            raise SettingsError(
                f"benchmark {one.name!r}: {one.file} holds {len(names)} benchmarks; "
                f"name one of them: {', '.join(map(repr, names[:8]))}"
            )
        frame = frame.filter(pl.col("benchmark") == one.name)
    frame = frame.with_columns(
        benchmark=pl.lit(one.name),
        unit=pl.lit(one.unit),
        kind=pl.col("kind") if one.kind is None else pl.lit(one.kind),
    )
    return frame, one.property or "", one.unit or ""


def _no_section(opening: Opening) -> Opened:
    raise SettingsError(
        f"task {opening.name!r}: kind = 'recall' has sections of its own; write [[benchmark]] and [[arm]] instead"
    )


TASK = Task(Recall.name, "was the published value of a molecule predicted, or recited?", _no_section)
