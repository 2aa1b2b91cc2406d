"""The openai SDK over its default HTTP client, its connection limit raised to the calls in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    """Make the calls."""
    result: dict[str, Any] = asyncio.run(
        import_module("openai_aiohttp").calls(work, drive, "DefaultAsyncHttpxClient")
    )
    return result
