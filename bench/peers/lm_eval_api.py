"""lm-eval's asynchronous API model (local-chat-completions), without the tasks and metrics around it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:  # noqa: ARG001 - it has its own loop
    """Make the calls."""
    models = import_module("lm_eval.models.openai_completions")
    instance = import_module("lm_eval.api.instance").Instance
    chat = import_module("lm_eval.models.api_models").JsonChatStr
    first = json.loads(work["bodies"][0])
    options = {} if work["retries"] is None else {"max_retries": max(1, work["retries"])}
    model = models.LocalChatCompletion(
        base_url=work["base_url"] + "/chat/completions",
        model=first["model"],
        tokenizer_backend=None,
        tokenized_requests=False,
        num_concurrent=work["in_flight"],
        **options,
    )
    settings = {"max_gen_toks": first.get("max_tokens", 256), "until": [], "temperature": 0}
    requests = [
        instance(
            request_type="generate_until",
            doc={},
            arguments=(chat(json.dumps(json.loads(body)["messages"])), settings),
            idx=index,
        )
        for index, body in enumerate(work["bodies"])
    ]
    begin = time.perf_counter()
    try:
        texts = model.generate_until(requests, disable_tqdm=True)
        error = None
    except Exception as fault:  # noqa: BLE001 - one lost call ends its run: that is the result
        texts, error = [], f"{type(fault).__name__}: {fault}"
    answered = sum(bool(text) for text in texts)
    return {
        "answered": answered,
        "failed": len(requests) - answered,
        "error": error,
        "call_phase_s": time.perf_counter() - begin,
    }
