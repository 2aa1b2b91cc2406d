"""Audits of simulated models behind a real server, for tests that run the commands themselves."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.engine.cli import main
from molaudit.engine.simulated.core import ServeSettings
from molaudit.engine.simulated.server import start_process

MOLAUDIT = [sys.executable, "-m", "molaudit"]


@dataclass
class Audit:
    """An audit.toml in a folder, with the cache and the results beside it."""

    folder: Path
    url: str
    models: Sequence[str] = ("reciter",)
    molecules: int = 20
    efforts: Sequence[str] = ("minimum",)
    in_flight: int = 20
    run: str = ""
    endpoint: str = ""
    model: str = ""
    more: str = ""
    identity: str | None = "simulated"
    name: str = "audit"
    written: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.write()

    def write(self) -> None:
        """Write the settings as the fields say now."""
        models = "".join(
            f'\n[[model]]\nid = "{one}"\nendpoint = "local"\n{self.model}\n' for one in self.models
        )
        identity = "" if self.identity is None else f'identity = "{self.identity}"\n'
        self.written = (
            f'[run]\nname = "{self.name}"\nseed = 1\nmolecules = {self.molecules}\n'
            f"efforts = {json.dumps(list(self.efforts))}\n{self.run}\n"
            f'\n[[endpoint]]\nname = "local"\nbase_url = "{self.url}"\n{identity}in_flight = {self.in_flight}\n'
            f'{self.endpoint}\n{models}\n[[benchmark]]\nuse = "crc-boiling-points"\n{self.more}'
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.written, encoding="utf-8")

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.toml"

    @property
    def out(self) -> Path:
        return self.folder / f"out-{self.name}"

    @property
    def cache(self) -> Path:
        return self.folder / "cache.duckdb"

    @property
    def journal(self) -> Path:
        return self.folder / "cache.duckdb.journal"

    @property
    def parts(self) -> Path:
        return self.folder / "cache.duckdb.parts"

    @property
    def options(self) -> list[str]:
        return ["run", str(self.path), "--out", str(self.out), "--cache", str(self.cache), "--yes"]

    def make(self) -> int:
        """Run the audit within this process; returns the exit code."""
        return main(self.options)

    def start(self, **options: Any) -> "subprocess.Popen[str]":
        """Run the audit in a process of its own."""
        return start(self.options, **options)

    def cells(self) -> bytes:
        return (self.out / "cells.csv").read_bytes()

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "run.json").read_text())
        return found

    def attempts(self) -> pl.DataFrame:
        return pl.read_parquet(self.out / "attempts.parquet")


def start(arguments: Sequence[str], **options: Any) -> "subprocess.Popen[str]":
    """Start a command of ours in a process of its own."""
    given = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
        "env": environment(),
        **options,
    }
    return subprocess.Popen([*MOLAUDIT, *arguments], **given)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", **more}


@contextmanager
def server(**settings: Any) -> Iterator[str]:
    """The simulated server in a process of its own; yields the base URL."""
    with start_process(ServeSettings(**{"seed": 1, **settings})) as url:
        yield url


def stats(url: str) -> dict[str, Any]:
    """What the server has counted."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats", timeout=30) as reply:
        found: dict[str, Any] = json.loads(reply.read())
    return found
