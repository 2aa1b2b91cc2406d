"""From the tasks of an audit.toml to tables: read the files, build each task, put the results together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from molaudit.storage.tables import reading as tables

from ..errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from .building import TaskPairs
    from .settings import TaskSettings


@dataclass(frozen=True, slots=True)
class Made:
    """All tasks together: ``pairs``, a row a sample; ``funnel`` (task, step, count); notes; digests by file."""

    pairs: pl.DataFrame
    funnel: pl.DataFrame
    notes: tuple[str, ...]
    digests: dict[str, str]


def make(
    sections: Sequence[TaskSettings], seed: int, done: Callable[[str, int], object] | None = None
) -> Made:
    """Build the tasks, one after the other; ``done`` hears of each, with its number of samples.

    Raises
    ------
    InputError, TableError
        A file that cannot be read or used; the message names it.
    """
    import polars as pl

    built: list[TaskPairs] = []
    notes: list[str] = []
    digests: dict[str, str] = {}
    for section in sections:
        one, said, read = _built(section, seed)
        built.append(one)
        notes += [*said, *(f"{section.name}: {note}" for note in one.notes)]
        digests |= read
        if done is not None:
            done(section.name, one.pairs.height)
    return Made(
        pl.concat([one.pairs for one in built]),
        pl.concat([one.funnel for one in built]),
        tuple(notes),
        digests,
    )


def _built(section: TaskSettings, seed: int) -> tuple[TaskPairs, list[str], dict[str, str]]:
    task = section.task()
    read = [tables.read(path, task.COLUMNS) for path in section.tables()]
    digests = {table.path: tables.digest(table.path) for table in read}
    # A note on columns that are not needed says nothing here: tables of tasks are full of them.
    notes = [note for table in read for note in table.notes if "ignored column" not in note]
    names = ", ".join(table.path for table in read)
    try:
        return task.build([table.frame for table in read], section.order(seed)), notes, digests
    except InputError as error:
        raise InputError(f"{names}, {error}") from None
