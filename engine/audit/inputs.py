"""From audit.toml to a plan and to what will judge its replies. Nothing is asked here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from ..diagnostic.registry import tasks as pair_kinds
from ..errors import SettingsError
from ..plan.lanes import Wanted, resolve
from ..plan.plans import Block, Plan
from ..seams.nearest import did_you_mean
from ..settings import loading as settings_file
from ..settings.faults import explain_options
from ..settings.loading import Settings, TaskSettings
from ..tasks import TASKS, Opened, Opening
from ..tasks.recall import Recall

DEFAULT_CACHE = "molaudit-cache.duckdb"


@dataclass(frozen=True)
class Audit:
    """Validated settings, the plan that they make, and the tasks that will judge the replies.

    ``recall`` is the retrieval audit, None for a run without benchmarks; ``tasks`` are the others, by name.
    """

    path: Path
    settings: Settings
    plan: Plan
    recall: Recall | None
    tasks: dict[str, Opened]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the inputs."""
        return self.recall.notes if self.recall else ()


def default_out(path: Path, settings: Settings) -> Path:
    """Folder of the results where none is named: after the run, beside the settings."""
    return path.parent / f"molaudit-{_slug(settings.run.name)}"


def default_cache(path: Path) -> Path:
    """The cache where none is named: one for all audits of the folder."""
    return path.parent / DEFAULT_CACHE


def load(path: Path, settings: Settings | None = None) -> Audit:
    """Read every benchmark and task, and the settings if they are not given (a pipe is read once); make the plan.

    Raises
    ------
    SettingsError, InputError, TableError
        The message names the file, the key and what is allowed.
    """
    settings = settings_file.load(path) if settings is None else settings
    tasks = {one.called(): open_task(one, settings, path) for one in settings.tasks}
    recall = Recall(settings, path) if settings.benchmarks else None
    run = settings.run
    asked = resolve(
        settings,
        [
            *(Wanted(arm.name, arm.models, arm.efforts) for arm in settings.arms),
            *(Wanted(_TASK + one.called(), one.models, one.efforts or run.efforts) for one in settings.tasks),
        ],
    )
    blocks: list[Block] = list(recall.blocks(asked)) if recall else []
    for one in settings.tasks:
        blocks += tasks[one.called()].blocks(asked[_TASK + one.called()], one.samples or run.samples)
    return Audit(path, settings, Plan(settings, blocks), recall, tasks)


_TASK = "task "
"""What keeps a task apart from an arm of the same name."""


def open_task(one: TaskSettings, settings: Settings, path: Path) -> Opened:
    """Find the file of a task's kind, and give it its options.

    Raises
    ------
    SettingsError
        There is no such kind, or a key is not one of its own.
    """
    task = TASKS.find(one.kind)
    if task is None:
        raise SettingsError(f"{path}: task {one.called()!r}: kind: found {one.kind!r}; {_kinds(one.kind)}")
    try:
        options = task.options.model_validate(dict(one.model_extra or {}))
    except ValidationError as error:
        raise explain_options(error, path, f"task {one.called()!r}", task.options, TaskSettings) from None
    seed = settings.run.seed if one.seed is None else one.seed
    return task.open(Opening(one.called(), options, path.parent, seed))


def _kinds(kind: str) -> str:
    """Which kinds of task can be asked, for one that cannot be."""
    if kind in pair_kinds():
        return "molaudit pairs builds its pairs; asking a model about them is not built yet"
    names = [name for name in TASKS.names() if name != Recall.name]
    return f"allowed: {', '.join(names) or 'none yet'}{did_you_mean(kind, names)}"


def _slug(name: str) -> str:
    """A file name on any system: letters, digits and dashes; a name without any becomes ``audit``."""
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    return "-".join(part for part in kept.split("-") if part)[:80] or "audit"
