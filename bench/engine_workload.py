"""What every engine is asked: the same questions, as an audit.toml for ours and as request bodies for the others."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from molaudit.engine.audit import inputs

MAX_OUTPUT_TOKENS = 256
UNIT = "deg C"

# Each position of a chain carries one of four substituents, so an index is a structure; the ends differ, so no
# two indices are one molecule read from two sides.
_BRANCHES = ("C(F)", "C(Cl)", "C(C)", "C(O)")
_POSITIONS = 9


@dataclass(frozen=True, slots=True)
class Workload:
    """Every model asked about every molecule of every benchmark, once.

    ``requests_per_minute`` is what our engine is told of the server's limit.
    """

    molecules: int
    models: tuple[str, ...] = ("reciter",)
    benchmarks: int = 1
    in_flight: int = 100
    requests_per_minute: float | None = None

    @property
    def calls(self) -> int:
        """How many distinct calls that makes."""
        return self.molecules * len(self.models) * self.benchmarks


@dataclass(frozen=True, slots=True)
class Files:
    """A workload on disk. ``labels`` are for the server: what its reciters have in memory."""

    folder: Path
    audit: Path
    labels: tuple[str, ...] = field(default=())


def smiles(index: int) -> str:
    """Spell the index-th of 262,144 different molecules."""
    chain = "".join(_BRANCHES[index >> (2 * position) & 3] for position in range(_POSITIONS))
    return f"NC{chain}C#N"


def benchmark(index: int, molecules: int) -> pl.DataFrame:
    """Make up a benchmark: labels of three figures over two decades, drawn by (index, row)."""
    values = 10.0 ** np.random.default_rng([7, index]).uniform(0.5, 2.5, molecules)
    rows = range(index * molecules, (index + 1) * molecules)
    return pl.DataFrame(
        {
            "molecule": [f"compound {row}" for row in rows],
            "smiles": [smiles(row) for row in rows],
            "label": [f"{value:#.3g}".rstrip(".") for value in values],
        }
    )


def write(workload: Workload, folder: Path) -> Files:
    """Write the benchmarks of a workload. `point` completes it once a server's address is known."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = []
    for index in range(workload.benchmarks):
        path = folder / f"benchmark{index:02d}.csv"
        benchmark(index, workload.molecules).write_csv(path)
        labels.append(f"property {index}={path}")
    return Files(folder, folder / "audit.toml", tuple(labels))


def point(workload: Workload, files: Files, base_url: str) -> None:
    """Write the audit.toml that asks the server at ``base_url``.

    Its identity is stated, because the port is another each time and the cache must know the server again.
    """
    lines = [
        "[run]",
        'name = "bench"',
        f"max_output_tokens = {MAX_OUTPUT_TOKENS}",
        'efforts = ["none"]',
        "[[endpoint]]",
        'name = "local"',
        f'base_url = "{base_url}"',
        'identity = "simulated"',
        f"in_flight = {workload.in_flight}",
    ]
    if workload.requests_per_minute is not None:
        lines.append(f"requests_per_minute = {workload.requests_per_minute:g}")
    for model in workload.models:
        lines += ["[[model]]", f'id = "{model}"', 'endpoint = "local"', "efforts.none = {}"]
        lines.append("price = { input = 1.0, output = 4.0 }")
    for index in range(workload.benchmarks):
        lines += ["[[benchmark]]", f'file = "benchmark{index:02d}.csv"', f'property = "property {index}"']
        lines += [f'unit = "{UNIT}"', 'kind = "measured"']
    files.audit.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_bodies(workload: Workload, files: Files) -> Path:
    """Write the request bodies that our engine sends for a workload, one a line, as its own plan makes them."""
    point(workload, files, "http://127.0.0.1:1/v1")
    plan = inputs.load(files.audit).plan
    path = files.folder / "bodies.jsonl"
    with path.open("wb") as file:
        for call in plan.calls():
            assert b"\n" not in call.body
            file.write(call.body + b"\n")
    return path


def write_work(base_url: str, bodies: Path, in_flight: int, retries: int | None, scratch: Path) -> Path:
    """Write what a peer is told."""
    path = scratch / "work.json"
    work = {
        "base_url": base_url,
        "bodies": str(bodies),
        "in_flight": in_flight,
        "retries": retries,
        "scratch": str(scratch),
    }
    path.write_text(json.dumps(work), encoding="utf-8")
    return path
