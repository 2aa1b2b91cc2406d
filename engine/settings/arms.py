"""``[[arm]]``: what is asked of whom about which benchmarks, and which cells are tested together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import ConfigDict, Field, field_validator

from .types import Count, Section, Text

ALL: Literal["all"] = "all"
Names = Annotated[tuple[Text, ...], Field(min_length=1)]


class ArmSettings(Section):
    """One arm of the study. Keys that are absent come from ``[run]``; further keys are those of its condition."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: Text
    condition: Text = "zero_shot"
    efforts: Names | Literal["all"] | None = None
    models: Names | None = None
    benchmarks: Names | None = None
    molecules: Count | None = None
    samples: Annotated[int, Field(strict=True, gt=0, le=10_000)] | None = None
    prompt: Text | None = None
    family: Text | None = None
    against: Text | None = None

    @field_validator("efforts", "models", "benchmarks")
    @classmethod
    def _no_repeats(cls, values: tuple[str, ...] | str | None) -> tuple[str, ...] | str | None:
        if isinstance(values, tuple) and len(set(values)) < len(values):
            raise ValueError("names one twice")
        return values


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Run(Protocol):
    @property
    def efforts(self) -> tuple[str, ...]: ...
    @property
    def conditions(self) -> tuple[str, ...]: ...
    @property
    def samples(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm with every key filled in; ``efforts`` None are each model's own steps, ``prompt`` None the default."""

    name: str
    condition: str
    efforts: tuple[str, ...] | None
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    molecules: int | None
    samples: int
    prompt: str | None
    family: str
    against: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def whole_arms(
    stated: Sequence[ArmSettings], run: _Run, models: Sequence[_Named], benchmarks: Sequence[_Named]
) -> tuple[Arm, ...]:
    """Fill in what the arms leave to ``[run]``; without any, one arm for each of its conditions."""
    every_model = tuple(one.name for one in models)
    every_benchmark = tuple(one.name for one in benchmarks)
    if not stated:
        stated = [ArmSettings(name=name, condition=name) for name in run.conditions]
    return tuple(
        Arm(
            name=one.name,
            condition=one.condition,
            efforts=None if one.efforts == ALL else (one.efforts or run.efforts),
            models=one.models or every_model,
            benchmarks=one.benchmarks or every_benchmark,
            molecules=one.molecules,
            samples=one.samples or run.samples,
            prompt=one.prompt,
            family=one.family or one.name,
            against=one.against,
            options=dict(one.model_extra or {}),
        )
        for one in stated
    )


def consistent_arms(
    stated: Sequence[ArmSettings], models: Sequence[_Named], benchmarks: Sequence[_Named]
) -> None:
    """Refuse arms that share a name, or name a model, benchmark or arm that there is not.

    Raises
    ------
    ValueError
        The message names the arm, the key, what was found and what is allowed.
    """
    names = [one.name for one in stated]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two arms have the name {name!r}; give each a name of its own")
    for one in stated:
        _known(one.name, "models", one.models, models)
        _known(one.name, "benchmarks", one.benchmarks, benchmarks)
        others = [name for name in names if name != one.name]
        if one.against is not None and one.against not in others:
            raise ValueError(
                f"arm {one.name!r}: against = {one.against!r}; allowed: {', '.join(others) or 'another arm'}"
            )


def _known(arm: str, key: str, named: Iterable[str] | None, there: Sequence[_Named]) -> None:
    known = [one.name for one in there]
    for name in named or ():
        if name not in known:
            raise ValueError(f"arm {arm!r}: {key} has {name!r}; allowed: {', '.join(known)}")
