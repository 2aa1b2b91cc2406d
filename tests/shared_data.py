"""Where the published data lie, for tests that compare with them and skip where they are missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("MOLAUDIT_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the published data are not at {DATA} (set MOLAUDIT_SHARED to their folder)"
)
