"""What is resampled: one job a distribution, and the pure function that computes a chunk of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import floors, permutation
from molaudit.storage.errors import TableError
from molaudit.storage.tables import imports

from ..errors import InputError
from ..studies.floors_table import usable_labels
from ..studies.pairs import CELL, label_values

Floats = npt.NDArray[np.float64]

BINS = 10
"""Quantile bins of the accuracy-matched null."""

DIFFERENCE = "hit3 difference"

_DECIMALS = 12
"""Sums of the same differences differ by rounding, and would be told apart as values."""

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What one null distribution is about.

    Attributes
    ----------
    about
        Which benchmark, model, condition, effort (null where it is about labels alone; "b - a" where two settings
        are compared).
    statistic
        ``mode12``, ``mode23``: the mode floor of labels, a share a repeat. ``R12``, ``R23``: hits under labels
        permuted within the prefix. ``hit3``: hits under labels permuted within ten quantile bins. ``hit3
        difference``: the difference in hit3 of two settings under exchange of the two, molecule by molecule.
    trials, observed
        Denominator and observed hits of a cell's statistic, or molecules and observed difference; null for floors.
    """

    about: Mapping[str, str | None]
    statistic: str
    trials: int | None = None
    observed: float | None = None

    @property
    def two_sided(self) -> bool:
        """Whether a draw is as extreme as what was observed on either side of zero."""
        return self.statistic == DIFFERENCE


@dataclass(frozen=True, slots=True)
class Job:
    """One null distribution and its numbers, float64[n] each.

    ``label`` for floors; also ``answer`` for a cell's pairs; ``before`` and ``after``, the share of a molecule's
    answers that hit, for a difference.
    """

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
        if usable.size < floors.MIN_LABELS:
            continue
        about = dict.fromkeys(CELL, None) | {"benchmark": name}
        jobs += [Job(JobFacts(about, statistic), {"label": usable}) for statistic in ("mode12", "mode23")]
    if not jobs:
        raise InputError(
            f"{source}: no benchmark has {floors.MIN_LABELS} labels with three figures; there is no floor"
        )
    return jobs


def _cell_jobs(folder: Path) -> list[Job]:
    path = folder / "pairs.parquet"
    if not path.is_file():
        raise InputError(f"{folder}: no pairs.parquet; give the folder of a scored run, or a table of labels")
    try:
        pairs = pl.read_parquet(path).filter("scorable").select(*CELL, "molecule", "value", "label", "depth")
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
    return jobs + _difference_jobs(pairs)


def _difference_jobs(pairs: pl.DataFrame) -> list[Job]:
    """Compare the settings of a model on a benchmark that differ in the condition or in the effort, not in both."""
    hits = pairs.group_by(*CELL, "molecule", maintain_order=True).agg(hit=(pl.col("depth") == 3).mean())
    jobs = []
    for (benchmark, model), part in hits.group_by(CELL[:2], maintain_order=True):
        settings = part.select(CELL[2:]).unique(maintain_order=True).rows()
        parts = {
            setting: part.filter(
                pl.all_horizontal(pl.col(c).eq_missing(v) for c, v in zip(CELL[2:], setting, strict=True))
            )
            for setting in settings
        }
        for a, b in combinations(settings, 2):
            both = parts[a].join(parts[b], on="molecule", suffix="_after", maintain_order="left")
            if sum(x != y for x, y in zip(a, b, strict=True)) != 1 or both.is_empty():
                continue
            named = [x if x == y else f"{y or 'none'} - {x or 'none'}" for x, y in zip(a, b, strict=True)]
            about = dict(zip(CELL, (benchmark, model, *named), strict=True))
            arrays = {"before": both["hit"].to_numpy(), "after": both["hit_after"].to_numpy()}
            observed = round(float((arrays["after"] - arrays["before"]).mean()), _DECIMALS)
            jobs.append(Job(JobFacts(about, DIFFERENCE, both.height, observed), arrays))
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
        elif statistic == DIFFERENCE:
            changes = permutation.paired_difference(
                arrays["after"], arrays["before"], permutations=count, seed=seed, first=first
            )
            drawn = np.round(changes, _DECIMALS) + 0.0  # no negative zero beside zero
        else:
            drawn = _permuted(arrays, statistic, count=count, seed=seed, first=first).null
    values, counts = np.unique(drawn.astype(np.float64), return_counts=True)
    return values, counts.astype(np.int64)
