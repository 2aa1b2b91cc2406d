"""audit.toml, validated: what to ask of whom, and within which limits.

`load` reads a file; everything after it works on frozen records. Unknown keys are errors, since a setting that is
ignored is a wrong result. Keys are never here: an endpoint names an environment variable, which is read when a run
begins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import SettingsError
from . import faults as settings_errors
from .arms import Arm, ArmSettings
from .schema import SECTIONS, BenchmarkSettings, EndpointSettings, ModelSettings, PriceSettings, Run, Settings
from .tasks import TaskSettings

__all__ = [
    "Arm",
    "ArmSettings",
    "BenchmarkSettings",
    "EndpointSettings",
    "ModelSettings",
    "PriceSettings",
    "Run",
    "Settings",
    "TaskSettings",
    "load",
    "parse",
    "read",
    "read_toml",
]


def load(path: str | Path) -> Settings:
    """Read and validate an audit file. Relative files of benchmarks are taken from its folder.

    Raises
    ------
    SettingsError
        With a line for each fault, which names the file, the key, what was found and what is allowed.
    """
    path = Path(path)
    return parse(read(path), path)


def read(path: Path) -> dict[str, Any]:
    """The contents of an audit file, not validated.

    Raises
    ------
    SettingsError
        The file cannot be read, or is not TOML in UTF-8.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        hint = "; molaudit init writes a first one" if isinstance(error, FileNotFoundError) else ""
        raise SettingsError(f"{path}: cannot be read ({error.strerror}){hint}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 (byte {error.start})") from error
    return read_toml(text, path)


def read_toml(text: str, path: Path) -> dict[str, Any]:
    """The contents of an audit file; ``path`` is for messages."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "; text stands in double quotes" if str(error).startswith("Invalid value") else ""
        raise SettingsError(f"{path}: is not TOML: {error}{hint}") from error


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
