"""From audit.toml to a plan and the labels that will judge it. Nothing is asked here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from molaudit.storage import benchmarks as embedded
from molaudit.storage import imports

from .. import settings as settings_file
from ..errors import SettingsError
from ..nearest import did_you_mean
from ..plan import BenchmarkItems, Item, Plan
from ..prompts_zero_shot import zero_shot
from ..settings import BenchmarkSettings, Settings

CONDITIONS = ("zero_shot",)
"""What the engine can ask: the zero-shot question."""

DEFAULT_CACHE = "molaudit-cache.duckdb"


@dataclass(frozen=True, slots=True)
class Audit:
    """Validated settings, the plan that they make, and the labels of all its benchmarks."""

    path: Path
    settings: Settings
    plan: Plan
    labels: pl.DataFrame
    notes: tuple[str, ...]


def default_out(path: Path, settings: Settings) -> Path:
    """Folder of the results where none is named: after the run, beside the settings."""
    return path.parent / f"molaudit-{_slug(settings.run.name)}"


def default_cache(path: Path) -> Path:
    """The cache where none is named: one for all audits of the folder."""
    return path.parent / DEFAULT_CACHE


def load(path: Path, settings: Settings | None = None) -> Audit:
    """Read every benchmark, and the settings if they are not given (a pipe is read once), and make the plan.

    Raises
    ------
    SettingsError, InputError, TableError
        The message names the file, the key and what is allowed.
    """
    settings = settings_file.load(path) if settings is None else settings
    for condition in settings.run.conditions:
        if condition not in CONDITIONS:
            raise SettingsError(
                f"{path}: run.conditions: found {condition!r}; allowed: {', '.join(CONDITIONS)}"
                f"{did_you_mean(condition, CONDITIONS)}"
            )
    items: dict[str, BenchmarkItems] = {}
    labels: list[pl.DataFrame] = []
    notes: list[str] = []
    for one in settings.benchmarks:
        frame, prop, unit = _embedded(one, path) if one.use else _table(one, notes)
        labels.append(frame)
        asked = frame.filter(~pl.col("conflict")).unique("molecule", keep="first", maintain_order=True)
        items[one.name] = BenchmarkItems(prop, unit, asked.select("molecule", "smiles"))
    return Audit(path, settings, Plan(settings, items, _prompt), pl.concat(labels), tuple(notes))


def _prompt(item: Item) -> tuple[str, str]:
    return zero_shot(item.property, item.unit, item.molecule, item.smiles)


def _embedded(one: BenchmarkSettings, path: Path) -> tuple[pl.DataFrame, str, str]:
    if one.use not in embedded.names():
        raise SettingsError(
            f"{path}: benchmark {one.name!r}: use: found {one.use!r}; allowed: {', '.join(embedded.names())}"
            f"{did_you_mean(one.use or '', embedded.names())}"
        )
    known = embedded.embedded(one.use)
    unit = one.unit or known.unit
    frame = known.frame.with_columns(
        benchmark=pl.lit(one.name), kind=pl.lit(one.kind or known.kind), unit=pl.lit(unit)
    )
    return imports.labels_from_frame(frame).frame, one.property or known.property, unit


def _table(one: BenchmarkSettings, notes: list[str]) -> tuple[pl.DataFrame, str, str]:
    assert one.file is not None
    loaded = imports.load_labels(one.file)
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


def _slug(name: str) -> str:
    """A file name on any system: letters, digits and dashes; a name without any becomes ``audit``."""
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return "-".join(part for part in kept.split("-") if part)[:80] or "audit"
