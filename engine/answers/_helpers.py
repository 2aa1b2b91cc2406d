"""Many replies by several processes, where that is worth their start."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from ..processes import children
from ..processes.children import cores
from ._rows import Row, read_rows
from ._search import is_whole

LEAST_CHARACTERS = 1_500_000
"""A helper takes about 0.2 s of one core to start; this many characters of prose take twice that to read."""

_BLOCK = 200_000
"""Characters handed over at once, 0.06 s of work: few enough that no process waits long for the last one, and enough
that a helper does not idle while the thread that feeds it waits its turns (5 ms each) beside the one that reads."""

_MOST_HELPERS = 15
_NEEDED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_",
    "LD_LIBRARY_PATH",
    "DYLD_",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "VIRTUAL_ENV",
    "PYTHON",
)


def read_many(replies: Sequence[str | None], manner: dict[str, Any]) -> list[Row]:
    """As `read_rows`, by several processes where there is much to read and more than one core."""
    helpers = min(cores() - 1, _MOST_HELPERS, sum(map(_length, replies)) // LEAST_CHARACTERS)
    if helpers < 1 or is_whole() or not sys.executable:
        return read_rows(replies, manner)
    return _Shared(replies, manner).read(helpers)


def _length(reply: str | None) -> int:
    return len(reply or "")


def _are_rows(answer: object, count: int) -> bool:
    """Whether a helper answered with rows, and as many as it was asked for."""
    return isinstance(answer, list) and len(answer) == count and all(isinstance(row, list) for row in answer)


class _Shared:
    """Blocks of replies, taken by whoever is free: this process and its helpers."""

    def __init__(self, replies: Sequence[str | None], manner: dict[str, Any]) -> None:
        self._replies = replies
        self._manner = manner
        self._rows: list[list[Row]] = []
        self._waiting: deque[tuple[int, int, int]] = deque()
        begin, size = 0, 0
        for at, reply in enumerate(replies):
            size += _length(reply) + 20
            if size >= _BLOCK or at + 1 == len(replies):
                self._waiting.append((len(self._rows), begin, at + 1))
                self._rows.append([])
                begin, size = at + 1, 0

    def read(self, helpers: int) -> list[Row]:
        processes = [process for _ in range(helpers) if (process := self._start())]
        threads = [threading.Thread(target=self._feed, args=(process,), daemon=True) for process in processes]
        try:
            for thread in threads:
                thread.start()
            self._take_all()
            for thread in threads:
                thread.join()
            # What a helper took and did not bring back is here again.
            self._take_all()
        finally:
            for process in processes:
                children.end(process)
        return [row for block in self._rows for row in block]

    def _start(self) -> children.Child | None:
        """A helper that finds the modules where this process found them; None where none can be started.

        It gets no key: of the environment only what a Python needs to start.
        """
        environment = {name: text for name, text in os.environ.items() if name.startswith(_NEEDED)}
        # No empty path: nothing in the current folder may pass for a library.
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        try:
            return children.start("molaudit.engine.answers.helper", environment=environment)
        except OSError:
            return None

    def _take_all(self) -> None:
        while self._waiting:
            try:
                block, begin, end = self._waiting.popleft()
            except IndexError:
                return
            self._rows[block] = read_rows(self._replies[begin:end], self._manner)

    def _feed(self, process: children.Child) -> None:
        """Hand blocks to a helper; one that fails in any way gives its block back, and no more is asked of it."""
        taken: tuple[int, int, int] | None = None
        try:
            assert process.stdin
            assert process.stdout
            process.stdin.write(children.line(self._manner))
            while self._waiting:
                taken = self._waiting.popleft()
                block, begin, end = taken
                process.stdin.write(children.line(list(self._replies[begin:end])))
                process.stdin.flush()
                rows = json.loads(process.stdout.readline())
                if not _are_rows(rows, end - begin):
                    break
                self._rows[block] = rows
                taken = None
        except (OSError, ValueError, IndexError):
            pass
        finally:
            if taken is not None:
                self._waiting.append(taken)
