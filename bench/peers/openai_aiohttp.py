"""The openai SDK over aiohttp, its connection limit raised to the calls in flight."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

CLIENT = "DefaultAioHttpClient"


async def calls(work: dict[str, Any], drive: Callable[..., Any], client_name: str) -> dict[str, Any]:
    """Make the calls through one of the SDK's own HTTP clients."""
    openai = import_module("openai")
    kind = getattr(openai, client_name)
    # From version 3 on the SDK stands on httpx2, whose classes are not httpx's.
    base = next(one for one in kind.__mro__ if one.__name__ == "AsyncClient")
    most = work["in_flight"]
    limits = import_module(base.__module__.partition(".")[0]).Limits(
        max_connections=most, max_keepalive_connections=most
    )
    options = {} if work["retries"] is None else {"max_retries": work["retries"]}
    async with openai.AsyncOpenAI(
        api_key="none", base_url=work["base_url"], http_client=kind(limits=limits), **options
    ) as client:

        async def post(body: bytes) -> str:
            reply = await client.chat.completions.create(**json.loads(body))
            return str(reply.choices[0].message.content)

        result: dict[str, Any] = await drive(post, work["bodies"], most)
        return result


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    """Make the calls."""
    return asyncio.run(calls(work, drive, CLIENT))
