"""``molaudit bench score``: the whole command on as many answers as a night of calls brings, and its stages."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from molaudit.storage import results

from .engine_runs import Measured, measure
from .scoring import ANSWERS, CELLS, example_tables

MODELS, MOLECULES = 100, 7_385
"""Models, and molecules with a label: as many as the LD50 benchmark has."""

UNANSWERED = 0.01
TIMEOUT_S = 1_800.0


def overnight(models: int, molecules: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one short answer of each model to each molecule, as text, and labels like log LD50.

    Models are right to a third or a half of the labels' spread, and recite none to a tenth of the labels; one reply
    in a hundred is empty.
    """
    rng = np.random.default_rng(0)
    labels = np.round(np.clip(rng.lognormal(0.88, 0.33, molecules), 0.2, 10.2), 3)
    names = [f"Drug {number}" for number in range(1, molecules + 1)]
    frames = []
    for model in range(models):
        guessed = labels + rng.normal(0, 0.3 + 0.05 * (model % 10), molecules)
        recited = rng.random(molecules) < 0.02 * (model % 6)
        empty = rng.random(molecules) < UNANSWERED
        texts = [
            "" if none else f"{label:.3f}" if known else f"{guess:.2f}"
            for label, guess, known, none in zip(labels, guessed, recited, empty, strict=True)
        ]
        frames.append(pl.DataFrame({"model": f"lab/model-{model:03d}", "molecule": names, "answer": texts}))
    return pl.concat(frames), pl.DataFrame({"molecule": names, "label": [f"{label:.3f}" for label in labels]})


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Score two sets of answers (a twentieth of them when quick); print the stages, write ``score.json``.

    Returns
    -------
    list of dict
        For each set: ``task, answers``, ``seconds, cpu_seconds, peak_bytes`` of the whole command, and ``stages``,
        stage to seconds of a run of its own.
    """
    part = 20 if quick else 1
    sets = {
        "one answer a molecule": (overnight(MODELS // part, MOLECULES), ()),
        "five answers a molecule": (example_tables(ANSWERS // part, CELLS), ("--protocol", "blinding")),
    }
    rows = []
    for task, ((answers, labels), options) in sets.items():
        with tempfile.TemporaryDirectory(prefix="molaudit-bench-") as name:
            rows.append(_row(task, answers, labels, options, Path(name)))
        _show(console, rows[-1])
    results.write_json({"rows": rows}, out / "score.json")
    return rows


def _row(
    task: str, answers: pl.DataFrame, labels: pl.DataFrame, options: tuple[str, ...], folder: Path
) -> dict[str, Any]:
    answers.write_csv(folder / "answers.csv")
    labels.write_csv(folder / "labels.csv")
    stages = folder / "stages.json"
    given = [str(folder / "answers.csv"), "--labels", str(folder / "labels.csv"), *options]
    given += ["--out", str(folder / "out")]
    # By stages first: kernels that are not compiled yet are then, and the whole command is measured warm.
    _done([sys.executable, "-m", "molaudit.bench.score_stages", str(stages), *given], folder)
    whole = _done([sys.executable, "-m", "molaudit", "score", *given], folder)
    return {
        "task": task,
        "answers": answers.height,
        "seconds": whole.seconds,
        "cpu_seconds": whole.cpu_seconds,
        "peak_bytes": whole.peak_bytes,
        "stages": json.loads(stages.read_text(encoding="utf-8")),
    }


def _done(command: list[str], folder: Path) -> Measured:
    measured = measure(command, folder, TIMEOUT_S)
    assert measured.exit == 0, measured.stderr[-2000:]
    return measured


def _show(console: Console, row: dict[str, Any]) -> None:
    table = Table(title=f"{row['answers']:,} answers scored: {row['task']}", title_justify="left")
    table.add_column("stage")
    table.add_column("seconds", justify="right")
    for stage, seconds in row["stages"].items():
        table.add_row(stage, f"{seconds:.2f}")
    table.add_section()
    table.add_row("the whole command", f"{row['seconds']:.2f}")
    table.add_row("the same, processor time", f"{row['cpu_seconds']:.2f}")
    table.add_row("peak MB", f"{row['peak_bytes'] / 1e6:.0f}")
    console.print(table)
