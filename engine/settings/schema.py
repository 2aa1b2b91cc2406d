"""The shape of audit.toml: what each section may say, and what must agree between them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from ..errors import SettingsError
from ..models.dialects.registry import DIALECTS
from ..models.records import Endpoint
from ..seams.nearest import did_you_mean
from ..studies.settings import ScoreSettings
from .arms import Arm, ArmSettings, consistent_arms, whole_arms
from .tasks import TaskSettings
from .types import Count, Json, Number, Section, Text
from .urls import normal_base_url

DEFAULT_MAX_OUTPUT_TOKENS = 4096
DEFAULT_ATTEMPT_S = 600.0
DEFAULT_CONNECT_S = 30.0

Dialects = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]

# Headers that carry a key or belong to the transport: they never change what a call means.
_NOT_MEANING = {
    "authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "host", "connection",
    "content-type", "content-length", "content-encoding", "transfer-encoding", "accept-encoding", "user-agent",
}  # fmt: skip


_HEADER_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)


class Run(Section):
    """The run: its name, its sample of molecules, its efforts, and what it may cost in money and time."""

    name: Text = "audit"
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = 1
    molecules: Count | None = None
    efforts: Annotated[tuple[Text, ...], Field(min_length=1)] = ("minimum",)
    conditions: Annotated[tuple[Text, ...], Field(min_length=1)] = ("zero_shot",)
    samples: Annotated[int, Field(strict=True, gt=0, le=10_000)] = 1
    max_output_tokens: Count = DEFAULT_MAX_OUTPUT_TOKENS
    budget_usd: Number | None = None
    deadline_minutes: Number | None = None

    @field_validator("efforts", "conditions")
    @classmethod
    def _no_repeats(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(values)) < len(values):
            raise ValueError("names one twice")
        return values


class PriceSettings(Section):
    """US dollars for a million tokens; 0 for a model that costs nothing."""

    input: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


LIMITS = ("requests_per_minute", "tokens_per_minute", "burst", "in_flight")
"""What endpoints of one pool share."""


class EndpointSettings(Section):
    """An account at an address, and its limits. Endpoints of one ``pool`` share them."""

    name: Text
    dialect: Dialects = "openai-chat"
    base_url: Text
    identity: Text | None = None
    api_key_env: Text | None = None
    api_key_header: Text | None = None
    proxy: Annotated[bool, Field(strict=True)] = True
    insecure: Annotated[bool, Field(strict=True)] = False
    requests_per_minute: Number | None = None
    tokens_per_minute: Number | None = None
    burst: Count | None = None
    in_flight: Count | None = None
    pool: Text | None = None
    timeouts: dict[str, Number] = Field(default_factory=dict)
    headers: dict[str, Annotated[str, Field(strict=True)]] = Field(default_factory=dict)

    @field_validator("api_key_header")
    @classmethod
    def _a_header(cls, value: str | None) -> str | None:
        lowered = None if value is None else value.lower()
        if lowered is not None and not _HEADER_NAME.fullmatch(lowered):
            raise ValueError("must be the name of an HTTP header, such as api-key, and not the key")
        return lowered

    @field_validator("api_key_env")
    @classmethod
    def _a_name(cls, value: str | None) -> str | None:
        if value is not None and not (value.isascii() and value.isidentifier() and len(value) <= 80):
            raise ValueError(
                "must be the NAME of an environment variable, such as OPENAI_API_KEY, and not the key"
            )
        return value

    @field_validator("headers")
    @classmethod
    def _change_the_meaning(cls, headers: dict[str, str]) -> dict[str, str]:
        lowered = {name.lower(): value for name, value in headers.items()}
        for name, value in lowered.items():
            if not _HEADER_NAME.fullmatch(name) or not value.isprintable():
                raise ValueError(f"has {name!r}, whose name or value no HTTP header may have")
            if name in _NOT_MEANING:
                raise ValueError(
                    f"must not set {name!r}: headers here change what a call means, such as anthropic-beta; keys go "
                    "through api_key_env"
                )
        return lowered

    @model_validator(mode="after")
    def _a_rate_with_the_burst(self) -> EndpointSettings:
        if self.burst is not None and self.requests_per_minute is None:
            raise ValueError("burst (requests at once) needs requests_per_minute beside it")
        return self

    @model_validator(mode="after")
    def _normal_url(self) -> EndpointSettings:
        try:
            url = normal_base_url(self.base_url, DIALECTS[self.dialect])
        except ValueError as error:
            raise ValueError(f"base_url {error}") from None
        object.__setattr__(self, "base_url", url)
        return self

    def timeout_s(self, effort: str) -> float:
        """Seconds from connect to last byte for one attempt at that effort."""
        return self.timeouts.get(effort, self.timeouts.get("default", DEFAULT_ATTEMPT_S))

    @property
    def connect_s(self) -> float:
        """Seconds for making a connection."""
        return self.timeouts.get("connect", DEFAULT_CONNECT_S)

    def record(self) -> Endpoint:
        """The endpoint as calls know it."""
        return Endpoint(
            name=self.name,
            dialect=self.dialect,
            base_url=self.base_url,
            identity=self._identity(),
            pool=self.pool or self.name,
            api_key_env=self.api_key_env,
            headers={**DIALECTS[self.dialect].headers, **self.headers},
            api_key_header=self.api_key_header,
            proxy=self.proxy,
        )

    def _identity(self) -> str:
        """What stands for the endpoint in a call's key: a declared one too, with the version of the API behind it."""
        query = self.base_url.partition("?")[2]
        if self.identity is None:
            return self.base_url
        return f"{self.identity}?{query}" if query else self.identity


class ModelSettings(Section):
    """A model to ask. ``id`` goes on the wire, ``name`` into the tables; ``like`` is its entry in the model table."""

    id: Text
    endpoint: Text
    name: Text = ""
    like: Text | None = None
    max_output_tokens: Count | None = None
    output_limit_field: Text | None = None
    temperature: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    extra_body: Json = Field(default_factory=dict)
    efforts: dict[str, Json] = Field(default_factory=dict)
    price: PriceSettings | None = None

    @model_validator(mode="after")
    def _named(self) -> ModelSettings:
        if not self.name:
            object.__setattr__(self, "name", self.id)
        return self


class BenchmarkSettings(Section):
    """Molecules with published values: one of the catalogue (``use``) or a table of the user's own (``file``)."""

    use: Text | None = None
    file: Path | None = None
    name: Text = ""
    property: Text | None = None
    unit: Annotated[str, Field(strict=True)] | None = None
    kind: Literal["measured", "computed"] | None = None
    molecules: Count | None = None

    @model_validator(mode="after")
    def _one_source(self) -> BenchmarkSettings:
        if (self.use is None) == (self.file is None):
            raise ValueError("must have exactly one of use (a name of the catalogue) and file (a table)")
        missing = [key for key in ("property", "unit") if getattr(self, key) is None]
        if self.file is not None and missing:
            raise ValueError(f"has a file, so it must say its {' and '.join(missing)}")
        if not self.name:
            own = self.use or (self.file.name.split(".", 1)[0] if self.file else "")
            object.__setattr__(self, "name", own)
        return self


class Settings(Section):
    """A whole audit.toml."""

    run: Run = Field(default_factory=Run)
    endpoints: tuple[EndpointSettings, ...] = Field(default=(), alias="endpoint")
    models: tuple[ModelSettings, ...] = Field(default=(), alias="model")
    benchmarks: tuple[BenchmarkSettings, ...] = Field(default=(), alias="benchmark")
    stated_arms: tuple[ArmSettings, ...] = Field(default=(), alias="arm")
    tasks: tuple[TaskSettings, ...] = Field(default=(), alias="task")
    score: Json = Field(default_factory=dict)

    def endpoint(self, name: str) -> EndpointSettings:
        """The endpoint of that name."""
        return next(one for one in self.endpoints if one.name == name)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms, whole: those of the file, or one for each condition of ``[run]``; none without benchmarks."""
        if not self.benchmarks:
            return ()
        return whole_arms(self.stated_arms, self.run, self.models, self.benchmarks)

    @property
    def scoring(self) -> ScoreSettings:
        """How the answers are scored: ``[score]``, with the run's seed where it says none."""
        return ScoreSettings.of(self.score, seed=self.run.seed)

    @model_validator(mode="after")
    def _scored(self) -> Settings:
        try:
            _ = self.scoring
        except SettingsError as error:
            raise ValueError(f"score: {error}") from None
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Settings:
        for section in ("endpoint", "model"):
            if not getattr(self, section + "s"):
                raise ValueError(f"needs at least one [[{section}]]; molaudit init writes a first file")
        if not self.benchmarks and not self.tasks:
            raise ValueError(
                "needs at least one [[benchmark]] or [[task]]; molaudit init writes a first file"
            )
        if self.stated_arms and not self.benchmarks:
            raise ValueError(
                "has an [[arm]], which asks about benchmarks, so it needs at least one [[benchmark]]"
            )
        _unique("endpoint", "name", [one.name for one in self.endpoints])
        _unique("model", "name", [one.name for one in self.models])
        _unique("benchmark", "name", [one.name for one in self.benchmarks])
        _unique("task", "name", [one.called() for one in self.tasks])
        names = [one.name for one in self.endpoints]
        for model in self.models:
            if model.endpoint not in names:
                raise ValueError(
                    f"model {model.name!r}: endpoint = {model.endpoint!r}; allowed: {', '.join(names)}"
                    f"{did_you_mean(model.endpoint, names)}"
                )
        self._shared_limits()
        consistent_arms(self.stated_arms, self.models, self.benchmarks)
        allowed = {"connect", "default", *self.run.efforts}
        for arm in self.stated_arms:
            allowed |= set(() if arm.efforts is None or arm.efforts == "all" else arm.efforts)
        for task in self.tasks:
            allowed |= set(task.efforts or ())
        for one in self.endpoints:
            for key in one.timeouts.keys() - allowed:
                raise ValueError(
                    f"endpoint {one.name!r}: timeouts has the unknown key {key!r}; "
                    f"allowed: {', '.join(sorted(allowed))}"
                )
        return self

    def _shared_limits(self) -> None:
        stated: dict[tuple[str, str], tuple[str, object]] = {}
        for one in self.endpoints:
            for limit in LIMITS:
                value = getattr(one, limit)
                if value is None:
                    continue
                pool = one.pool or one.name
                other, before = stated.setdefault((pool, limit), (one.name, value))
                if before != value:
                    raise ValueError(
                        f"endpoints {other!r} and {one.name!r} share the pool {pool!r} but state different {limit}: "
                        f"{before} and {value}"
                    )


SECTIONS: Mapping[str, type[BaseModel] | None] = {
    "run": Run,
    "endpoint": EndpointSettings,
    "model": ModelSettings,
    "benchmark": BenchmarkSettings,
    "arm": ArmSettings,
    "task": TaskSettings,
    "score": None,
}
"""The sections, and what checks their keys; ``[score]`` is checked by `ScoreSettings`."""


def _unique(section: str, key: str, values: list[str]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"two {section}s have the {key} {value!r}; give each a {key} of its own")
