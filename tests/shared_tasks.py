"""The tables of the tasks as the published data hold them, built once for all tests of a worker."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from shared_data import DATA

from molaudit.engine.diagnostic.building import Order, TaskPairs
from molaudit.engine.diagnostic.registry import tasks
from molaudit.storage.tables import reading as tables

FILES = {
    "bace": ["benchmarks/bace.csv"],
    "hiv": ["tasks/hiv.csv"],
    "retrosynthesis": ["tasks/uspto50k_test.csv"],
    "yield": ["tasks/buchwald_hartwig.csv"],
    "structural-odor": ["tasks/odor_goodscents.csv", "tasks/odor_leffingwell.csv"],
    "chirality-odor": ["tasks/odor_goodscents.csv", "tasks/odor_leffingwell.csv"],
}


@cache
def built(kind: str, draw: str = "published", balance: str = "none", seed: int = 42) -> TaskPairs:
    """Build a task of the published data."""
    task = tasks()[kind]
    frames = [tables.read(DATA / name, task.COLUMNS).frame for name in FILES[kind]]
    order = Order(
        name=kind,
        seed=seed,
        draw=int(draw) if draw.isdigit() else draw,  # type: ignore[arg-type]
        balance=balance,  # type: ignore[arg-type]
        thresholds=MappingProxyType(dict(task.DEFAULTS)),
    )
    return task.build(frames, order)


def funnel(pairs: TaskPairs) -> dict[str, int]:
    """The funnel as step to count."""
    return dict(zip(pairs.funnel["step"].to_list(), pairs.funnel["count"].to_list(), strict=True))
