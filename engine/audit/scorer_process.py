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

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .. import compiling
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
        self._process: subprocess.Popen[bytes] | None = None
        self._ordered = False

    def start(self) -> None:
        """Have it get ready. That it cannot be started is no error: the run then scores by itself."""
        if self._process is not None or not sys.executable or not _is_ordinary(Path(self._arguments[0])):
            return
        environment = {name: text for name, text in os.environ.items() if name not in self._hidden}
        with suppress(OSError):
            self._process = subprocess.Popen(
                # -P: nothing in the current folder may pass for a library.
                [sys.executable, "-P", "-m", _PROGRAM, *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )

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
        if self._process is None or self._process.stdin is None:
            return
        line = json.dumps({"facts": facts, "known": known, "complete": complete}).encode() + b"\n"
        if len(line) > _LONGEST_ORDER:
            return
        with suppress(OSError):
            self._process.stdin.write(line)
            self._process.stdin.flush()
            self._ordered = True

    def result(self, warn: Warn) -> bool | None:
        """Wait for the end: whether there was anything to score; None where the run must score by itself."""
        if not self._ordered or self._process is None or self._process.stdout is None:
            return None
        for message in _messages(self._process.stdout.fileno()):
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
            self._process.kill()
            self._process.communicate()


def _is_ordinary(path: Path) -> bool:
    """Whether another process finds the same file there: /dev/stdin is each one's own."""
    return path.is_file() and path.absolute().parts[1:2] not in (("dev",), ("proc",))


def _messages(descriptor: int) -> Iterator[dict[str, Any]]:
    """What the other side says, line by line, until it ends or has said nothing for too long."""
    received = b""
    # Not select.select, which knows the first 1,024 descriptors only.
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while selector.select(PATIENCE_S) and (piece := os.read(descriptor, 65_536)):
            *lines, received = (received + piece).split(b"\n")
            for line in lines:
                with suppress(ValueError):  # a start-up file of the user's may print anything
                    message = json.loads(line)
                    if isinstance(message, dict):
                        yield message
