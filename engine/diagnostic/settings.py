"""The ``[[task]]`` sections of audit.toml: which tasks, from which files, drawn how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ..errors import SettingsError
from ..settings import faults as settings_errors
from ..settings.loading import read
from ..settings.types import Count, Text
from .registry import tasks

if TYPE_CHECKING:
    from .building import Order
    from .registry import Task

Seed = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Share = Annotated[float, Field(strict=True, gt=0, le=1, allow_inf_nan=False)]

THRESHOLDS = ("tanimoto", "tanimoto_max", "heavy_atoms", "fragment", "consistent", "consistent_points")
"""Thresholds that a section may name; each task has some of them."""


class TaskSettings(BaseModel):
    """One task of the identity-blinded diagnostic."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)

    name: Text = ""
    kind: Text
    file: Path | None = None
    files: Annotated[tuple[Path, ...], Field(min_length=1)] | None = None
    draw: Literal["published", "all"] | Count = "published"
    seed: Seed | None = None
    balance: Literal["none", "label"] = "none"
    pairs_max: Count | None = None
    tanimoto: Share | None = None
    tanimoto_max: Share | None = None
    heavy_atoms: Annotated[int, Field(strict=True, ge=0, le=1000)] | None = None
    fragment: Annotated[int, Field(strict=True, ge=0, le=50)] | None = None
    consistent: Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)] | None = None
    consistent_points: Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)] | None = None
    labels: Text | None = None
    conditions: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    efforts: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    models: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    repeat_c2: Annotated[bool, Field(strict=True)] = True
    evidence: Path | None = None

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in tasks():
            raise ValueError(f"= {value!r}; allowed: {', '.join(tasks())}")
        return value

    @model_validator(mode="after")
    def _one_source(self) -> TaskSettings:
        if (self.file is None) == (self.files is None):
            raise ValueError("must have exactly one of file (a table) and files (a list of tables)")
        if not self.name:
            object.__setattr__(self, "name", self.kind)
        if any(sign in self.name for sign in "/\\\0\n") or self.name in (".", ".."):
            raise ValueError(f"name = {self.name!r}: a name of files, without '/', '\\' and line breaks")
        return self

    @model_validator(mode="after")
    def _fits_the_kind(self) -> TaskSettings:
        task = tasks()[self.kind]
        for name in (*THRESHOLDS, "labels"):
            allowed = (*(each for each in THRESHOLDS if each in task.DEFAULTS), *task.OPTIONS)
            if getattr(self, name) is not None and name not in allowed:
                raise ValueError(
                    f"{name} is no setting of the kind {self.kind!r}; allowed: {', '.join(allowed)}"
                )
        missing = [name for name in task.OPTIONS if getattr(self, name) is None]
        if missing:
            raise ValueError(f"must say its {missing[0]}")
        if self.balance == "label" and not task.BALANCED:
            raise ValueError(f'balance = "label" needs a binary label, which the kind {self.kind!r} has not')
        return self

    def tables(self) -> tuple[Path, ...]:
        """The files, in order."""
        return self.files if self.files is not None else (self.file,) if self.file is not None else ()

    def task(self) -> Task:
        """The module that builds it."""
        return tasks()[self.kind]

    def order(self, seed: int) -> Order:
        """What is asked of that module; ``seed`` is the run's, used where the section has none."""
        from .building import Order  # numpy, which an audit without tasks needs later, if at all

        own = {name: value for name in THRESHOLDS if (value := getattr(self, name)) is not None}
        return Order(
            name=self.name,
            seed=seed if self.seed is None else self.seed,
            draw=self.draw,
            balance=self.balance,
            pairs_max=self.pairs_max,
            thresholds=MappingProxyType({**self.task().DEFAULTS, **own}),
            options=MappingProxyType({name: getattr(self, name) for name in self.task().OPTIONS}),
        )


class _Run(BaseModel):
    """Of the run only its seed counts here; the rest is checked by what makes a run."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    seed: Seed = 1


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)
    run: _Run = Field(default_factory=_Run)
    tasks: tuple[TaskSettings, ...] = Field(default=(), alias="task")


SECTIONS: Mapping[str, type[BaseModel]] = {"run": _Run, "task": TaskSettings}
OTHER_SECTIONS = ("endpoint", "model", "benchmark", "arm", "score")
"""What else an audit.toml may hold; nothing of it is needed for pairs."""


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The tasks of an audit.toml, their files relative to its folder resolved, and the run's seed."""

    seed: int
    tasks: tuple[TaskSettings, ...]


def load(path: str | Path) -> TaskFile:
    """Read the tasks of an audit file.

    Raises
    ------
    SettingsError
        With a line for each fault, which names the file, the key, what was found and what is allowed.
    """
    path = Path(path)
    return parse(read(path), path)


def parse(data: Mapping[str, Any], path: Path) -> TaskFile:
    """Validate the tasks in the contents of an audit file; ``path`` is for messages and for relative files."""
    settings_errors.refuse_keys(data, path)
    known = [*SECTIONS, *OTHER_SECTIONS]
    for section in data:
        if section not in known:
            raise SettingsError(f"{path}: unknown key {section!r}; allowed: {', '.join(sorted(known))}")
    try:
        found = _File.model_validate(data)
    except ValidationError as error:
        raise settings_errors.explain(error, path, data, SECTIONS) from None
    if not found.tasks:
        raise SettingsError(f"{path}: needs at least one [[task]]")
    try:
        distinct_names(found.tasks)
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from None
    return TaskFile(found.run.seed, tuple(resolved(one, path.parent) for one in found.tasks))


def distinct_names(sections: tuple[TaskSettings, ...]) -> None:
    """Refuse two tasks of one name, also where only upper and lower case differ: names are names of files.

    Raises
    ------
    ValueError
        Naming it.
    """
    names = [one.name.casefold() for one in sections]
    for one in sections:
        if names.count(one.name.casefold()) > 1:
            raise ValueError(f"two tasks have the name {one.name!r}; give each a name of its own")


def resolved(section: TaskSettings, folder: Path) -> TaskSettings:
    """Take relative files from the folder of the audit file."""
    update: dict[str, Any] = {
        name: folder / value.expanduser()
        for name in ("file", "evidence")
        if (value := getattr(section, name)) is not None
    }
    if section.files is not None:
        update["files"] = tuple(folder / one.expanduser() for one in section.files)
    return section.model_copy(update=update)
