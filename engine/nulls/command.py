"""``molaudit null``: compute what is missing, write what is complete."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from ..errors import InputError
from ..report.files import prepare_folder
from ..report.terminal import plain_table, tell
from .cluster import compute_on, connect
from .jobs import Job, compute_chunk, load_jobs
from .store import Header, NullSettings, Store, digest_of, read_header, write_results

PARTIAL = 3
SECONDS_A_LINE = 30.0

Chunk = tuple[int, int, Any, Any]
"""Number of the job, number of the chunk, values, counts."""


def run_null(
    source: Path,
    out: Path,
    *,
    repeats: int,
    chunk: int,
    seed: int,
    shard: tuple[int, int],
    cluster: str | None,
) -> int:
    """Compute the missing chunks of a shard; write the results once all chunks of all shards are there."""
    console = Console()
    jobs = load_jobs(source)
    prepare_folder(out)
    facts = tuple(job.facts for job in jobs)
    store = Store(out, Header(NullSettings(seed, repeats, chunk, digest_of(jobs)), facts))
    number, shards = shard
    todo = [place for place in store.missing() if _shard_of(place, store.settings, shards) == number - 1]
    console.print(
        f"{len(jobs)} distributions of {repeats:,} repeats: {len(todo)} chunks to compute"
        + (f" in shard {number} of {shards}" if shards > 1 else ""),
        highlight=False,
    )
    begin, draws = time.monotonic(), 0
    for job, index, values, counts in _shown(
        console, _computed(jobs, todo, store.settings, cluster), len(todo)
    ):
        store.write(job, index, values, counts)
        draws += store.settings.span(index)[1]
    if draws:
        taken = time.monotonic() - begin
        console.print(f"{draws:,} repeats in {taken:.1f} s, {draws / taken:,.0f} a second", highlight=False)
    return _finish(console, store, share=shards > 1)


def merge(sources: Sequence[Path], out: Path) -> int:
    """Bring the chunks of several folders into one and write the results.

    Raises
    ------
    InputError
        The folders are not of one null run.
    """
    console = Console()
    headers = [read_header(folder) for folder in sources]
    for folder, one in zip(sources, headers, strict=True):
        if one != headers[0]:
            raise InputError(
                f"{folder}: holds a null run of {one.settings}, but {sources[0]} one of {headers[0].settings}"
            )
    prepare_folder(out)
    store = Store(out, headers[0])
    for folder in sources:
        for path in sorted((folder / "chunks").glob("*.parquet")):
            target = out / "chunks" / path.name
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                partial = target.with_suffix(".partial")
                shutil.copyfile(path, partial)
                partial.replace(target)
    return _finish(console, store)


def _computed(
    jobs: Sequence[Job], todo: Sequence[tuple[int, int]], settings: NullSettings, cluster: str | None
) -> Iterator[Chunk]:
    if not todo:
        return
    if cluster is not None:
        with connect(cluster) as client:
            yield from compute_on(client, jobs, todo, settings)
        return
    for job, chunk in todo:
        first, count = settings.span(chunk)
        found = compute_chunk(jobs[job].facts.statistic, jobs[job].arrays, first, count, settings.seed)
        yield job, chunk, *found


def _shown(console: Console, done: Iterator[Chunk], total: int) -> Iterator[Chunk]:
    """Pass chunks on, with a bar in a terminal and a line every half minute elsewhere."""
    if console.is_terminal:
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("chunks", total=total)
            for chunk in done:
                yield chunk
                progress.advance(task)
        return
    begin = said = time.monotonic()
    for number, chunk in enumerate(done, 1):
        yield chunk
        now = time.monotonic()
        if now - said >= SECONDS_A_LINE and number < total:
            said = now
            left = (now - begin) / number * (total - number)
            tell(console, f"{number:,} of {total:,} chunks, about {left:,.0f} s left")


def _shard_of(place: tuple[int, int], settings: NullSettings, shards: int) -> int:
    """Deal chunks out in turn, so that every shard gets a like share of every job."""
    return (place[0] * settings.chunks + place[1]) % shards


def _finish(console: Console, store: Store, *, share: bool = False) -> int:
    """Write the results where all chunks are there. What others are to compute is no failure of a share."""
    missing = len(store.missing())
    if missing:
        console.print(
            f"{missing} chunks are still missing: run the other shards, then molaudit null merge",
            highlight=False,
        )
        return 0 if share else PARTIAL
    summary = write_results(store)
    shown = [column.name for column in summary if column.null_count() < summary.height]
    console.print(plain_table(summary.select(shown), "Null distributions"))
    console.print(f"written to {store.folder}", highlight=False, markup=False)
    return 0
