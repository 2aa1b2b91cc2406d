"""The section ``[score]`` of ``audit.toml.md``, from `ScoreSettings`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Literal, get_args, get_origin

from ..commands.score_options import setting_of
from ..errors import InputError
from ..studies.settings import ScoreSettings
from ._markdown import table

HEADING = "## `[score]`\n"

_INTRODUCTION = """
How the answers are scored: the options of `molaudit score`, with underscores. This section is written by
`python -m molaudit.engine.reference` from `ScoreSettings`.

"""

_SAID = {"samples": "the protocol's", "seed": "that of `[run]`"}
"""Defaults that other settings give."""


def with_score_keys(page: str) -> str:
    """The page with its last section generated.

    Raises
    ------
    InputError
        The page does not end with the section of ``[score]``.
    """
    before, heading, after = page.partition(HEADING)
    if not heading or "\n## " in after:
        raise InputError(f"audit.toml.md: the last section must be {HEADING.strip()}, which is generated")
    heads = ("key", "kind", "default", "changes calls", "meaning")
    return before + heading + _INTRODUCTION + table(heads, (_row(one) for one in fields(ScoreSettings)))


def _row(one: Field[Any]) -> tuple[str, str, str, str, str]:
    kind, about = setting_of(one.name)
    return f"`{one.name}`", _kind(kind), _SAID.get(one.name, _default(one)), "no", about.text


def _kind(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is Mapping:
        return "table of text"
    if get_origin(kind) is Collection:
        return "list of text"
    return {bool: "true or false", int: "whole number", float: "number"}[kind]


def _default(one: Field[Any]) -> str:
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return f"`{json.dumps(default)}`"
