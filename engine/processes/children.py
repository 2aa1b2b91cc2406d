"""One way to start a child process: a module of ours, run by the same Python.

A child is told in lines of JSON on its standard input and answers in such lines. It reads its input until that ends,
and ends then itself; so it does not outlive its parent, however that ends.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

Child = subprocess.Popen[bytes]


def start(
    module: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    answers: bool = True,
    complains: bool = False,
    own_session: bool = False,
) -> Child:
    """Start ``python -m module``.

    Parameters
    ----------
    module, arguments
        The program. Nothing in the current folder may pass for a library of it.
    environment
        Its environment; that of this process by default.
    answers
        Whether its output is read; it is thrown away otherwise.
    complains
        Whether its errors go where those of this process go; they are thrown away otherwise.
    own_session
        Whether it is out of reach of Ctrl-C.

    Raises
    ------
    OSError
        It cannot be started.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if answers else subprocess.DEVNULL,
        stderr=None if complains else subprocess.DEVNULL,
        env=environment,
        start_new_session=own_session,
    )


def environment_without(hidden: Iterable[str]) -> dict[str, str]:
    """The environment of this process without some variables, such as those of keys."""
    unwanted = frozenset(hidden)
    return {name: text for name, text in os.environ.items() if name not in unwanted}


def line(message: Any) -> bytes:
    """A message as it passes between the two."""
    return json.dumps(message).encode() + b"\n"


def tell(child: Child, message: bytes) -> bool:
    """Hand a `line` to a child; whether it could be handed over: a child that has ended takes none."""
    try:
        stream = _stream(child.stdin)
        stream.write(message)
        stream.flush()
    except OSError:
        return False
    return True


def messages(child: Child, patience_s: float) -> Iterator[dict[str, Any]]:
    """What a child says, until it ends or has said nothing for ``patience_s`` seconds."""
    received, descriptor = b"", _stream(child.stdout).fileno()
    # Not select.select, which knows the first 1,024 descriptors only.
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while selector.select(patience_s) and (piece := os.read(descriptor, 65_536)):
            *lines, received = (received + piece).split(b"\n")
            for text in lines:
                with suppress(ValueError):  # a start-up file of the user's may print anything
                    message = json.loads(text)
                    if isinstance(message, dict):
                        yield message


def end(child: Child, grace_s: float = 0.0) -> None:
    """End a child: by the end of its input if that does it within ``grace_s``, by force otherwise."""
    if grace_s:
        with suppress(BrokenPipeError):
            _stream(child.stdin).close()
        with suppress(subprocess.TimeoutExpired):
            child.wait(grace_s)
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with suppress(OSError):  # what was not written yet finds nobody any more
                stream.close()


def cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
