"""What is wrong with audit.toml, in one line for each fault: file, key, what was found, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ValidationError

from ..errors import SettingsError
from ..seams.nearest import did_you_mean

_KEY = re.compile(r"\b(?:sk|xai|gsk|rk|pk|hf|nvapi)[-_][A-Za-z0-9_-]{8,}|\bAIza[\w-]{16,}", re.ASCII)
_SHOWN = 60

_SHAPES = ("tuple_type", "model_type", "model_attributes_type")
"""A section as a table where there may be several, or the other way round."""

_RULES = {
    "missing": "is missing",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a table { ... }",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "finite_number": "must be finite",
}


def looks_like_key(text: str) -> bool:
    """Whether the text holds something in the form of a provider's secret key."""
    return _KEY.search(text) is not None


def refuse_keys(data: object, path: Path, where: tuple[str | int, ...] = ()) -> None:
    """Refuse settings that hold a key in any value.

    Raises
    ------
    SettingsError
        Naming the place; the value is not repeated.
    """
    if isinstance(data, str) and looks_like_key(data):
        raise SettingsError(
            f"{path}: {place(where)} holds what looks like a secret key. Put the key into an environment variable "
            "and its NAME into the endpoint's api_key_env"
        )
    pairs: Iterable[tuple[str | int, Any]] = (
        data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    )
    for key, value in pairs:
        refuse_keys(key, path, (*where, "..."))
        refuse_keys(value, path, (*where, key))


def place(where: Sequence[str | int]) -> str:
    """A key's place as one would say it: ``endpoint 2: base_url``, counting from 1."""
    words: list[str] = []
    for part in where:
        if isinstance(part, int):
            words[-1:] = [f"{words[-1]} {part + 1}:"] if words else [f"{part + 1}:"]
        elif words and not words[-1].endswith(":"):
            words[-1] += f".{part}"
        else:
            words.append(part)
    return " ".join(words).removesuffix(":")


def explain(
    error: ValidationError,
    path: Path,
    data: Mapping[str, Any],
    sections: Mapping[str, type[BaseModel] | None],
) -> SettingsError:
    """The errors of a validation as one of ours, a line each."""
    lines = []
    for fault in error.errors(include_url=False):
        where = fault["loc"]
        owner = sections.get(str(where[0])) if where else None
        lines.append(f"{path}: {_line(fault, where, data, owner, sections)}")
    return SettingsError("\n".join(lines))


def explain_options(
    error: ValidationError, path: Path, where: str, owner: type[BaseModel], base: type[BaseModel]
) -> SettingsError:
    """The same for the keys that a condition or task adds to those of its section, which ``base`` has."""
    lines = []
    for fault in error.errors(include_url=False):
        place_of = (f"{where}:", *fault["loc"])
        if fault["type"] == "extra_forbidden" and len(place_of) == 2:
            allowed = [*_keys(base, place_of), *_keys(owner, place_of)]
            lines.append(f"{path}: {where}: {_unknown(str(place_of[-1]), allowed)}")
        else:
            lines.append(f"{path}: {_line(fault, place_of, {}, owner, {})}")
    return SettingsError("\n".join(lines))


def _line(
    fault: Mapping[str, Any],
    where: tuple[str | int, ...],
    data: Mapping[str, Any],
    owner: type[BaseModel] | None,
    sections: Mapping[str, type[BaseModel] | None],
) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    shown = place(_named(where, data))
    if kind == "extra_forbidden":
        top = len(where) == 1
        allowed = list(sections) if top or owner is None else list(_keys(owner, where))
        homes = {name: _keys(model, ()) for name, model in sections.items() if model is not None}
        inside = f"{place(_named(where[:-1], data))}: " if where[:-1] else ""
        return inside + _unknown(str(where[-1]), allowed, homes)
    if kind == "missing":
        return f"{shown} is missing"
    if kind == "value_error":
        rule = str(context["error"])
    elif kind == "literal_error":
        rule = f"allowed: {context['expected']}"
        rule += did_you_mean(str(fault["input"]), re.findall(r"'([^']+)'", str(context["expected"])))
    elif kind in {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}:
        sign, limit = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}, next(iter(context.items()))
        rule = f"must be {sign[limit[0]]} {limit[1]}"
    elif len(where) == 1 and kind in _SHAPES:
        return f"{shown} {_RULES[kind]}: write it under {_heading(shown)}"
    else:
        rule = _RULES.get(kind) or str(fault["msg"])
    found = fault["input"]
    if kind == "value_error" or isinstance(found, dict | list):
        return f"{shown} {rule}".strip()
    text = repr(found)
    return f"{shown} = {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}: {rule}"


def _unknown(
    key: str, allowed: list[str], elsewhere: Mapping[str, Iterable[str]] = MappingProxyType({})
) -> str:
    text = f"unknown key {key!r}; allowed: {', '.join(sorted(allowed))}"
    if "key" in key.lower() and "api_key_env" in allowed:
        return f"{text} (did you mean 'api_key_env'?)"
    home = next((name for name, keys in elsewhere.items() if key in keys), None)
    if home is not None and not (home == "arm" and did_you_mean(key, allowed)):
        return f"{text} ({key} belongs into {_heading(home)})"
    return text + did_you_mean(key, allowed)


def _heading(section: str) -> str:
    return "[run]" if section == "run" else f"[[{section}]]"


def _keys(owner: type[BaseModel], where: tuple[str | int, ...]) -> Iterable[str]:
    """The keys allowed at a place inside a section; a nested table is the model of its field."""
    model = owner
    for part in where[1:-1]:
        field = model.model_fields.get(str(part)) if isinstance(part, str) else None
        for kind in getattr(field.annotation, "__args__", (field.annotation,)) if field else ():
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                model = kind
    return [field.alias or name for name, field in model.model_fields.items()]


def _named(where: tuple[str | int, ...], data: Mapping[str, Any]) -> tuple[str | int, ...]:
    """The place with the name of a list's entry beside its number, where it has one."""
    if len(where) < 2 or not isinstance(where[1], int):
        return where
    entries = data.get(str(where[0]))
    entry = entries[where[1]] if isinstance(entries, list) and where[1] < len(entries) else None
    if not isinstance(entry, dict):
        return where
    name = entry.get("name") or entry.get("id") or entry.get("use") or entry.get("file")
    return (f'{where[0]} "{name}":', *where[2:]) if isinstance(name, str) else where
