"""What a task is: questions, how a reply is read, what follows from all of them, how a simulated model answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import polars as pl
from pydantic import BaseModel, ConfigDict

from ..models.records import Messages
from ..plan.lanes import Asked
from ..plan.plans import Block

REPLIES: dict[str, pl.DataType] = {
    "arm": pl.String(),
    "benchmark": pl.String(),
    "model": pl.String(),
    "condition": pl.String(),
    "effort": pl.String(),
    "molecule": pl.String(),
    "repeat": pl.Int64(),
    "outcome": pl.String(),
    "answer": pl.String(),
    "reasoning_tokens": pl.Int64(),
}
"""Columns of what a study is given, one row a call: what it was about, how it ended, and the text of the reply."""


class NoOptions(BaseModel):
    """The options of a task that takes none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a task is opened with: its name in the run, validated options, where relative files lie, the seed."""

    name: str
    options: BaseModel
    folder: Path
    seed: int


@dataclass(frozen=True, slots=True)
class Study:
    """What became of the replies: tables by the name of their file without its ending, and what a reader must know.

    Tables of one name from several tasks become one, so each has a column that tells them apart.
    """

    tables: Mapping[str, pl.DataFrame]
    notes: tuple[str, ...] = ()


class Opened(Protocol):
    """A task with its data."""

    def blocks(self, asked: tuple[Asked, ...], samples: int) -> tuple[Block, ...]:
        """The questions: items, and for each its prompt under every condition of the task."""

    def read(self, replies: pl.DataFrame) -> pl.DataFrame:
        """Read the replies (`REPLIES`); returns them with the task's own columns added, one row a reply."""

    def study(self, answers: pl.DataFrame) -> Study:
        """Compute the task's tables from what `read` returned."""

    def digest(self) -> str:
        """All that the results follow from beside the replies: data, options, versions."""


class Simulation(Protocol):
    """What a simulated model is told beside the conversation."""

    @property
    def model(self) -> str: ...
    @property
    def repeat(self) -> int: ...
    @property
    def effort(self) -> str | None: ...

    def uniform(self, purpose: str) -> float:
        """A draw from [0, 1) that belongs to the model, the seed and the purpose."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of question.

    Attributes
    ----------
    name
        ``kind`` of its ``[[task]]`` in audit.toml.
    meaning
        One line for people.
    open
        From options to the task with its data. SettingsError, InputError or TableError name the file and key.
    simulate
        The reply of a simulated model to a conversation; None where the conversation is not of this task, or the
        model not one of its own.
    options
        The keys of its section beside those that every task has.
    """

    name: str
    meaning: str
    open: Callable[[Opening], Opened]
    simulate: Callable[[Messages, Simulation], str | None] | None = None
    options: type[BaseModel] = NoOptions
