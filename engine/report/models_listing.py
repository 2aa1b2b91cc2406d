"""The model table for people: all models, or one on every route by which it can be asked."""

from __future__ import annotations

import difflib

from rich.console import Console

from ..errors import InputError
from ..models import table
from ..models.dialects.registry import DIALECTS
from ..models.table import Entry
from .terminal import tell

_ELSEWHERE = "https://elsewhere.invalid/v1"
"""An address that the table knows nothing of: what is left is what holds for the dialect."""

_MAKERS_DIALECT = {"openai": "openai-responses", "anthropic": "anthropic", "google": "gemini"}
"""The dialect of a maker's own address, where it is not everybody's."""


def show_all(console: Console) -> None:
    """A line a model, and the names that stand for whole families."""
    for name in table.model_ids():
        entry = _own(name)
        tell(console, _line(entry))
        tell(console, f"    {entry.route}: {_efforts(entry)}")
    tell(console, "Prices: USD per million tokens, in and out. One model: molaudit models NAME.")
    tell(
        console,
        "Any other model can be asked too: without known levels as it is served, its price in [[model]]: "
        "price = { input = ..., output = ... }.",
    )
    more = [
        name for name in table.family_members() if table.lookup(name, "openai-chat", _ELSEWHERE).price is None
    ]
    tell(console, f"Levels known, prices not: {', '.join(more)}.")


def show_one(console: Console, name: str) -> None:
    """What is known of a model, and how its efforts are written on each route.

    Raises
    ------
    InputError
        The table does not know it; the message names the nearest.
    """
    routes = _routes(name)
    entry = routes[0] if routes else _own(name)
    if entry.family is None and entry.released is None:
        near = _near(name.lower())
        hint = f" (near: {', '.join(near)})" if near else ""
        raise InputError(
            f"{name!r} is not in the model table{hint}. It can be asked all the same: as it is served, or with "
            "efforts given as JSON in its [[model]], and its price there if it costs something"
        )
    tell(console, _line(_own(name)), "bold")
    facts = {
        "provider": entry.provider,
        "family": entry.family,
        "size": entry.size,
        "released": entry.released,
        "knowledge cut-off": entry.knowledge_cutoff,
        "source": entry.source,
        "price from": None if entry.price is None else entry.price.source,
        "standard from": entry.standard_from,
    }
    for what, value in facts.items():
        if value is not None:
            tell(console, f"    {what}: {value}")
    for route in routes:
        tell(console, f"  {route.route}: cap in {route.limit_field}; efforts {_efforts(route)}")
    if not routes:
        tell(console, "  efforts: none known; it is asked as it is served")


def _line(entry: Entry) -> str:
    price = "price unknown"
    if entry.price is not None:
        read = f" ({entry.price.date})" if entry.price.date else ""
        price = f"{entry.price.input:g} / {entry.price.output:g} USD{read}"
    return f"{entry.name} ({entry.id}): {price}"


def _efforts(entry: Entry) -> str:
    names = list(entry.levels)
    if entry.budget is not None:
        names.append(f"{entry.budget.least} to {entry.budget.most} tokens")
    if not names:
        return table.AS_SERVED
    return f"{', '.join(names)} (minimum {entry.minimum}, standard {entry.standard})"


def _own(name: str) -> Entry:
    """The model on the first route on which its levels are known."""
    return next(iter(_routes(name)), table.lookup(name, "openai-chat", _ELSEWHERE))


def _routes(name: str) -> list[Entry]:
    """The model on every route on which its levels are known."""
    first = _MAKERS_DIALECT.get(table.lookup(name, "openai-chat", _ELSEWHERE).provider or "", "openai-chat")
    addresses = [(dialect, _ELSEWHERE) for dialect in sorted(DIALECTS, key=lambda one: one != first)]
    addresses += [("openai-chat", f"https://{host}/v1") for host in table.route_hosts()]
    found = [table.lookup(name, dialect, url) for dialect, url in addresses]
    return [entry for entry in found if entry.levels or entry.budget]


def _near(name: str) -> list[str]:
    """Names that hold it, else those spelled like it."""
    known = _known_names()
    return [one for one in known if len(name) > 2 and name in one][:6] or difflib.get_close_matches(
        name, known, 3, 0.6
    )


def _known_names() -> list[str]:
    names = (*table.models(), *table.model_ids(), *table.family_members())
    return list(dict.fromkeys(name.lower() for name in names))
