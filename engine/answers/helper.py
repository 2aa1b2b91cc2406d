"""A helper that reads replies for another process: ``python -m molaudit.engine.answers.helper``.

It takes lines of JSON on its standard input, first the arguments of `parse_number`, then a list of replies each, and
answers each list with a line of rows. It is started by that name and not forked, so that neither threads nor a
missing ``__main__`` guard of the calling program matter.
"""

from __future__ import annotations

import gc
import json
import signal
import sys

from ._rows import read_rows


def serve() -> None:
    """Answer until the input ends."""
    # An interrupt at the terminal reaches all processes; the one that asked decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    manner = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        sys.stdout.write(json.dumps(read_rows(json.loads(line), manner)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
