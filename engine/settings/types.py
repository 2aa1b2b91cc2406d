"""The types of settings that several sections share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(strict=True, min_length=1, max_length=400)]
Count = Annotated[int, Field(strict=True, gt=0, lt=2**53)]
Number = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Json = Annotated[dict[str, Any], Field(strict=True)]


class Section(BaseModel):
    """A section of audit.toml: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)
