"""The kinds of task there are: every module of this folder that has a ``KIND``, found by listing the folder.

A task module offers

- ``KIND``: its name in audit.toml,
- ``COLUMNS``: which columns its tables need (`molaudit.storage.tables.reading.Columns`),
- ``DEFAULTS``: its thresholds by name, the published ones,
- ``OPTIONS``: names of further settings that it needs,
- ``BALANCED``: whether its label may be binary, so that a draw can be balanced by it,
- ``build(frames, order)``: a pure function from tables, as text, and an `Order` to `TaskPairs`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    import polars as pl

    from molaudit.storage.tables.reading import Columns

    from .building import Order, TaskPairs


class Task(Protocol):
    """What a task module offers."""

    KIND: str
    COLUMNS: Columns
    DEFAULTS: Mapping[str, float]
    OPTIONS: tuple[str, ...]
    BALANCED: bool

    def build(self, frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
        """Make pairs of tables, each with the line or record number of every row in ``row``."""
        ...


@cache
def tasks() -> Mapping[str, Task]:
    """All tasks by kind, in the order of their names."""
    package = __package__ or ""
    found: dict[str, Task] = {}
    for module in pkgutil.iter_modules(import_module(package).__path__):
        member = import_module(f"{package}.{module.name}")
        if hasattr(member, "KIND"):
            found[member.KIND] = cast(Task, member)
    return MappingProxyType(dict(sorted(found.items())))
