"""The chunks of a null run on disk: written whole, skipped when there, merged from any number of folders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import permutation
from molaudit.storage import results

from ..errors import InputError
from ..studies.pairs import CELL
from .jobs import Job, JobFacts

SCHEMA: dict[str, pl.DataType] = {"value": pl.Float64(), "count": pl.Int64()}


@dataclass(frozen=True, slots=True)
class NullSettings:
    """What fixes every bit of a null run. ``input`` is the digest of the jobs' numbers."""

    seed: int
    repeats: int
    chunk: int
    input: str

    @property
    def chunks(self) -> int:
        """Chunks of each job."""
        return -(-self.repeats // self.chunk)

    def span(self, index: int) -> tuple[int, int]:
        """First draw and number of draws of a chunk."""
        first = index * self.chunk
        return first, min(self.chunk, self.repeats - first)


def digest_of(jobs: Sequence[Job]) -> str:
    """Digest what is resampled, so that chunks of other data are never taken for these."""
    hasher = blake2b(digest_size=16)
    for job in jobs:
        about = [dict(job.facts.about), job.facts.statistic]
        hasher.update(json.dumps(about, sort_keys=True).encode())
        for name, array in sorted(job.arrays.items()):
            hasher.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return hasher.hexdigest()


@dataclass(frozen=True, slots=True)
class Header:
    """What a folder says of its chunks: the settings, and what each job is about."""

    settings: NullSettings
    jobs: tuple[JobFacts, ...]


class Store:
    """A folder of chunks under one header; more repeats of the same may be asked of it later.

    Raises
    ------
    InputError
        The folder holds chunks of other settings or data, or more repeats than are asked for.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        self.folder, self.settings, self.jobs = folder, header.settings, header.jobs
        path = folder / "null.json"
        if not path.exists():
            results.write_json(asdict(header), path)
            return
        before = read_header(folder)
        if before == header:
            return
        longer = replace(before, settings=replace(before.settings, repeats=self.settings.repeats))
        if longer != header or before.settings.repeats > self.settings.repeats:
            raise InputError(
                f"{folder}: holds a null run of {before.settings}; asked for {header.settings}. "
                "Only more repeats of the same can be added; give another folder"
            )
        self._extend(before.settings)
        results.write_json(asdict(header), path)

    def _extend(self, before: NullSettings) -> None:
        """Delete the chunks that more repeats make longer: the last ones, where they were not full."""
        last = before.chunks - 1
        if before.span(last) != self.settings.span(last):
            for job in range(len(self.jobs)):
                self.path(job, last).unlink(missing_ok=True)

    def path(self, job: int, chunk: int) -> Path:
        """Where a chunk is kept."""
        return self.folder / "chunks" / f"{job:05d}-{chunk:06d}.parquet"

    def has(self, job: int, chunk: int) -> bool:
        """Whether a chunk is there."""
        return self.path(job, chunk).exists()

    def write(
        self, job: int, chunk: int, values: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
    ) -> None:
        """Keep a chunk, whole or not at all."""
        frame = pl.DataFrame({"value": values, "count": counts}, schema=SCHEMA)
        results.write_parquet(frame, self.path(job, chunk))

    def missing(self) -> list[tuple[int, int]]:
        """List the (job, chunk) that are not there yet."""
        return [
            (j, c) for j in range(len(self.jobs)) for c in range(self.settings.chunks) if not self.has(j, c)
        ]

    def distribution(self, job: int) -> pl.DataFrame:
        """Add up the chunks of a job: ``value, count``, values ascending.

        Raises
        ------
        InputError
            A chunk cannot be read; the message names its file.
        """
        parts = []
        for chunk in range(self.settings.chunks):
            path = self.path(job, chunk)
            try:
                parts.append(pl.read_parquet(path, columns=list(SCHEMA)))
            except (pl.exceptions.PolarsError, OSError) as error:
                raise InputError(f"{path}: cannot be read ({error}); delete it and run again") from error
        return pl.concat(parts).group_by("value").agg(pl.col("count").sum()).sort("value")


def read_header(folder: Path) -> Header:
    """Read what a folder says of its chunks.

    Raises
    ------
    InputError
        It says nothing, or nothing that can be read.
    """
    path = folder / "null.json"
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return Header(NullSettings(**read["settings"]), tuple(JobFacts(**job) for job in read["jobs"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: is not the header of a null run ({error})") from error


def write_results(store: Store) -> pl.DataFrame:
    """Write ``null.parquet`` (every distribution) and ``null.csv`` (its summary), and return the summary."""
    distributions, rows = [], []
    for index, job in enumerate(store.jobs):
        found = store.distribution(index)
        about = [pl.lit(job.about[name], pl.String).alias(name) for name in CELL]
        distributions.append(found.select(*about, pl.lit(job.statistic).alias("statistic"), "value", "count"))
        rows.append({**job.about, "statistic": job.statistic, **_summary(job, found)})
    schema = {
        **dict.fromkeys((*CELL, "statistic"), pl.String),
        **dict.fromkeys(("repeats", "trials"), pl.Int64),
        **dict.fromkeys(("observed", "mean", "sd", "q95", "q99", "p", "p_error"), pl.Float64),
    }
    summary = pl.DataFrame(rows, schema=schema)
    results.write_parquet(pl.concat(distributions), store.folder / "null.parquet")
    results.write_csv(summary, store.folder / "null.csv")
    return summary


def _summary(job: JobFacts, found: pl.DataFrame) -> dict[str, float | int | None]:
    value, count = found["value"].to_numpy(), found["count"].to_numpy()
    repeats = int(count.sum())
    mean = float((value * count).sum() / repeats)
    spread = float((count * (value - mean) ** 2).sum() / max(repeats - 1, 1))
    cumulative = np.cumsum(count)
    quantiles = {
        f"q{level}": float(value[np.searchsorted(cumulative, level / 100 * repeats)]) for level in (95, 99)
    }
    p = error = None
    if job.observed is not None:
        p, error = permutation.p_value(job.observed, value, count, two_sided=job.two_sided)
    return {
        "repeats": repeats,
        "trials": job.trials,
        "observed": job.observed,
        "mean": mean,
        "sd": float(np.sqrt(spread)),
        **quantiles,
        "p": p,
        "p_error": error,
    }
