"""The engines beside ours, where they are installed, in this environment or in one of their own.

``MOLAUDIT_BENCH_PYTHON_INSPECT=/path/to/python`` (and ``_LM_EVAL``, ``_LITELLM``, ``_OPENAI``) names the Python
that has a peer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

_PROBE = """
import importlib.metadata as m, importlib.util as u, json, sys
found = all(u.find_spec(name) is not None for name in sys.argv[1].split(","))
print(json.dumps([m.version(name) for name in sys.argv[2].split(",")] if found else None))
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A peer as it could be: its title, module in ``peers/``, variable, and what it imports and is called."""

    title: str
    module: str
    variable: str
    imports: str
    distributions: str
    floor: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer that is there: which Python has it, in which version. ``floor``: it is what ours is built on."""

    title: str
    module: str
    python: str
    version: str
    floor: bool


KINDS = (
    Kind(
        "floor: transport alone",
        "floor_transport",
        "FLOOR",
        "httpx,httpx_aiohttp",
        "httpx,httpx-aiohttp",
        floor=True,
    ),
    Kind(
        "floor: httpx client",
        "floor_client",
        "FLOOR",
        "httpx,httpx_aiohttp",
        "httpx,httpx-aiohttp",
        floor=True,
    ),
    Kind("openai SDK, aiohttp", "openai_aiohttp", "OPENAI", "openai,aiohttp", "openai"),
    Kind("openai SDK", "openai_default", "OPENAI", "openai", "openai"),
    Kind("lm-eval, API model", "lm_eval_api", "LM_EVAL", "lm_eval,tenacity", "lm-eval"),
    Kind("litellm", "litellm_acompletion", "LITELLM", "litellm", "litellm"),
    Kind("inspect-ai", "inspect_task", "INSPECT", "inspect_ai,openai", "inspect-ai"),
)


def modules() -> list[str]:
    """The names by which peers are chosen."""
    return [kind.module for kind in KINDS]


def find(only: set[str] | None = None) -> tuple[list[Peer], list[str]]:
    """Look for the peers, all or those whose modules are named; returns them and a note for each not found."""
    peers: list[Peer] = []
    notes: list[str] = []
    for kind in KINDS:
        if only is not None and kind.module not in only:
            continue
        variable = f"MOLAUDIT_BENCH_PYTHON_{kind.variable}"
        python = os.environ.get(variable, sys.executable)
        versions = _probe(python, kind)
        if versions is None:
            notes.append(f"{kind.title}: not installed for {python}; {variable} may name another")
        else:
            peers.append(Peer(kind.title, kind.module, python, " ".join(versions), kind.floor))
    return peers, notes


def _probe(python: str, kind: Kind) -> list[str] | None:
    command = [python, "-c", _PROBE, kind.imports, kind.distributions]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return None
    if done.returncode != 0:
        return None
    versions: list[str] | None = json.loads(done.stdout)
    return versions
