"""audit.toml, validated: what to ask of whom, and within which limits.

`load` reads a file; everything after it works on frozen records. Unknown keys are errors, since a setting that is
ignored is a wrong result. Keys are never here: an endpoint names an environment variable, and `api_key` reads it
when a run begins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from . import settings_errors
from .errors import SettingsError
from .models.records import Endpoint
from .settings_schema import (
    SECTIONS,
    BenchmarkSettings,
    EndpointSettings,
    ModelSettings,
    Price,
    Run,
    Settings,
)

__all__ = [
    "BenchmarkSettings",
    "EndpointSettings",
    "ModelSettings",
    "Price",
    "Run",
    "Settings",
    "api_key",
    "load",
    "parse",
]


def load(path: str | Path) -> Settings:
    """Read and validate an audit file. Relative files of benchmarks are taken from its folder.

    Raises
    ------
    SettingsError
        With a line for each fault, which names the file, the key, what was found and what is allowed.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: is not TOML: {error}") from error
    return parse(data, path)


def parse(data: Mapping[str, Any], path: Path) -> Settings:
    """Validate the contents of an audit file; ``path`` is for messages and for relative files."""
    settings_errors.refuse_keys(data, path)
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        raise settings_errors.explain(error, path, data, SECTIONS) from None
    benchmarks = tuple(
        one if one.file is None else one.model_copy(update={"file": path.parent / one.file.expanduser()})
        for one in settings.benchmarks
    )
    return settings.model_copy(update={"benchmarks": benchmarks})


def api_key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The endpoint's key, from the environment; None if it needs none. Call it when a run begins, and keep it out of
    everything that is stored or shown.

    Raises
    ------
    SettingsError
        If the variable is not set or empty; the message names it.
    """
    if endpoint.api_key_env is None:
        return None
    key = environ.get(endpoint.api_key_env, "").strip()
    if not key:
        raise SettingsError(
            f"endpoint {endpoint.name!r}: the environment variable {endpoint.api_key_env} is not set"
        )
    if not key.isascii() or not key.isprintable():
        raise SettingsError(
            f"endpoint {endpoint.name!r}: the environment variable {endpoint.api_key_env} holds characters that "
            "no key has"
        )
    return key
