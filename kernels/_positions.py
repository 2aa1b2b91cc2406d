"""Where a number lies in units of another number's third figure, exact."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ._bits import to_bits
from .figures.encoding import DIGIT_BITS, EXPONENT_OFFSET
from .figures.exact import compare
from .machine.compile import device, kernel

REACH: Final = 1100
"""Farthest position told apart: those of labels end at 1,000. Whatever lies beyond is at REACH or -REACH."""

_NEAR_TIE: Final = 1e-6  # far above the error of a quotient below REACH, about 1e-12
_TINY: Final = -290  # from here down powers of ten lose digits as doubles
_LIFT: Final = 40
_FRACTION: Final = (1 << 52) - 1
_ABSOLUTE: Final = (1 << 63) - 1


def unit_exponents(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the power of ten of the third figure of three-figure codes (none may be 0)."""
    return (np.abs(codes) >> DIGIT_BITS) - EXPONENT_OFFSET - 2


@device
def _against_half(size: float, whole: int, exponent: int) -> int:
    """Return the sign of size - (whole + 1/2) 10^exponent, exactly."""
    bits = to_bits(size) & _ABSOLUTE
    power = bits >> 52
    mantissa = bits & _FRACTION
    if power > 0:
        mantissa |= 1 << 52
    else:
        power = 1
    return compare(mantissa, 2 * whole + 1, exponent - 1 - (power - 1075), exponent)


@device
def _position(x: float, exponent: int) -> int:
    size = abs(x)
    lift = _LIFT if exponent < _TINY else 0
    quotient = size * 10.0**lift / 10.0 ** (exponent + lift)
    if not quotient < REACH:  # NaN too
        return -REACH if x < 0.0 else REACH
    whole = int(quotient)
    rest = quotient - whole
    if abs(rest - 0.5) < _NEAR_TIE:
        side = _against_half(size, whole, exponent)
        whole += 1 if side > 0 else (whole & 1 if side == 0 else 0)
    elif rest > 0.5:
        whole += 1
    return -whole if x < 0.0 else whole


@kernel()
def positions(x: NDArray[np.float64], exponent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return x / 10^exponent rounded to whole numbers from the exact binary value, ties to even, with the sign."""
    out = np.empty(len(x), dtype=np.int64)
    for i in range(len(x)):
        out[i] = _position(x[i], exponent[i])
    return out
