"""What a condition is: from a benchmark and an arm's options to the texts of each question, checked first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
from pydantic import BaseModel, ConfigDict

from ..models.records import Messages


class NoOptions(BaseModel):
    """The options of a condition that takes none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Item:
    """One molecule to be asked about."""

    benchmark: str
    property: str
    unit: str
    molecule: str
    smiles: str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """All that a condition may look at.

    Attributes
    ----------
    labels
        The benchmark's labels: a frame of `molaudit.storage.tables.imports`.
    asked
        The molecules that this arm asks about, in order.
    options
        What the arm says for the condition, validated by its ``options``.
    prompt
        Version of the question, one of the condition's ``prompts``.
    seed
        Of whatever is drawn.
    """

    benchmark: str
    labels: pl.DataFrame
    asked: tuple[Item, ...]
    options: BaseModel
    prompt: str
    seed: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """The questions of one arm about one benchmark.

    ``messages`` gives the conversation about an item (a ValueError says why it cannot be asked); ``checks`` are run
    on each conversation before it is sent, and raise a ValueError that says what must not stand in it.
    """

    messages: Callable[[Item], Messages]
    checks: tuple[Callable[[Item, Messages], None], ...] = ()

    def checked(self, item: Item) -> Messages:
        """The conversation about an item, when every check has passed."""
        messages = self.messages(item)
        for check in self.checks:
            check(item, messages)
        return messages


@dataclass(frozen=True, slots=True)
class Condition:
    """A way to put the question.

    Attributes
    ----------
    name
        As audit.toml and the tables call it.
    meaning
        One line for people.
    prompts
        Versions of the question, the default first. A version's text never changes: a changed word is another one.
    prepare
        From a subject to its questions.
    options
        What an arm may say for this condition beside the keys that every arm has.
    """

    name: str
    meaning: str
    prompts: tuple[str, ...]
    prepare: Callable[[Subject], Prompts]
    options: type[BaseModel] = NoOptions

    def digest(self, subject: Subject) -> str:
        """What the questions follow from beside the benchmark: the prompt, the options, the seed."""
        return f"{self.name} {subject.prompt} {subject.seed} {subject.options.model_dump_json()}"
