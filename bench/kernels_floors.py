"""Throughput of the mode floor beside vectorised numpy and the same loop in C."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from molaudit.kernels import figures, floors
from molaudit.kernels.floors import halves as _floors_halves
from molaudit.kernels.floors import plan as _floors_plan
from molaudit.kernels.machine import threads as kernel_threads

from .rows import c_library, compare, median_of

RUNGS = (12, 23)
SEED = 1


def numpy_repeats(
    labels: NDArray[np.float64], rung: int, repeats: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Compute the mode floor of random halves, all prefixes and repeats in one sort: plain vectorised numpy."""
    codes = figures.codes_all(labels)
    order = np.lexsort((codes[rung // 10], codes[rung // 10 - 1]))
    prefix, continuation = codes[rung // 10 - 1][order], codes[rung // 10][order]
    size = np.unique(prefix, return_counts=True)[1]
    kept = np.repeat(size >= 2, size)
    prefix, continuation, size = prefix[kept], continuation[kept], size[size >= 2]
    group = np.repeat(np.arange(size.size), size)
    start = np.flatnonzero(np.append(True, (np.diff(group) != 0) | (np.diff(continuation) != 0)))
    count = np.diff(np.append(start, group.size))
    owner = group[start]
    first = np.searchsorted(owner, np.arange(size.size))
    position = np.arange(group.size) - np.repeat(np.cumsum(size) - size, size)
    learning = position < np.repeat(size // 2, size)
    shuffled = (rng.random((repeats, group.size)) + group).argsort(axis=1)
    mask = np.zeros((repeats, group.size), dtype=np.int32)
    np.put_along_axis(mask, shuffled[:, learning], 1, axis=1)
    learned = np.add.reduceat(mask, start, axis=1)
    most = np.maximum.reduceat(learned, first, axis=1)
    tied = (learned == most[:, owner]).astype(np.int32)
    hits = np.add.reduceat(tied * count, first, axis=1) / np.add.reduceat(tied, first, axis=1) - most
    shares: NDArray[np.float64] = hits.sum(axis=1) / (size - size // 2).sum()
    return shares


def numpy_repeats_by_prefix(
    labels: NDArray[np.float64], rung: int, repeats: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Compute the same prefix by prefix with a partition in place of the sort: tuned numpy."""
    codes = figures.codes_all(labels)
    prefixes, continuations = codes[rung // 10 - 1], codes[rung // 10]
    hits, trials = np.zeros(repeats), 0
    for prefix in np.unique(prefixes):
        members = np.sort(continuations[prefixes == prefix])
        n, half = members.size, members.size // 2
        if n < 2:
            continue
        start = np.flatnonzero(np.append(True, np.diff(members) != 0))
        count = np.diff(np.append(start, n))
        keys = rng.random((repeats, n), dtype=np.float32)
        mask = np.zeros((repeats, n), dtype=np.int16)
        np.put_along_axis(mask, keys.argpartition(half - 1, axis=1)[:, :half], 1, axis=1)
        learned = np.add.reduceat(mask, start, axis=1, dtype=np.int16)
        most = learned.max(axis=1, keepdims=True)
        tied = learned == most
        hits += (tied @ count) / tied.sum(axis=1) - most[:, 0]
        trials += n - half
    return hits / trials


def c_repeats(
    library: ctypes.CDLL, labels: NDArray[np.float64], rung: int, repeats: int, threads: int
) -> NDArray[np.float64]:
    """Compute ``floors.mode_repeats`` by the loop in ``c/floors.c``: the same words, the same bits."""
    plan = _floors_plan.plan(labels, rung)
    arrays: list[NDArray[Any]] = [*plan, *_floors_halves.tables()]
    out = np.empty(repeats)
    library.mode_hits(
        ctypes.c_int64(plan.size.size),
        *[ctypes.c_void_p(array.ctypes.data) for array in arrays],
        ctypes.c_int64(SEED),
        ctypes.c_int64(floors.first_draw(rung)),
        ctypes.c_int64(0),
        ctypes.c_int64(repeats),
        ctypes.c_int(threads),
        ctypes.c_void_p(out.ctypes.data),
    )
    return out / plan.trials


def example_labels() -> NDArray[np.float64]:
    """Return 872 labels spread as log-solubilities are, two decimals: the size and prefixes of ESOL's."""
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(-3.05, 2.1, 3000), 2)
    kept: NDArray[np.float64] = values[figures.carried(values) >= 3]
    return kept[:872]


def rows(quick: bool, labels: NDArray[np.float64] | None = None) -> list[dict[str, Any]]:
    """Time both rungs of the mode floor.

    Parameters
    ----------
    quick : bool
        Fewer repeats.
    labels : float64[n], optional
        Labels that carry three figures; by default a stand-in for ESOL's 872.
    """
    values = example_labels() if labels is None else labels
    threads = kernel_threads.threads()
    many, few = (20_000, 1_000) if quick else (200_000, 2_000)
    library, note = c_library("floors")
    check(values, library)

    def both(function: Any, *arguments: Any) -> float:
        return median_of(lambda: [function(values, rung, *arguments) for rung in RUNGS])

    ours = both(floors.mode_repeats, many, SEED)
    contenders = [("molaudit", threads, ours, "")]
    if library is not None:
        in_c = median_of(lambda: [c_repeats(library, values, rung, many, threads) for rung in RUNGS])
        contenders.append(("C loop, same algorithm", threads, in_c, note))
    for name, function in (
        ("numpy, one sort", numpy_repeats),
        ("numpy, partition by prefix", numpy_repeats_by_prefix),
    ):
        seconds = both(function, few, np.random.default_rng(SEED)) * many / few
        contenders.append((name, 1, seconds, f"measured on {few:,} repeats"))
    if library is None:
        contenders[0] = ("molaudit", threads, ours, note)
    return compare(f"mode floor, both rungs, {values.size} labels", many, "repeats", contenders)


def check(labels: NDArray[np.float64], library: ctypes.CDLL | None) -> None:
    """Raise AssertionError unless all contenders agree: C in every bit, numpy within five standard errors."""
    for rung in RUNGS:
        ours = floors.mode_repeats(labels, rung, 4_000, SEED)
        if library is not None:
            np.testing.assert_array_equal(c_repeats(library, labels, rung, 4_000, 2), ours)
        for function in (numpy_repeats, numpy_repeats_by_prefix):
            theirs = function(labels, rung, 4_000, np.random.default_rng(SEED))
            error = np.hypot(ours.std(), theirs.std()) / np.sqrt(4_000)
            assert abs(ours.mean() - theirs.mean()) < 5 * error
            assert abs(ours.std() / theirs.std() - 1) < 0.1
