"""The bare client that our transport uses: httpx.AsyncClient over the aiohttp transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any


async def _run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    httpx = import_module("httpx")
    limits = httpx.Limits(max_connections=work["in_flight"], max_keepalive_connections=work["in_flight"])
    url = work["base_url"] + "/chat/completions"
    headers = {"content-type": "application/json"}
    async with import_module("httpx_aiohttp").HttpxAiohttpClient(limits=limits, timeout=None) as client:

        async def post(body: bytes) -> str:
            response = await client.post(url, content=body, headers=headers)
            assert response.status_code == 200, response.status_code
            return str(response.json()["choices"][0]["message"]["content"])

        result: dict[str, Any] = await drive(post, work["bodies"], work["in_flight"])
        return result


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    """Make the calls."""
    return asyncio.run(_run(work, drive))
