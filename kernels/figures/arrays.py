"""Figures of whole columns: the kernels that go over them value by value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..machine.compile import kernel
from .digits import carried_device, nearest_double, twelve_digits
from .encoding import pack, quarters

_BLOCK: Final = 1 << 14  # pairs whose codes stay in the cache: 3 times the speed of 2**18
_AT_ONCE: Final = 1024


@kernel()
def code_rows(x: NDArray[np.float64], figures: int, first: int, last: int, out: NDArray[np.int64]) -> None:
    """Write the codes of ``x[first:last]`` to the same places of each row; row k has ``figures`` + k figures.

    What a value is in quarter units goes through a buffer: LLVM makes vectors of either step and not of both in one
    loop, which takes four times as long.
    """
    quarter, exponent = np.empty(_AT_ONCE, dtype=np.int64), np.empty(_AT_ONCE, dtype=np.int64)
    for start in range(first, last, _AT_ONCE):
        stop = min(start + _AT_ONCE, last)
        values = x[start:stop]
        for i in range(values.size):
            quarter[i], exponent[i] = quarters(values[i])
        for k in range(len(out)):
            row = out[k, start:stop]
            for i in range(values.size):
                row[i] = pack(values[i], quarter[i], exponent[i], figures + k)


@kernel()
def clean_each(x: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(x.size):
        value = x[i]
        if value != 0.0 and abs(value) < np.inf:
            digits, q = twelve_digits(value)
            magnitude = nearest_double(digits, q)
            out[i] = -magnitude if value < 0.0 else magnitude
        else:
            out[i] = value


@kernel()
def count_carried(x: NDArray[np.float64], out: NDArray[np.int8]) -> None:
    for i in range(x.size):
        value = x[i]
        out[i] = carried_device(value) if value != 0.0 and abs(value) < np.inf else 0


def coded_blocks(
    pred: NDArray[np.float64], label: NDArray[np.float64], first: int, last: int
) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Encode a range of pairs block by block; the codes are those of the block only until the next one."""
    memory = np.empty((2, 3 * min(_BLOCK, last - first)), dtype=np.int64)
    for start in range(first, last, _BLOCK):
        block = slice(start, min(start + _BLOCK, last))
        size = block.stop - start
        coded = [row[: 3 * size].reshape(3, size) for row in memory]
        code_rows(pred[block], 1, 0, size, coded[0])
        code_rows(label[block], 1, 0, size, coded[1])
        yield block, coded[0], coded[1]
