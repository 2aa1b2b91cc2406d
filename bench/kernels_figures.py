"""Throughput of three-figure codes beside numpy's inexact formula, Python's format, C and the memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from molaudit.kernels import figures
from molaudit.kernels.figures import encoding as _figures_codes
from molaudit.kernels.machine import threads as kernel_threads

from .rows import Row, c_library, compare, median_of


def numpy_codes(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Encode three figures the usual way, which is wrong where a tie or a power of ten is near."""
    magnitude = np.abs(x)
    exponent = np.floor(np.log10(magnitude))
    digits = np.round(magnitude / 10.0 ** (exponent - 2))
    carry = digits >= 1000
    exponent += carry
    digits[carry] = 100
    codes: NDArray[np.int64] = np.where(x < 0, -1, 1) * (
        (exponent.astype(np.int64) + 400) << 10 | digits.astype(np.int64)
    )
    return codes


def python_codes(x: NDArray[np.float64]) -> list[str]:
    """Write three figures by Python's format, value by value: the oracle."""
    return [format(value, ".2e") for value in x.tolist()]


def c_codes(library: ctypes.CDLL, x: NDArray[np.float64], threads: int) -> NDArray[np.int64]:
    """Encode three figures by the loop in ``c/figures.c``."""
    out = np.empty(x.size, dtype=np.int64)
    library.codes3(
        ctypes.c_void_p(x.ctypes.data),
        ctypes.c_int64(x.size),
        ctypes.c_void_p(_figures_codes._HIGH.ctypes.data),
        ctypes.c_void_p(_figures_codes._LOW.ctypes.data),
        ctypes.c_int(threads),
        ctypes.c_void_p(out.ctypes.data),
    )
    return out


def example_values(n: int) -> NDArray[np.float64]:
    """Return n values of three decimals over three decades, as labels are, none zero."""
    rng = np.random.default_rng(0)
    spread = np.array([0.1, 1.0, 10.0])[rng.integers(0, 3, n)]
    values: NDArray[np.float64] = np.round(rng.normal(size=n) * spread, 3)
    values[values == 0] = 0.001
    return values


def rows(quick: bool) -> list[dict[str, Any]]:
    """Time the codes of a million values (a tenth of it when quick); equality is asserted first."""
    n = 100_000 if quick else 1_000_000
    x = example_values(n)
    threads = kernel_threads.threads()
    library, note = c_library("figures")
    wrong = check(x[:100_000], library)
    contenders = [("molaudit", threads, median_of(lambda: figures.codes(x, 3)), "" if library else note)]
    if library is not None:
        seconds = median_of(lambda: c_codes(library, x, threads))
        contenders.append(("C loop, same algorithm", threads, seconds, note))
    seconds = median_of(lambda: numpy_codes(x))
    contenders.append(("numpy formula", 1, seconds, f"wrong on {100 * wrong:.1f} % of these values"))
    few = x[: n // 5]
    seconds = median_of(lambda: python_codes(few), 3) * 5
    contenders.append(("Python format", 1, seconds, f"measured on {few.size:,} values"))
    return [
        *compare("codes at three figures", n, "values", contenders),
        _memory(x),
    ]


def _memory(x: NDArray[np.float64]) -> dict[str, Any]:
    """Time the bare copy of the same bytes into fresh memory, as the kernel's result is fresh."""
    seconds = median_of(lambda: np.copyto(np.empty_like(x), x))
    return Row(
        task="codes at three figures",
        n=x.size,
        peer="memory: copy of the same bytes",
        threads=1,
        seconds=seconds,
        per_second=x.size / seconds,
        unit="values",
        note=f"{16e-9 * x.size / seconds:.1f} GB/s read and written",
    ).as_dict()


def check(x: NDArray[np.float64], library: ctypes.CDLL | None) -> float:
    """Assert that ours and C equal ``format`` on every value; return the share that numpy gets wrong."""
    ours = figures.codes(x, 3)
    assert [figures.text(code) for code in ours] == python_codes(x)
    if library is not None:
        np.testing.assert_array_equal(c_codes(library, x, 2), ours)
    wrong = float((numpy_codes(x) != ours).mean())
    assert wrong < 0.1
    return wrong
