"""Settings joined with the model table: each model at each effort, checked before a call is made.

What a provider would answer with 400, or what would be a silent mistake, is refused here with a message that names
the model: an unknown level, a parameter that the model refuses, two limits of the output, a budget without a price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import SettingsError
from ..models import table
from ..models.dialects.common import Request, merged
from ..models.dialects.registry import Dialect, dialect
from ..models.records import Endpoint, Messages
from ..models.table import Effort, Entry, Price
from ..models.transport_proxies import is_loopback
from ..settings.loading import EndpointSettings, ModelSettings, Settings
from .calls import canonical

# Every name under which some API limits the output, at the place where its dialect keeps it.
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class Asked:
    """One model at one effort: a row of the plan, without molecules."""

    model: ModelSettings
    endpoint: Endpoint
    entry: Entry
    effort: Effort
    max_output_tokens: int
    timeout_s: float

    @property
    def price(self) -> Price | None:
        """What a million tokens cost, from the settings or the table; None is unknown."""
        return self.entry.price

    @property
    def lane(self) -> tuple[str, str]:
        """What tells one row from another: the model's name and the effort's label."""
        return self.model.name, self.effort.label

    def request(self, messages: Messages) -> Request:
        """The request for a question."""
        return Request(
            model=self.model.id,
            messages=messages,
            max_output_tokens=self.max_output_tokens,
            limit_field=self.entry.limit_field,
            fragment=self.effort.fragment,
            extra_body=self.model.extra_body,
            temperature=self.model.temperature,
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whom an arm or a task asks: models by name, at efforts by label (None: each model's own steps)."""

    name: str
    models: tuple[str, ...] | None
    efforts: tuple[str, ...] | None


def resolve(settings: Settings, wanted: Sequence[Wanted]) -> dict[str, tuple[Asked, ...]]:
    """The models of each of ``wanted`` at its efforts, in the order of the settings, by its name.

    Raises
    ------
    SettingsError
        With a line for each model and effort that cannot be asked as the settings say.
    """
    faults: list[str] = []
    entries: dict[str, Entry] = {}
    for model in settings.models:
        entry = entries[model.name] = _entry(model, settings.endpoint(model.endpoint))
        if settings.run.budget_usd is not None and entry.price is None:
            faults.append(
                f"model {model.name!r}: its price is unknown, so budget_usd cannot be kept. Give it in its "
                "[[model]]: price = { input = ..., output = ... } in US dollars per million tokens (0 if it is free)"
            )
    asked = {one.name: tuple(_asked_by(one, settings, entries, faults)) for one in wanted}
    if faults:
        raise SettingsError("\n".join(dict.fromkeys(faults)))
    return asked


def _asked_by(
    wanted: Wanted, settings: Settings, entries: Mapping[str, Entry], faults: list[str]
) -> Iterator[Asked]:
    for model in settings.models:
        if wanted.models is not None and model.name not in wanted.models:
            continue
        entry, endpoint = entries[model.name], settings.endpoint(model.endpoint)
        labels = tuple(entry.levels) if wanted.efforts is None else wanted.efforts
        if not labels:
            faults.append(
                f'{wanted.name!r}: efforts = "all", but no effort of model {model.name!r} is known; give its '
                "[[model]] efforts = { NAME = { ... } }"
            )
        served: set[str] = set()  # several efforts may be one and the same: as the server has it
        for label in labels:
            try:
                one = _asked(settings, model, endpoint, entry, label)
                _check(one, dialect(endpoint.dialect))
                if one.effort.label not in served:
                    served.add(one.effort.label)
                    yield one
            except SettingsError as error:
                faults.append(str(error))


def _entry(model: ModelSettings, endpoint: EndpointSettings) -> Entry:
    entry = table.lookup(model.like or model.id, endpoint.dialect, endpoint.base_url)
    entry = replace(entry, name=model.name).with_levels(model.efforts)
    if model.output_limit_field is not None:
        entry = replace(entry, limit_field=model.output_limit_field)
    if model.price is not None:
        entry = replace(entry, price=Price(model.price.input, model.price.output, source="audit.toml"))
    if entry.price is None and _is_own_machine(endpoint):
        entry = replace(entry, price=Price(0.0, 0.0, source="an endpoint on this machine"))
    return entry


def _is_own_machine(endpoint: EndpointSettings) -> bool:
    """Whether nobody is paid there. A key says that the server passes calls on to somebody who may be."""
    return is_loopback(endpoint.base_url) and endpoint.api_key_env is None


def _asked(
    settings: Settings, model: ModelSettings, endpoint: EndpointSettings, entry: Entry, label: str
) -> Asked:
    return Asked(
        model,
        endpoint.record(),
        entry,
        entry.effort(label),
        model.max_output_tokens or settings.run.max_output_tokens,
        endpoint.timeout_s(label),
    )


def _check(asked: Asked, wire: Dialect) -> None:
    name, effort = asked.model.name, asked.effort
    sent = merged(effort.fragment, asked.model.extra_body)
    try:
        canonical(sent)
    except SettingsError as error:
        raise SettingsError(f"model {name!r}, efforts.{effort.label} or extra_body: {error}") from error
    for parameter in _parameters(asked.model.temperature, asked.model.extra_body):
        if not asked.entry.accepts(parameter, effort):
            raise SettingsError(
                f"model {name!r} refuses {parameter!r} at effort {effort.label!r}; leave it out (nothing is dropped "
                "silently)"
            )
    if asked.model.temperature is not None and "temperature" in sent:
        raise SettingsError(
            f"model {name!r}: temperature and extra_body.temperature are both given; give one"
        )
    place: Mapping[str, Any] = sent.get(wire.limit_in, {}) if wire.limit_in else sent
    for limit in _LIMITS:
        if isinstance(place, Mapping) and limit in place:
            raise SettingsError(
                f"model {name!r}: the body would hold {limit!r} beside {asked.entry.limit_field!r}, which is sent "
                f"for max_output_tokens = {asked.max_output_tokens}; set max_output_tokens (and output_limit_field, "
                "if the server wants another name) and leave the other out"
            )
    tokens = _thinking_budget(sent)
    if tokens is not None and tokens >= asked.max_output_tokens:
        raise SettingsError(
            f"model {name!r}: effort {effort.label!r} allows {tokens} tokens of reasoning, so max_output_tokens = "
            f"{asked.max_output_tokens} leaves none for the answer; raise it above {tokens}"
        )


def _parameters(temperature: float | None, extra_body: Mapping[str, Any]) -> Iterator[str]:
    if temperature is not None:
        yield "temperature"
    yield from extra_body


def _thinking_budget(body: Mapping[str, Any]) -> int | None:
    """The number of reasoning tokens that a body allows, in the spelling of any dialect."""
    for path in (
        ("thinking", "budget_tokens"),
        ("reasoning", "max_tokens"),
        ("generationConfig", "thinkingConfig", "thinkingBudget"),
    ):
        value: Any = body
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
