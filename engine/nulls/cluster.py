"""The same chunks on an existing Dask cluster: a thin map, no scheduler of our own.

A worker that dies changes nothing: Dask gives its chunks to another, and a chunk is the same wherever it is made.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ..errors import SettingsError
from .jobs import Job, compute_chunk
from .store import NullSettings

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 4
"""Chunks submitted per worker thread: enough to keep it busy, few enough to keep the scheduler's memory flat."""


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """Connect to ``tcp://HOST:PORT``, or start ``local:N`` workers of one thread each.

    Raises
    ------
    SettingsError
        Dask is not installed, or there is no cluster at the address.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise SettingsError("--cluster needs Dask: pip install 'molaudit[cluster]'") from error
    if address.startswith("local:"):
        count = address.removeprefix("local:")
        if not count.isdecimal() or int(count) < 1:
            raise SettingsError(
                f"--cluster: found {address!r}; allowed: local:N with N from 1, or tcp://HOST:PORT"
            )
        with (
            LocalCluster(
                n_workers=int(count), threads_per_worker=1, dashboard_address=None, processes=True
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    if "://" not in address:
        raise SettingsError(f"--cluster: found {address!r}; allowed: tcp://HOST:PORT or local:N")
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise SettingsError(f"--cluster {address}: no Dask scheduler answers there ({error})") from error
    # When a connection ends Dask logs a page of tracebacks, some of it after the client is closed; ours is one line.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with client:
        _compare_versions(client, address)
        yield client


def our_version() -> str:
    """Return the version of this program, asked on each worker."""
    return version("molaudit")


def _compare_versions(client: Client, address: str) -> None:
    """Refuse workers without this program, or with another version, whose bits might be others."""
    answers = client.run(our_version, on_error="return")
    for worker, answer in answers.items():
        if answer != our_version():
            raise SettingsError(
                f"--cluster {address}: worker {worker} has not molaudit {our_version()} ({answer}); "
                "install the same version on the workers"
            )


def compute_on(
    client: Client, jobs: Sequence[Job], todo: Sequence[tuple[int, int]], settings: NullSettings
) -> Iterator[tuple[int, int, Any, Any]]:
    """Yield (job, chunk, values, counts) as workers finish them, in any order.

    Raises
    ------
    SettingsError
        The scheduler is gone, or workers died with the same chunk again and again.
    """
    from distributed import as_completed

    waiting = iter(todo)
    running: dict[Any, tuple[int, int]] = {}

    def submit() -> Any:
        place = next(waiting, None)
        if place is None:
            return None
        first, count = settings.span(place[1])
        job = jobs[place[0]]
        arrays = dict(job.arrays)
        future = client.submit(
            compute_chunk, job.facts.statistic, arrays, first, count, settings.seed, pure=False, retries=3
        )
        running[future] = place
        return future

    width = AHEAD * max(1, sum(client.nthreads().values()))
    done = as_completed([future for future in (submit() for _ in range(width)) if future is not None])
    for future in done:
        job, chunk = running.pop(future)
        with _ending_in_one_line():
            values, counts = future.result()
            future.release()
            following = submit()
            if following is not None:
                done.add(following)
        yield job, chunk, values, counts


@contextmanager
def _ending_in_one_line() -> Iterator[None]:
    """Turn what Dask raises when a cluster ends into a message for the user."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (CancelledError, CommClosedError) as error:
        raise SettingsError(
            "--cluster: the Dask scheduler is gone; the chunks that are done are kept: "
            "run the same command again once it is back"
        ) from error
    except KilledWorker as error:
        raise SettingsError(
            "--cluster: a chunk killed several workers, most likely for want of memory; the chunks that are "
            "done are kept: give workers more memory, and run the same command again"
        ) from error
