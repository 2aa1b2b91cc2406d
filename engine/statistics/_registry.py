"""The statistics, found by listing this folder, and the order in which they are computed and shown."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from ..errors import SettingsError
from ..seams.columns import Column
from ..seams.nearest import did_you_mean
from ..seams.registry import Registry
from ..studies.counting import INDEX
from ..studies.settings import ScoreSettings
from ._statistic import Statistic

STATISTICS: Registry[Statistic] = Registry("molaudit.engine.statistics", "STATISTIC", "statistic")

TAKEN = ("cells", "pairs", "floors", "joins", "attempts")
"""Names of the tables that every scoring or run has."""


def cell_columns(settings: ScoreSettings | None = None) -> tuple[Column, ...]:
    """The columns of ``cells.csv`` in order; without settings those of any."""
    shown = [one for one in _by_place() if one.input != "runs" and (settings is None or one.asked(settings))]
    return (*INDEX, *(column for one in shown for column in one.columns))


def run_tables() -> tuple[str, ...]:
    """Names of the tables that statistics of whole runs give."""
    return tuple(one.name for one in STATISTICS if one.input == "runs")


def ordered(settings: ScoreSettings) -> tuple[Statistic, ...]:
    """The statistics of this folder that the settings ask for, in the order of `in_order`."""
    return tuple(one for one in in_order(_by_place()) if one.asked(settings))


def in_order(every: Sequence[Statistic]) -> tuple[Statistic, ...]:
    """Statistics, each after those whose columns it needs; those of whole runs come last.

    Raises
    ------
    SettingsError
        A statistic needs a column that nothing gives, or that is computed from its own; gives one that another
        gives; or is a table that would take the place of another. The message names the statistics.
    """
    owners = _owners(every)
    graph: TopologicalSorter[str] = TopologicalSorter()
    for one in every:
        for name in one.needs:
            if name not in owners:
                near = did_you_mean(name, owners)
                raise SettingsError(
                    f"statistic {one.name!r}: needs the column {name!r}, which none gives{near}"
                )
        graph.add(one.name, *(owners[name] for name in one.needs if owners[name]))
    try:
        names = list(graph.static_order())
    except CycleError as error:
        circle = ", ".join(repr(name) for name in error.args[1][:-1])
        raise SettingsError(f"statistics that need the columns of each other: {circle}") from None
    return tuple(sorted(every, key=lambda one: (one.input == "runs", names.index(one.name))))


def _by_place() -> list[Statistic]:
    return sorted(STATISTICS, key=lambda one: (one.order, one.name))


def _owners(every: Sequence[Statistic]) -> dict[str, str]:
    """Column to the statistic that gives it; "" for what every cell has."""
    owners = {column.name: "" for column in INDEX} | {"family": ""}
    for one in every:
        if one.input == "runs":
            if one.name in TAKEN:
                raise SettingsError(
                    f"statistic {one.name!r}: a table of that name exists; allowed: another name"
                )
            continue
        for column in (*one.columns, *one.inner):
            if column.name in owners:
                other = owners[column.name] or "the index of the cells"
                raise SettingsError(f"statistic {one.name!r}: column {column.name!r} is given by {other} too")
            owners[column.name] = one.name
    return owners
