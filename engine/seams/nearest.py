"""The allowed word that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(found: str, allowed: Iterable[str]) -> str:
    """`` (did you mean 'minimum'?)``, to stand behind a message; empty where nothing is near."""
    plain = {one.lower().replace("_", "-"): one for one in allowed}
    close = difflib.get_close_matches(found.lower().replace("_", "-"), plain, 1, 0.6)
    return f" (did you mean {plain[close[0]]!r}?)" if close else ""
