"""Throughput against the number of threads and against n, as rows and, where matplotlib is, as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from molaudit.kernels import bootstrap, figures, floors
from molaudit.kernels.bootstrap.draws import resample_means
from molaudit.kernels.machine import threads as kernel_threads
from molaudit.kernels.streams import BOOTSTRAP

from .kernels_figures import example_values
from .kernels_floors import example_labels
from .projection import thread_counts
from .rows import median_of

SIZES = (50, 200, 500, 2000, 5000, 20_000)


def rows(quick: bool) -> list[dict[str, Any]]:
    """Time three kernels on each number of threads, and the bootstrap of a mean at each n on all of them."""
    found = []
    most = kernel_threads.threads()
    scale = 1 if quick else 10
    labels, values = example_labels(), example_values(100_000 * scale)
    sample = np.random.default_rng(0).lognormal(size=500)
    tasks = {
        "bootstrap of a mean, draws": (
            lambda: bootstrap.distribution(
                bootstrap.Statistic.MEAN, sample, resamples=10_000 * scale, seed=1
            ),
            5e6 * scale,
        ),
        "mode floor, repeats": (lambda: floors.mode_repeats(labels, 12, 5000 * scale, 1), 5e3 * scale),
        "codes at three figures, values": (lambda: figures.codes(values, 3), 1e5 * scale),
    }
    for threads in thread_counts(most):
        with kernel_threads.limited(threads):
            for task, (function, units) in tasks.items():
                rate = units / median_of(function, 3)
                found.append({"against": "threads", "task": task, "x": threads, "per_second": rate})
    for n in SIZES:
        sample = np.random.default_rng(n).lognormal(size=n)
        resamples = 2_000_000 * scale // n
        seconds = median_of(lambda: resample_means(sample, 1, BOOTSTRAP, 0, resamples), 3)  # noqa: B023 - called at once
        rate = n * resamples / seconds
        found.append({"against": "n", "task": "bootstrap of a mean, draws", "x": n, "per_second": rate})
    return found


def plot(found: list[dict[str, Any]], path: Path) -> str:
    """Draw the rows to a file; returns its name, or why there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no plot: matplotlib is not installed"
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for axis, against in zip(panels, ("threads", "n"), strict=True):
        of_axis = [row for row in found if row["against"] == against]
        for task in dict.fromkeys(row["task"] for row in of_axis):
            points = [(row["x"], row["per_second"]) for row in of_axis if row["task"] == task]
            axis.loglog(*zip(*points, strict=True), marker="o", label=f"{task}/s")
        axis.set_xlabel(against)
        axis.legend(fontsize=7)
    panels[0].set_ylabel("per second")
    figure.savefig(path)
    return str(path)
