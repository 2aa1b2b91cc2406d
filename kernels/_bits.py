"""Machine instructions that numba does not expose: fused multiply-add, reinterpretation, population count.

Each is one LLVM intrinsic, so a kernel that uses them still vectorises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic


@intrinsic
def _fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:  # noqa: ARG001 (numba passes the context)
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def _to_bits(typingctx: Any, x: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _to_double(typingctx: Any, bits: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def _popcount(typingctx: Any, word: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


# Numba's decorator is untyped; these names carry the types that kernels see.
fma = cast("Callable[[float, float, float], float]", _fma)
to_bits = cast("Callable[[float], int]", _to_bits)
to_double = cast("Callable[[int], float]", _to_double)
popcount = cast("Callable[[np.uint64], np.uint64]", _popcount)
