"""The options of a scoring, made from `ScoreSettings`: a setting that is added there is an option here."""

from __future__ import annotations

import argparse
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..studies.settings import MOST_KEPT, Help, ScoreSettings
from .options import fraction, named_value, whole_number

_NUMBERS: dict[str, Callable[[str], Any]] = {"seed": whole_number(0)}
"""Converters of numbers whose range is not that of a count."""


def add_score_options(parser: argparse.ArgumentParser) -> None:
    """Declare one option a setting."""
    for one in fields(ScoreSettings):
        kind, about = setting_of(one.name)
        parser.add_argument(
            f"--{about.option or one.name.replace('_', '-')}", dest=one.name, **_argument(one, kind, about)
        )


def score_settings(args: argparse.Namespace) -> ScoreSettings:
    """The settings that the options say.

    Raises
    ------
    SettingsError
        Settings that do not go together.
    """
    given = {one.name: getattr(args, one.name) for one in fields(ScoreSettings)}
    for name, value in given.items():
        if get_origin(setting_of(name)[0]) is Mapping:
            given[name] = dict(value)
    return ScoreSettings(**given)


def setting_of(name: str) -> tuple[Any, Help]:
    """The type of a setting (None left out of it), and what is said of it."""
    kind, about = get_args(get_type_hints(ScoreSettings, include_extras=True)[name])
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    return kind, about


def _argument(one: Field[Any], kind: Any, about: Help) -> dict[str, Any]:
    text = about.text.replace("%", "%%")
    if get_origin(kind) is Mapping:
        return {"type": named_value, "action": "append", "default": [], "metavar": "NAME=VALUE", "help": text}
    if get_origin(kind) is Collection:
        return {"action": "append", "default": [], "metavar": "NAME", "help": text}
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction, "default": one.default, "help": text}
    shown = {
        "default": one.default,
        "help": text if one.default is None else f"{text}; default: {one.default}",
    }
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind), **shown}
    return {
        "type": _NUMBERS.get(one.name, fraction if kind is float else whole_number(1, MOST_KEPT)),
        **shown,
    }
