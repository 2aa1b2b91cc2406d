"""What a null of 12 benchmarks x 22 models at a million repeats a cell would take, from a measured slice of it."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from molaudit.engine.nulls.jobs import compute_chunk
from molaudit.kernels.machine import threads as kernel_threads

CELLS: Final = 12 * 22
REPEATS: Final = 1_000_000
PAIRS: Final = 500
STATISTICS: Final = ("R12", "R23", "hit3")
PRICE: Final = 0.05
"""US dollars a core-hour: what large clouds ask for a core on demand. Put your own in its place."""


def example_cell(seed: int) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return the pairs of a good predictor that recites one label in ten."""
    rng = np.random.default_rng(seed)
    label = np.round(rng.normal(-3.0, 2.0, PAIRS), 2)
    guess = np.round(label + rng.normal(0, 0.3, PAIRS), 2)
    return {"label": label, "answer": np.where(rng.random(PAIRS) < 0.1, label, guess)}


def project(quick: bool, price: float = PRICE) -> list[dict[str, Any]]:
    """Measure chunks of a few cells on 1, 2, 4, ... threads and scale them to the whole null.

    Returns
    -------
    list of dict
        For each number of threads: ``threads``, ``repeats_per_second`` (of one distribution), ``seconds`` of the
        whole (264 cells, three distributions each), and ``cost_usd`` at ``price`` a core-hour.
    """
    chunk, cells = (10_000, 1) if quick else (50_000, 2)
    arrays = [example_cell(seed) for seed in range(cells)]
    most = kernel_threads.threads()
    found = []
    for threads in thread_counts(most):
        with kernel_threads.limited(threads):
            for statistic in STATISTICS:
                compute_chunk(statistic, arrays[0], 0, 10, 0)
            begin = time.perf_counter()
            for cell in arrays:
                for statistic in STATISTICS:
                    compute_chunk(statistic, cell, 0, chunk, 0)
            taken = time.perf_counter() - begin
        seconds = taken * CELLS * REPEATS / (cells * chunk)
        found.append(
            {
                "threads": threads,
                "repeats_per_second": cells * chunk * len(STATISTICS) / taken,
                "seconds": seconds,
                "cost_usd": seconds * threads / 3600 * price,
                "measured_on": f"{cells} x {len(STATISTICS)} distributions of {chunk:,} repeats, {PAIRS} pairs",
            }
        )
    return found


def thread_counts(most: int) -> list[int]:
    """Return 1, 2, 4, ... and the most."""
    counts = [1]
    while 2 * counts[-1] < most:
        counts.append(2 * counts[-1])
    return counts if most == 1 else [*counts, most]
