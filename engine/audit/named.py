"""Reading an audit with errors that name its file."""

from __future__ import annotations

from pathlib import Path

from ..errors import SettingsError
from ..settings.loading import Settings
from .inputs import Audit, load


def load_named(path: Path, settings: Settings | None = None) -> Audit:
    """`inputs.load`; what is found wrong only when the settings meet the model table names the file too.

    Raises
    ------
    SettingsError, InputError, TableError
        The message names the file, the key and what is allowed.
    """
    try:
        return load(path, settings)
    except SettingsError as error:
        lines = str(error).split("\n")
        named = (line if line.startswith(f"{path}: ") else f"{path}: {line}" for line in lines)
        raise SettingsError("\n".join(named)) from error
