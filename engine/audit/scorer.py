"""The program of the process that stands by to score; `scorer_process` starts it, and says what passes between."""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> int:
    """Get ready, wait for the order, and carry it out."""
    # Ctrl-C reaches the whole group; the run decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say = _speaker()
    orders: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    gc.disable()
    path, cache_path, folder = map(Path, arguments)
    from molaudit.storage.cache.store import Cache

    from ..processes import compiling
    from ..settings import loading as settings_file
    from .finishing import fold, write_results
    from .inputs import load
    from .results import rehearse
    from .table import plan_table
    from .unchanged import basis

    compiling.tell_with(lambda text: say({"note": text}), begun=True)
    compiling.prepare(alone=True)
    settings = settings_file.load(path)
    known = basis(settings)
    audit = load(path, settings)
    table = plan_table(audit.plan)
    rehearse(audit, table)
    gc.freeze()
    gc.enable()
    order = json.loads(orders.get())
    if order["known"] != known:
        return 1  # the settings or labels are others than those of the run

    def warn(text: str) -> None:
        say({"warning": text})

    cache = Cache(cache_path, notify=warn)
    fold(cache, warn)
    sealed = known if order["complete"] else None
    written = write_results(audit, table, cache, folder, order["facts"], sealed, warn)
    say({"written": written is not None})
    gc.freeze()
    return 0


def _listen(orders: queue.Queue[bytes]) -> None:
    """Take the order, and leave at once when the run is gone: as it would itself, in whatever it was doing."""
    try:
        received = b""
        # Not sys.stdin, whose lock a thread may not hold when the process ends.
        while piece := os.read(0, 65_536):
            received += piece
            if received.endswith(b"\n"):
                orders.put(received)
    finally:
        os._exit(1)


def _speaker() -> Callable[[dict[str, Any]], None]:
    """What sends a line to the run; from now on nothing else that is printed reaches it."""
    answers = os.dup(1)
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        os.write(answers, json.dumps(message).encode() + b"\n")

    return say


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
