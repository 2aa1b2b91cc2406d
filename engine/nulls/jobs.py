"""What is resampled: one job a distribution, and the pure function that computes a chunk of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import floors, permutation
from molaudit.storage import imports
from molaudit.storage.errors import TableError

from ..errors import InputError
from ..studies.floors_table import usable_labels
from ..studies.pairs import CELL, label_values

Floats = npt.NDArray[np.float64]

BINS = 10
"""Quantile bins of the accuracy-matched null."""

MIN_LABELS = 20

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What one null distribution is about.

    Attributes
    ----------
    about
        Which benchmark, model, condition, effort (null where it is about labels alone).
    statistic
        ``mode12``, ``mode23``: the mode floor of labels, a share a repeat. ``R12``, ``R23``: hits under labels
        permuted within the prefix. ``hit3``: hits under labels permuted within ten quantile bins.
    trials, observed
        Denominator and observed hits of a cell's statistic; null for floors.
    """

    about: Mapping[str, str | None]
    statistic: str
    trials: int | None = None
    observed: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One null distribution and its numbers: ``label``, and ``answer`` for a cell's pairs, float64[n]."""

    facts: JobFacts
    arrays: Mapping[str, Floats]


def load_jobs(source: Path) -> list[Job]:
    """Make the jobs of a labels table, or of the folder of a scored run.

    Raises
    ------
    InputError, TableError
        The message names the file and what is needed.
    """
    if source.is_dir():
        return _cell_jobs(source)
    labels = imports.load_labels(source)
    values = label_values(labels.frame, "stripped")
    jobs = []
    for name in values["benchmark"].unique(maintain_order=True).to_list():
        usable = usable_labels(values, name)
        if usable.size < MIN_LABELS:
            continue
        about = dict.fromkeys(CELL, None) | {"benchmark": name}
        jobs += [Job(JobFacts(about, statistic), {"label": usable}) for statistic in ("mode12", "mode23")]
    if not jobs:
        raise InputError(
            f"{source}: no benchmark has {MIN_LABELS} labels with three figures; there is no floor"
        )
    return jobs


def _cell_jobs(folder: Path) -> list[Job]:
    path = folder / "pairs.parquet"
    if not path.is_file():
        raise InputError(f"{folder}: no pairs.parquet; give the folder of a scored run, or a table of labels")
    try:
        pairs = pl.read_parquet(path).filter("scorable").select(*CELL, "value", "label")
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{path}: is not the pairs table of a scored run: {error}") from error
    jobs = []
    for key, part in pairs.group_by(CELL, maintain_order=True):
        about = dict(zip(CELL, key, strict=True))
        value = part["value"].fill_null(float("nan")).to_numpy()
        arrays = {"label": part["label"].to_numpy(), "answer": value}
        for statistic in ("R12", "R23", "hit3"):
            trials, hits = _observed(arrays, statistic)
            jobs.append(Job(JobFacts(about, statistic, trials, hits), arrays))
    if not jobs:
        raise InputError(f"{path}: no scorable pair; there is nothing to permute")
    return jobs


def _observed(arrays: Mapping[str, Floats], statistic: str) -> tuple[int, int]:
    found = _permuted(arrays, statistic, count=1, seed=0, first=0)
    return found.trials, found.hits


def _permuted(
    arrays: Mapping[str, Floats], statistic: str, *, count: int, seed: int, first: int
) -> permutation.Rung:
    answer, label = arrays["answer"], arrays["label"]
    if statistic == "hit3":
        return permutation.within_bins(answer, label, 3, BINS, permutations=count, seed=seed, first=first)
    rung = 12 if statistic == "R12" else 23
    return permutation.within_prefix(answer, label, rung, permutations=count, seed=seed, first=first)


def compute_chunk(
    statistic: str, arrays: Mapping[str, Floats], first: int, count: int, seed: int
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the distribution of ``count`` draws from number ``first`` on, as distinct values and their counts.

    Pure: the same arguments give the same bits on any machine, in any order.
    """
    # Numba's plainest threading layer cannot be entered by two threads of one worker at once.
    with _one_at_a_time:
        if statistic.startswith("mode"):
            drawn: npt.NDArray[Any] = floors.mode_repeats(
                arrays["label"], int(statistic.removeprefix("mode")), count, seed, first
            )
        else:
            drawn = _permuted(arrays, statistic, count=count, seed=seed, first=first).null
    values, counts = np.unique(drawn.astype(np.float64), return_counts=True)
    return values, counts.astype(np.int64)
