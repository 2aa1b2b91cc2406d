"""Where the published data lie, for tests that compare with them and are skipped where there are none.

Their folder is `MOLAUDIT_SHARED`, or `shared` beside the repository. Under CI (`CI` is set) nothing is skipped when
that is given or there: what cannot be read then fails its tests, lest a wrong path pass for success.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest


def folder_of(environment: Mapping[str, str]) -> Path:
    """The folder of the shared data, there or not."""
    return Path(environment.get("MOLAUDIT_SHARED") or Path(__file__).resolve().parents[2] / "shared")


DATA = folder_of(os.environ) / "data"


def is_missing(path: Path, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a test that needs a file or folder of the data is to be skipped."""
    if os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK):
        return False
    expected = bool(environment.get("MOLAUDIT_SHARED")) or os.path.lexists(folder_of(environment))
    return not (environment.get("CI", "").lower() in ("1", "true", "yes") and expected)


def reason(path: Path) -> str:
    """Why a test is skipped."""
    return f"{path} cannot be read (MOLAUDIT_SHARED names the folder that holds data)"


def needs(path: Path) -> pytest.MarkDecorator:
    """Skip a test where a file or folder of the data is missing."""
    return pytest.mark.skipif(is_missing(path), reason=reason(path))


def require(path: Path) -> None:
    """Skip the test that calls this where a file or folder of the data is missing."""
    if is_missing(path):
        pytest.skip(reason(path))


needs_data = needs(DATA)
