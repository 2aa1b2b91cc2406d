"""What holds for all tests: none is told of time by the machine's other work, or pays for the first compilation."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from molaudit.engine.processes import compiling

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what scoring needs, so that no test takes the time of it or sees it said."""
    # A worker of xdist has a ``workerinput``; the process that starts the workers is here before them.
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        compiling.prepare()
