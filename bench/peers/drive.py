"""Run one peer on a workload: ``python drive.py MODULE WORK.json``. Prints one line of JSON.

WORK holds ``base_url``, ``bodies`` (a file of one JSON request body a line), ``in_flight``, ``retries`` (None: as
the library has it) and ``scratch`` (a folder). A module has ``run(work, drive)``, which makes the calls and
returns ``answered``, ``failed``, ``call_phase_s`` and the first ``error``; `drive` is there for peers that are
clients without a loop of their own.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any


async def drive(
    post: Callable[[bytes], Awaitable[str]], bodies: list[bytes], in_flight: int
) -> dict[str, Any]:
    """Make every call once with ``in_flight`` workers; ``post`` returns the reply's text, or raises."""
    left = iter(bodies)
    answered = failed = 0
    error: str | None = None

    async def work() -> None:
        nonlocal answered, failed, error
        for body in left:
            try:
                text = await post(body)
                if not text:
                    raise ValueError("an empty reply")
                answered += 1
            except Exception as fault:  # noqa: BLE001 - a client's own errors are what is counted here
                failed += 1
                error = error or f"{type(fault).__name__}: {fault}"

    begin = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return {
        "answered": answered,
        "failed": failed,
        "error": error,
        "call_phase_s": time.perf_counter() - begin,
    }


def main() -> None:
    """Run the module that the command line names."""
    work: dict[str, Any] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    bodies = Path(work["bodies"]).read_bytes().splitlines()
    result = import_module(sys.argv[1]).run({**work, "bodies": bodies}, drive)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
