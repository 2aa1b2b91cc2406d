"""``[[task]]``: a question of another kind, with the keys that every kind has; its own are validated by its file."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from .arms import Names
from .types import Section, Text


class TaskSettings(Section):
    """One task. ``kind`` is a file of the tasks' folder, ``name`` (default: the kind) what the tables call it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Text
    name: Text = ""
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] | None = None
    efforts: Names | None = None
    models: Names | None = None
    samples: Annotated[int, Field(strict=True, gt=0, le=10_000)] | None = None

    def called(self) -> str:
        """Its name in the tables."""
        return self.name or self.kind
