"""The floor of our engine: httpx's aiohttp transport used directly, nothing but a request and its JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any


async def _run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    httpx, plugin, aiohttp = (import_module(name) for name in ("httpx", "httpx_aiohttp", "aiohttp"))
    url = httpx.URL(work["base_url"] + "/chat/completions")
    headers = {"content-type": "application/json"}
    connector = aiohttp.TCPConnector(limit=work["in_flight"])
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        transport = plugin.AiohttpTransport(client=session)

        async def post(body: bytes) -> str:
            request = httpx.Request("POST", url, headers=headers, content=body)
            response = await transport.handle_async_request(request)
            content = await response.aread()
            assert response.status_code == 200, response.status_code
            return str(json.loads(content)["choices"][0]["message"]["content"])

        result: dict[str, Any] = await drive(post, work["bodies"], work["in_flight"])
        return result


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    """Make the calls."""
    return asyncio.run(_run(work, drive))
