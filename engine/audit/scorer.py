"""The program of the process that stands by to score; `scorer_process` starts it, and says what passes between."""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> int:
    """Get ready, wait for the order, and carry it out."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole group; the run decides what it means
    orders: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    gc.disable()
    path, cache_path, folder = map(Path, arguments)
    from molaudit.storage.cache import Cache

    from .. import settings as settings_file
    from .finishing import fold, write_results
    from .inputs import load
    from .results import rehearse
    from .table import plan_table
    from .unchanged import basis

    known = basis(settings_file.load(path))
    audit = load(path)
    table = plan_table(audit.plan)
    rehearse(audit, table)
    gc.freeze()
    gc.enable()
    order = json.loads(orders.get())
    if order["known"] != known:
        return 1  # the settings or labels are others than those of the run
    cache = Cache(cache_path, notify=_warn)
    fold(cache, _warn)
    sealed = known if order["complete"] else None
    written = write_results(audit, table, cache, folder, order["facts"], sealed, _warn)
    _say({"written": written is not None})
    gc.freeze()
    return 0


def _listen(orders: queue.Queue[bytes]) -> None:
    """Take the order, and leave at once when the run is gone: as it would itself, in whatever it was doing."""
    try:
        received = b""
        while piece := os.read(
            0, 65_536
        ):  # not sys.stdin, whose lock a thread may not hold when the process ends
            received += piece
            if received.endswith(b"\n"):
                orders.put(received)
    finally:
        os._exit(1)


def _warn(text: str) -> None:
    _say({"warning": text})


def _say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
