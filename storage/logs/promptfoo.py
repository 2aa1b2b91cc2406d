"""Results of promptfoo (`promptfoo eval --output FILE.json` or `.jsonl`), as its writer gives them since version 3.

The .json file holds the results under `results.results`; a line of the .jsonl file is one of them. `vars` and the
metadata of the test name the molecule, `provider` the model, `response.output` is the reply. That an assertion failed
(`failureReason` 1) is a grade and not a failure of the call, though promptfoo writes it under `error` too.
"""

import json
from pathlib import Path
from typing import Any

from ..tables import reading as tables
from ..tables.json_lines import beginning
from .rows import LogRows, named_molecule

_ERROR = "2"
_CUT = ("length", "max_tokens", "MAX_TOKENS")
_FILTERED = ("content_filter", "SAFETY")


def is_log(path: str | Path) -> bool:
    """Whether a .json file begins like results of promptfoo."""
    start = beginning(path)
    return start.startswith(b"{") and b'"evalId"' in start


def results_in(document: Any) -> list[Any] | None:
    """The results of a .json document of promptfoo; None where it is something else."""
    inner = document.get("results") if isinstance(document, dict) else None
    found = inner.get("results") if isinstance(inner, dict) else None
    return found if isinstance(found, list) else None


def is_result(record: dict[str, Any]) -> bool:
    """Whether a line of a .jsonl file is a result of promptfoo."""
    return "vars" in record and "provider" in record and ("promptIdx" in record or "testIdx" in record)


def read(source: str, results: list[tuple[int, Any]]) -> tables.Table:
    """The replies of (row, result); with several prompts each is a `condition` of its own.

    Raises
    ------
    TableError
        There is no result, or none names its molecule.
    """
    rows = LogRows(source)
    prompts = {str(one.get("promptIdx")) for _, one in results if isinstance(one, dict)}
    for row, one in results:
        if not isinstance(one, dict):
            rows.leave_out("not a result")
            continue
        reply, outcome = _reply(one)
        rows.add_named(
            row,
            named_molecule(_fields(one), None),
            model=_model(one.get("provider")),
            condition=f"prompt {one.get('promptIdx')}" if len(prompts) > 1 else None,
            answer=reply,
            reasoning_tokens=_reasoning(one.get("response")),
            outcome=outcome,
        )
    return rows.table([])


def _fields(one: dict[str, Any]) -> dict[str, Any]:
    test = one.get("testCase")
    parts = (one.get("metadata"), test.get("metadata") if isinstance(test, dict) else None, one.get("vars"))
    return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}


def _model(provider: Any) -> str | None:
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return provider if isinstance(provider, str) else None


def _reply(one: dict[str, Any]) -> tuple[str | None, str | None]:
    """The text of the reply and, where it is none that can be scored, the outcome."""
    response = one.get("response")
    response = response if isinstance(response, dict) else {}
    output = response.get("output")
    text = output if isinstance(output, str) or output is None else json.dumps(output, ensure_ascii=False)
    if str(one.get("failureReason")) == _ERROR or response.get("error"):
        return text, "failed"
    if text is None:
        return None, "failed" if one.get("error") else "empty"
    ended = response.get("finishReason")
    if response.get("isRefusal") is True:
        return text, "refused"
    return text, "truncated" if ended in _CUT else "filtered" if ended in _FILTERED else None


def _reasoning(response: Any) -> str | None:
    for key in ("tokenUsage", "completionDetails"):
        response = response.get(key) if isinstance(response, dict) else None
    found = response.get("reasoning") if isinstance(response, dict) else None
    return found if isinstance(found, str) and found.isdecimal() else None
