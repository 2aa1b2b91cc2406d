"""The shipped model table: what is known of a model, and how its effort levels are written on a route.

`lookup` gives the entry of a model at an endpoint. Levels are labels bound to JSON; `Entry.effort` resolves a label,
"minimum" and "standard" included, and refuses every other word: nothing is mapped silently.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from molaudit.engine.errors import SettingsError
from molaudit.engine.seams.nearest import did_you_mean

from .dialects.common import merged
from .dialects.registry import DIALECTS

MINIMUM, STANDARD = "minimum", "standard"
AS_SERVED = "as served"
"""The effort of a model without known levels: nothing is sent, and the server decides."""
_FACTS = ("size", "released", "knowledge_cutoff", "source")
_SUFFIX = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest|preview|it|instruct)$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, with the day and the place where it was read."""

    input: float
    output: float
    date: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class ThinkingBudget:
    """Labels that are numbers of tokens, and the fragment they stand in."""

    least: int
    most: int
    fragment: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Effort:
    """One level, resolved: the label asked for, the level behind it, and its JSON."""

    label: str
    level: str
    fragment: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a model on one route. None is unknown."""

    id: str
    name: str
    route: str
    limit_field: str
    provider: str | None = None
    family: str | None = None
    reasons: bool | None = None
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budget: ThinkingBudget | None = None
    minimum: str | None = None
    standard: str | None = None
    standard_from: str | None = None
    refuses: frozenset[str] = frozenset()
    accepts_at: frozenset[str] = frozenset()
    size: str | None = None
    released: str | None = None
    knowledge_cutoff: str | None = None
    price: Price | None = None
    source: str | None = None

    def with_levels(self, levels: Mapping[str, Mapping[str, Any]]) -> Entry:
        """The entry with levels of the user's own, which win over the table's."""
        return replace(self, levels={**self.levels, **levels})

    def effort(self, label: str) -> Effort:
        """The level of that label.

        A model without known levels (every local one, say) has one, `AS_SERVED`, which is also its minimum: the label
        returned says so, and nothing is sent.

        Raises
        ------
        SettingsError
            If the model has no such level; the message lists those it has.
        """
        if label in self.levels:
            return Effort(label, label, self.levels[label])
        level = {MINIMUM: self.minimum, STANDARD: self.standard}.get(label) or label
        if level in self.levels:
            return Effort(label, level, self.levels[level])
        budget = self.budget
        if budget and level.isascii() and level.isdigit() and len(level) < 10:
            tokens = int(level)
            if budget.least <= tokens <= budget.most:
                return Effort(label, level, _filled(budget.fragment, level))
        if label in (MINIMUM, AS_SERVED) and not self._has_levels:
            return Effort(AS_SERVED, AS_SERVED, {})
        raise SettingsError(f"model {self.name!r} has no effort {label!r}; {self._allowed(label)}")

    @property
    def _has_levels(self) -> bool:
        """Whether the table knows any; the user's own bind only the labels that they name."""
        return self.minimum is not None or self.standard is not None or self.budget is not None

    def accepts(self, parameter: str, effort: Effort) -> bool:
        """Whether the parameter may be sent at that level, as far as the table knows."""
        return parameter not in self.refuses or effort.level in self.accepts_at

    def _allowed(self, label: str) -> str:
        names = [name for name, level in ((MINIMUM, self.minimum), (STANDARD, self.standard)) if level]
        names += list(self.levels)
        if self.budget:
            names.append(f"a number of tokens from {self.budget.least} to {self.budget.most}")
        if not self._has_levels:
            known = ", ".join([MINIMUM, *names])
            return (
                f"the table knows none for it here, so allowed: {known} ({MINIMUM} sends nothing and is shown as "
                f"{AS_SERVED!r}); or give its JSON: efforts.{label} = {{ ... }}"
            )
        near = did_you_mean(label, names)
        return f"allowed: {', '.join(names)}{near}, or give its JSON: efforts.{label} = {{ ... }}"


def lookup(model: str, dialect: str, base_url: str) -> Entry:
    """What the table knows of a model at an endpoint; a bare entry if nothing.

    Vendor prefixes ("openai/"), variants (":free", "@2"), dots for dashes, and a date or "-latest" at the end are
    understood; anything else is another model.
    """
    table = _table()
    route = _route(dialect, base_url)
    known = table.models.get(_plain(model), {})
    family = table.family(known.get("id", model))
    entry = Entry(model, known.get("name", model), route, _limit_field(family, dialect, route, base_url))
    facts: dict[str, Any] = {key: known.get(key) for key in _FACTS}
    price = known.get("price") or family.get("price")
    if price:
        facts["price"] = Price(**price)
    return replace(entry, **facts, **_controls(family, route, table.controls))


def models() -> list[str]:
    """The display names of all models in the table."""
    return [one["name"] for one in _read()["model"]]


def model_ids() -> list[str]:
    """The ids of all models in the table."""
    return [one["id"] for one in _read()["model"]]


def family_members() -> list[str]:
    """The names and patterns by which families know models, priced or not."""
    return [name for one in _read()["family"] for name in one["match"]]


def route_hosts() -> list[str]:
    """The hosts on which models are controlled in ways of the host's own."""
    return list(_read()["host"])


@dataclass(frozen=True, slots=True)
class _Table:
    models: Mapping[str, Mapping[str, Any]]
    families: Mapping[str, Mapping[str, Any]]
    controls: Mapping[str, Mapping[str, Any]]

    def family(self, model: str) -> Mapping[str, Any]:
        name = _plain(model)
        while name not in self.families:
            for pattern, family in self.families.items():
                if "*" in pattern and fnmatchcase(name, pattern):
                    return family
            shorter = _SUFFIX.sub("", name)
            if shorter == name:
                return {}
            name = shorter
        return self.families[name]


@cache
def _read() -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("models.toml").read_text("utf-8"))


@cache
def _table() -> _Table:
    data = _read()
    by_name = {
        _plain(name): one
        for one in data["model"]
        for name in (one["id"], one["name"], *one.get("aliases", ()))
    }
    families = {_plain(name): one for one in data["family"] for name in one["match"]}
    return _Table(by_name, families, data["control"])


def _plain(model: str) -> str:
    name = model.lower().rsplit("/", 1)[-1].split(":", 1)[0].split("@", 1)[0]
    return name.replace(".", "-").replace(" ", "-")


def _limit_field(family: Mapping[str, Any], dialect: str, route: str, base_url: str) -> str:
    default = DIALECTS[dialect].limit_fields[0]
    if dialect != "openai-chat" or route == "openrouter":
        return default
    host = urlsplit(base_url).hostname or ""
    by_host = None if family else _read()["limit_field"].get(host)
    return str(family.get("limit_field", {}).get(dialect) or by_host or default)


def _route(dialect: str, base_url: str) -> str:
    host = urlsplit(base_url).hostname or ""
    for suffix, route in _read()["host"].items():
        if dialect == "openai-chat" and (host == suffix or host.endswith("." + suffix)):
            return str(route)
    return dialect


def _controls(
    family: Mapping[str, Any], route: str, controls: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The part of an entry that its family and the route decide."""
    if not family:
        return {}
    facts: dict[str, Any] = {
        "provider": family["provider"],
        "family": family["name"],
        "reasons": family.get("reasons", True),
        "refuses": frozenset(family.get("refuses", ())),
        "accepts_at": frozenset(family.get("accepts_at", ())),
    }
    if not facts["reasons"]:
        return facts | {"levels": {"none": {}}, "minimum": "none", "standard": "none"}
    template = controls[family["control"]].get(route) if "control" in family else None
    own = family.get("fragment", {})
    levels = {}
    for level in family.get("levels", ()):
        if level in own:
            if route in own[level]:
                levels[level] = own[level][route]
        elif template is not None:
            levels[level] = _filled(template, level)
    budget = family.get("budget")
    tokens = controls[budget["control"]].get(route) if budget else None
    if budget and tokens is not None:
        facts["budget"] = ThinkingBudget(budget["least"], budget["most"], tokens)
    facts["levels"] = levels
    for name in (MINIMUM, STANDARD):
        value = family[name]
        facts[name] = value.get(route) if isinstance(value, dict) else value
        if facts[name] is None or not (levels or "budget" in facts):
            # The family is not documented on this route, so none of its levels is offered there.
            return facts | {"levels": {}, "budget": None, MINIMUM: None, STANDARD: None}
    return facts | {"standard_from": family["standard_from"]}


def _filled(template: Mapping[str, Any], level: str) -> dict[str, Any]:
    """The template with "$" replaced by the level and "$int" by its number."""
    values = {"$": level, "$int": int(level) if level.isdecimal() else None}
    return merged(
        {
            key: _filled(value, level)
            if isinstance(value, Mapping)
            else values.get(value, value)
            if isinstance(value, str)
            else value
            for key, value in template.items()
        }
    )
