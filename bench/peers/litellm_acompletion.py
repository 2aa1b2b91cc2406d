"""litellm.acompletion with an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any


async def _run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    # Otherwise the import fetches a price list.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = import_module("litellm")
    litellm.suppress_debug_info = True
    options = {} if work["retries"] is None else {"num_retries": work["retries"]}

    async def post(body: bytes) -> str:
        fields = json.loads(body)
        model = "openai/" + fields.pop("model")
        reply = await litellm.acompletion(
            model=model, api_base=work["base_url"], api_key="none", **options, **fields
        )
        return str(reply.choices[0].message.content)

    result: dict[str, Any] = await drive(post, work["bodies"], work["in_flight"])
    return result


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:
    """Make the calls."""
    return asyncio.run(_run(work, drive))
