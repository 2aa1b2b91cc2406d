"""A second process that makes itself ready to score while the first replies are awaited, and scores at the end.

To load what scores takes a second, half of it in the last moments of a run, when everything has been answered. In the
process that makes the calls it cannot be loaded sooner: twice the memory takes twice as long to be torn down when the
process is killed, and servers go on answering into its sockets meanwhile, which is paid for and lost.

The second process gets one line of JSON on its standard input, ``{"facts", "known", "complete"}``, and answers with
lines ``{"warning": text}``, ``{"note": text}`` (of kernels that were compiled) and, at the end, ``{"written": true}``
or false. It holds no key. It ends when the first one does, by whatever death. If it fails in any way the run scores
by itself, as it does where it was quick.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..processes import children, compiling
from .finishing import Warn

WORTH_UP_TO = 10_000
"""Calls. A longer run does not notice a second, and would keep the memory of a second process all night."""

PATIENCE_S = 900.0
"""Seconds without a word after which it is given up; it says when it waits for a cache, and no scoring takes that."""

_PROGRAM = "molaudit.engine.audit.scorer"
_LONGEST_ORDER = 32 * 1024
"""Bytes. A pipe takes as much at once, whether or not the other side reads already."""


class ScorerProcess:
    """Scores the audit at ``path`` in a process of its own, once started.

    Parameters
    ----------
    path, cache, folder
        The settings, the database of the cache and the folder of the results.
    hidden
        Names of environment variables that it does not get: those of the keys.
    """

    def __init__(self, path: Path, cache: Path, folder: Path, hidden: Iterable[str] = ()) -> None:
        self._arguments = [str(path), str(cache), str(folder)]
        self._hidden = frozenset(hidden)
        self._process: children.Child | None = None
        self._ordered = False

    def start(self) -> None:
        """Have it get ready. That it cannot be started is no error: the run then scores by itself."""
        if self._process is not None or not sys.executable or not _is_ordinary(Path(self._arguments[0])):
            return
        with suppress(OSError):
            environment = children.environment_without(self._hidden)
            self._process = children.start(_PROGRAM, *self._arguments, environment=environment)

    def order(self, facts: Mapping[str, Any], known: str, *, complete: bool) -> None:
        """Have it fold, score and write, if it was started: all attempts are in the journal.

        Parameters
        ----------
        facts
            What ``run.json`` says of this session.
        known
            The digest of what the run itself has read (`unchanged.basis`). If the process has read anything
            else, it does nothing.
        complete
            Whether the results are to be sealed.
        """
        if self._process is None:
            return
        line = children.line({"facts": facts, "known": known, "complete": complete})
        self._ordered = len(line) <= _LONGEST_ORDER and children.tell(self._process, line)

    def result(self, warn: Warn) -> bool | None:
        """Wait for the end: whether there was anything to score; None where the run must score by itself."""
        if not self._ordered or self._process is None:
            return None
        for message in children.messages(self._process, PATIENCE_S):
            if "written" in message:
                return bool(message["written"])
            if "warning" in message:
                warn(str(message["warning"]))
            elif "note" in message:
                compiling.tell(str(message["note"]))
        self._process.kill()  # it must not hold the cache for which the run would wait
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            children.end(self._process)


def _is_ordinary(path: Path) -> bool:
    """Whether another process finds the same file there: /dev/stdin is each one's own."""
    return path.is_file() and path.absolute().parts[1:2] not in (("dev",), ("proc",))
