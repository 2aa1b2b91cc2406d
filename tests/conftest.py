"""What holds for all tests: kernels are compiled before the first, so that no test pays for it or sees it said."""

from __future__ import annotations

import pytest

from molaudit.engine import compiling


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what scoring needs, unless another process of this session does."""
    # A worker of xdist has a ``workerinput``; the process that starts the workers is here before them.
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        compiling.prepare()
