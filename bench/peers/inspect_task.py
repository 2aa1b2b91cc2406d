"""inspect-ai: a task of as many samples, asked of an OpenAI-compatible server, not scored."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any


def run(work: dict[str, Any], drive: Callable[..., Any]) -> dict[str, Any]:  # noqa: ARG001 - it has its own loop
    """Make the calls."""
    os.environ["LOCAL_API_KEY"] = "none"
    inspect, dataset, model = (import_module("inspect_ai" + part) for part in ("", ".dataset", ".model"))
    solver = import_module("inspect_ai.solver")
    first = json.loads(work["bodies"][0])
    roles = {"system": model.ChatMessageSystem, "user": model.ChatMessageUser}
    samples = [
        dataset.Sample(
            input=[roles[turn["role"]](content=turn["content"]) for turn in json.loads(body)["messages"]],
            id=index,
        )
        for index, body in enumerate(work["bodies"])
    ]
    options = {} if work["retries"] is None else {"max_retries": work["retries"]}
    begin = time.perf_counter()
    logs = inspect.eval(
        inspect.Task(dataset=dataset.MemoryDataset(samples), solver=solver.generate(), name="floor"),
        model=f"openai-api/local/{first['model']}",
        model_base_url=work["base_url"],
        max_connections=work["in_flight"],
        max_samples=work["in_flight"],
        max_tokens=first.get("max_tokens"),
        log_dir=work["scratch"],
        display="none",
        **options,
    )
    samples_done = logs[0].samples or []
    answered = sum(bool(one.output.completion) for one in samples_done)
    return {
        "answered": answered,
        "failed": len(samples) - answered,
        "error": None if logs[0].error is None else logs[0].error.message,
        "call_phase_s": time.perf_counter() - begin,
    }
