"""Checks of kernel input: one place turns what callers hold into the typed arrays that kernels assume."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def column(values: ArrayLike, dtype: Any, name: str) -> NDArray[Any]:
    """Return values as one contiguous, writable column.

    A read-only array (those of polars are) has a numba type of its own, for which every kernel would be
    compiled again: seconds, where the copy takes a millisecond per million values.
    """
    array = np.require(values, dtype=dtype, requirements=["C", "A", "W"])
    if np.ndim(values) != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {np.shape(values)}")
    return array


def doubles(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return values as a float64 column."""
    return column(values, np.float64, name)


def groups(group: ArrayLike, n_groups: int) -> NDArray[np.int64]:
    """Return group numbers as a column, all within 0..n_groups-1 (kernels index with them unchecked)."""
    array = column(group, np.int64, "group")
    if array.size and not 0 <= array.min() <= array.max() < n_groups:
        raise ValueError(f"group must lie in 0..{n_groups - 1}, found {array.min()}..{array.max()}")
    return array


def same_length(**columns: NDArray[Any]) -> None:
    """Raise ValueError unless all columns are of one length."""
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("lengths differ: " + ", ".join(f"{name} {n}" for name, n in lengths.items()))
