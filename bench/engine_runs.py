"""One measured run: a fresh server, an engine in a process of its own, and the counts of both sides."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from molaudit.engine.simulated.server import ServeSettings, start_process

from . import engine_workload as workloads
from .engine_peers import Peer
from .engine_workload import Files, Workload

MEASURED = Path(__file__).with_name("measured.py")
DRIVE = Path(__file__).parent / "peers" / "drive.py"


@dataclass(frozen=True, slots=True)
class Measured:
    """A process from its start to its end. ``exit`` is 124 when it was stopped for taking too long."""

    exit: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Run:
    """An engine's run and what the server saw of it.

    ``call_phase_s`` is the engine's own time from its first call to its last; ``stats`` the server's counts.
    """

    measured: Measured
    stats: dict[str, Any]
    answered: int
    call_phase_s: float | None
    error: str | None = None
    summary: dict[str, Any] | None = None

    def fault(self, calls: int) -> str | None:
        """Say why the run does not count; None where every call was answered, and once.

        Both sides must agree: what the server sent, and what the engine says it has.
        """
        if self.measured.exit == 124:
            return "stopped: took too long"
        sent, repeated = self.stats["distinct_calls"], self.stats["repeated_calls"]
        if self.measured.exit != 0:
            return f"exit {self.measured.exit}: {_last(self.error or self.measured.stderr)}"
        if self.answered != calls or sent != calls:
            return f"{self.answered} of {calls} answered, {sent} sent: {_last(self.error or '')}"
        return f"{repeated} calls paid twice" if repeated else None


def measure(command: Sequence[str], folder: Path, timeout_s: float) -> Measured:
    """Run a command and take its time, processor time and memory peak."""
    result, out, err = (folder / name for name in ("measured.json", "stdout.txt", "stderr.txt"))
    own = [sys.executable, "-I", "-S", str(MEASURED), str(result), str(out), str(err), f"{timeout_s:g}"]
    subprocess.run([*own, *command], check=True, cwd=folder)
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in (out, err))
    stdout, stderr = texts
    return Measured(**json.loads(result.read_text(encoding="utf-8")), stdout=stdout, stderr=stderr)


def stats(base_url: str) -> dict[str, Any]:
    """Read the server's counts."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(base_url.removesuffix("/v1") + "/stats", timeout=30) as reply:
        counts: dict[str, Any] = json.load(reply)
    return counts


def our_command(files: Files, cache: Path, out: Path) -> list[str]:
    """The command line of our engine, as a user would give it."""
    return [
        *(sys.executable, "-m", "molaudit", "run", str(files.audit)),
        *("--out", str(out), "--cache", str(cache), "--yes"),
    ]


def run_ours(
    workload: Workload, files: Files, server: ServeSettings, cache: Path, timeout_s: float = 600.0
) -> Run:
    """Run `molaudit run` against a fresh server: journal, cache, scores and tables included.

    The results lie beside the cache, so that a second run of the same cache is the rerun that a user makes.
    """
    with tempfile.TemporaryDirectory(dir=files.folder) as scratch, start_process(server) as base_url:
        workloads.point(workload, files, base_url)
        out = cache.with_suffix(".out")
        measured = measure(our_command(files, cache, out), Path(scratch), timeout_s)
        counts = stats(base_url)
        answered, summary = 0, None
        if measured.exit == 0:
            answered = count_answers(out)
            summary = read_summary(out)
    phase = None if summary is None else summary.get("elapsed_s")
    return Run(measured, counts, answered, phase, summary=summary)


def count_answers(out: Path) -> int:
    """Count the calls that our engine has an answer for."""
    attempts = pl.read_parquet(out / "attempts.parquet", columns=["key", "outcome"])
    return attempts.filter(pl.col("outcome") == "answered")["key"].n_unique()


def read_summary(out: Path) -> dict[str, Any]:
    """Read what our engine says of its calls: `RunSummary`, and the totals of the cache."""
    document = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return {**document["run"], "totals": document["totals"]}


def run_peer(
    peer: Peer,
    workload: Workload,
    files: Files,
    bodies: Path,
    server: ServeSettings,
    retries: int | None,
    timeout_s: float,
) -> Run:
    """Run one of the others against a fresh server."""
    with tempfile.TemporaryDirectory(dir=files.folder) as name, start_process(server) as base_url:
        scratch = Path(name)
        work = workloads.write_work(base_url, bodies, workload.in_flight, retries, scratch)
        command = [peer.python, str(DRIVE), peer.module, str(work)]
        measured = measure(command, scratch, timeout_s)
        counts = stats(base_url)
    lines = measured.stdout.strip().splitlines()
    if measured.exit != 0 or not lines:
        return Run(measured, counts, 0, None)
    result = json.loads(lines[-1])
    return Run(measured, counts, result["answered"], result["call_phase_s"], result["error"])


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:80] if lines else "no message"
