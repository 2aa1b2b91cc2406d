"""Plans of made-up benchmarks: every arm of the settings asks about frames that a test gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from molaudit.engine.conditions import Item
from molaudit.engine.models.records import Messages, question
from molaudit.engine.plan.lanes import Wanted, resolve
from molaudit.engine.plan.plans import Block, Plan
from molaudit.engine.plan.samples import sample
from molaudit.engine.settings.loading import Settings

Prompt = Callable[[Item, str], tuple[str, str]]
"""From an item and its condition to the system and the user text."""


@dataclass(frozen=True, slots=True)
class Made:
    """A made-up benchmark; its frame has the columns ``molecule`` and ``smiles``."""

    property: str
    unit: str
    frame: pl.DataFrame


def make_plan(settings: Settings, benchmarks: Mapping[str, Made], prompt: Prompt) -> Plan:
    """The plan of the settings over made-up benchmarks."""
    run = settings.run
    asked = resolve(settings, [Wanted(arm.name, arm.models, arm.efforts) for arm in settings.arms])
    blocks = []
    for arm in settings.arms:
        for name in arm.benchmarks:
            own = next(one for one in settings.benchmarks if one.name == name)
            wanted = arm.molecules or own.molecules or run.molecules
            items = [
                Item(name, benchmarks[name].property, benchmarks[name].unit, molecule, smiles)
                for molecule, smiles in sample(benchmarks[name].frame, name, run.seed, wanted).iter_rows()
            ]
            ids = [item.molecule for item in items]
            messages = _asking(items, arm.condition, prompt)
            blocks.append(Block(arm.name, name, arm.condition, ids, messages, asked[arm.name], arm.samples))
    return Plan(settings, blocks)


def _asking(items: list[Item], condition: str, prompt: Prompt) -> Callable[[int], Messages]:
    return lambda index: question(*prompt(items[index], condition))
