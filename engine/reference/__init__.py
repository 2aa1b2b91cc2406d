"""The pages of ``docs/reference``, written from the definitions in the code.

``python -m molaudit.engine.reference`` writes them anew; a test compares them with what is generated.
"""

from __future__ import annotations

from pathlib import Path

from .columns import columns_page
from .commands import commands_page
from .score_keys import with_score_keys

__all__ = ["pages"]

AUDIT_TOML = "audit.toml.md"


def pages(folder: Path) -> dict[str, str]:
    """The pages by the name of their file; of ``audit.toml.md`` the section of ``[score]`` alone is generated."""
    written = (folder / AUDIT_TOML).read_text(encoding="utf-8")
    return {
        "columns.md": columns_page(),
        "commands.md": commands_page(),
        AUDIT_TOML: with_score_keys(written),
    }
