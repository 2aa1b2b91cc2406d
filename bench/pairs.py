"""``molaudit bench pairs``: from tables to verified pairs, the index by core beside it, and the sweep as it grows.

The tables of HIV and BACE are not part of the program: the folder that holds ``tasks/hiv.csv`` and
``benchmarks/bace.csv`` is named by the environment variable MOLAUDIT_PAIRS_DATA. Without it only the sweep over
simulated libraries is measured. Whole processes are measured, import and numba's compilation or its cache included.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from molaudit.engine.report.terminal import WIDE
from molaudit.kernels import tanimoto
from molaudit.storage import results
from molaudit.storage.tables import reading as tables

from .engine_runs import measure
from .kernels import environment

VARIABLE = "MOLAUDIT_PAIRS_DATA"
TASKS = {"hiv": ("tasks/hiv.csv", 41_127, 2_339), "bace": ("benchmarks/bace.csv", 1_513, 485)}
"""Table, records, and the single-site pairs in it, however they are found."""
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SAMPLED_ROWS = 10_000
"""Of larger libraries so many rows are compared with all others, in twenty stretches, and the time is scaled up."""


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Measure, print, write ``pairs.json``."""
    rows: list[dict[str, Any]] = []
    folder = os.environ.get(VARIABLE)
    if folder is None:
        console.print(f"HIV and BACE are left out: set {VARIABLE} to the folder with their tables")
    else:
        with tempfile.TemporaryDirectory(prefix="molaudit-bench-") as scratch:
            rows += table_rows(Path(folder), Path(scratch), quick)
    rows += sweep_rows(SIZES[:3] if quick else SIZES)
    console.print(_shown(rows, notes=console.width >= WIDE))
    results.write_json({"environment": environment(), "rows": rows}, out / "pairs.json")
    return rows


def _shown(rows: list[dict[str, Any]], *, notes: bool) -> Table:
    shown = Table(title="source-target pairs", title_justify="left")
    for name in ("task", "way", "n", "seconds", "CPU s", "peak GiB", "pairs", *(["note"] if notes else [])):
        shown.add_column(name, justify="left" if name in ("task", "way", "note") else "right")
    for row in rows:
        shown.add_row(
            row["task"], row["way"], f"{row['n']:,}", f"{row['seconds']:.3g}",
            f"{row['cpu_seconds']:.3g}",
            "" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 2**30:.2f}",
            f"{row['pairs']:,}", *([row["note"]] if notes else []),
        )  # fmt: skip
    return shown


def table_rows(folder: Path, scratch: Path, quick: bool) -> list[dict[str, Any]]:
    """Measure ``molaudit pairs`` on HIV and BACE, and the index by core on the same tables."""
    found = []
    for kind, (name, records, expected) in TASKS.items():
        path = _first_records(folder / name, scratch, records // 10) if quick else folder / name
        audit = scratch / f"{kind}.toml"
        audit.write_text(f'[[task]]\nkind = "{kind}"\nfile = {json.dumps(str(path))}\n', encoding="utf-8")
        target = scratch / f"out-{kind}"
        ours = [
            sys.executable, "-m", "molaudit", "pairs", str(audit), "--out", str(target), "--no-drawings",
        ]  # fmt: skip
        first = _measured(
            kind, "molaudit pairs", ours, scratch, records, "sweep, then cuts; edits done and compared"
        )
        steps = pl.read_csv(target / "funnel.csv")
        first["pairs"] = steps.filter(step="single_site")["count"].item()
        counted = scratch / f"{kind}-by-core.json"
        peer = [sys.executable, "-m", "molaudit.bench.pairs", kind, str(path), str(counted)]
        second = _measured(kind, "index by core", peer, scratch, records, "edits not done")
        second["pairs"] = json.loads(counted.read_text())
        for row in (first, second):
            row["n"] = steps.filter(step="records")["count"].item()
            if row["pairs"] != first["pairs"] or (not quick and row["pairs"] != expected):
                raise AssertionError(f"{kind}, {row['way']}: {row['pairs']} pairs, expected {expected}")
        found += [first, second]
    return found


def _first_records(path: Path, scratch: Path, number: int) -> Path:
    short = scratch / path.name
    short.write_text("".join(path.open(encoding="utf-8").readlines()[: 2 * number]), encoding="utf-8")
    return short


def _measured(task: str, way: str, command: list[str], scratch: Path, n: int, note: str) -> dict[str, Any]:
    one = measure(command, scratch, 3600)
    if one.exit != 0:
        raise AssertionError(f"{task}, {way}: exit {one.exit}: {one.stderr[-400:]}")
    return {
        "task": task, "way": way, "n": n, "seconds": one.seconds, "cpu_seconds": one.cpu_seconds,
        "peak_bytes": one.peak_bytes, "pairs": 0, "note": note,
    }  # fmt: skip


def pairs_by_core(kind: str, path: Path) -> int:
    """Count single-site pairs the other way: every core of every molecule in an index, the window afterwards."""
    from rdkit import Chem, rdBase

    from molaudit.engine.diagnostic.registry import tasks
    from molaudit.engine.molecules.cuts import core_key, cuts, fragment_key
    from molaudit.engine.molecules.standard import distinct_structures

    task = tasks()[kind]
    structures = distinct_structures(tables.read(path, task.COLUMNS).frame["smiles"].to_list())
    index: dict[str, list[tuple[int, str, tuple[int, bool]]]] = defaultdict(list)
    with rdBase.BlockLogs():
        for place, smiles in enumerate(structures.smiles):
            molecule = Chem.MolFromSmiles(smiles)
            for cut in cuts(molecule, int(task.DEFAULTS["fragment"])):
                index[core_key(molecule, cut)].append((place, fragment_key(molecule, cut), cut.kind))
    joined: set[tuple[int, int]] = set()
    for members in index.values():
        for at, (one, fragment, start) in enumerate(members):
            for other, fragment_there, start_there in members[at + 1 :]:
                if one != other and fragment != fragment_there and start != start_there:
                    joined.add((min(one, other), max(one, other)))
    near = tanimoto.similar_pairs(
        structures.bits, structures.heavy, low=task.DEFAULTS["tanimoto"],
        size_difference=int(task.DEFAULTS["heavy_atoms"]),
    )  # fmt: skip
    inside = near.similarity < 1
    return len(joined & set(zip(near.first[inside].tolist(), near.second[inside].tolist(), strict=True)))


def library(n: int, seed: int = 0) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Simulate fingerprints of 2,048 bits and numbers of heavy atoms, in families of ten near relatives.

    As in HIV's fingerprints, a row has 45 bits on average, more in larger molecules, and some bits are in most rows.
    """
    rng = np.random.default_rng(seed)
    common = 1.0 / np.arange(1, 2049) ** 0.9
    levels = np.cumsum(common / common.sum())
    heavy = np.clip(rng.normal(26, 8, n // 10 + 1), 6, 90).astype(np.int64).repeat(10)[:n]
    words = np.zeros((n, 32), dtype=np.uint64)
    for start in range(0, n, 100_000):
        stop = min(start + 100_000, n)
        own = rng.random((stop - start, 75))
        own[:, :60] = own[(np.arange(stop - start) // 10) * 10, :60]
        bits = np.searchsorted(levels, own).clip(0, 2047)
        bits[np.arange(75) >= (2.4 * heavy[start:stop, None]).clip(10, 75)] = 0
        rows = np.arange(start, stop).repeat(75)
        flat = bits.ravel()
        np.bitwise_or.at(words, (rows, flat // 64), np.uint64(1) << (flat % 64).astype(np.uint64))
    return words, np.maximum(1, heavy + rng.integers(-1, 2, n))


def sweep_rows(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Time the sweep over simulated libraries at T >= 0.8 and heavy atoms within 3, on one thread."""
    bits, heavy = library(max(sizes))
    tanimoto.similar_pairs(bits[:100], heavy[:100], low=0.8, size_difference=3)
    return [_sweep(bits[:n], heavy[:n], n) for n in sizes]


def _sweep(bits: NDArray[np.uint64], heavy: NDArray[np.int64], n: int) -> dict[str, Any]:
    begin, busy = time.perf_counter(), time.process_time()
    sweep = tanimoto.prepare(bits, heavy)
    prepared, prepared_busy = time.perf_counter() - begin, time.process_time() - busy
    parts = 1 if n <= SAMPLED_ROWS else 20
    rows = min(n, SAMPLED_ROWS) // parts
    begin, busy, pairs = time.perf_counter(), time.process_time(), 0
    for part in range(parts):
        start = part * (n // parts)
        pairs += len(tanimoto.stretch(sweep, start, start + rows, low=0.8, size_difference=3).first)
    scale = n / (rows * parts)
    return {
        "task": "sweep, simulated library", "way": "popcount sweep", "n": n,
        "seconds": prepared + scale * (time.perf_counter() - begin),
        "cpu_seconds": prepared_busy + scale * (time.process_time() - busy), "peak_bytes": None,
        "pairs": round(scale * pairs), "note": "" if scale == 1 else f"measured on {rows * parts:,} rows",
    }  # fmt: skip


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(pairs_by_core(sys.argv[1], Path(sys.argv[2]))), encoding="utf-8")
