"""Powers of ten as pairs of doubles, correctly rounded from integers of any length.

A finite double is x = m * 2**b with m in [1, 2) and b in [-1074, 1023] (subnormals normalised). Let
e = floor(log10(2**b)); x then lies in [10**e, 10**(e+2)). ``scale(n)`` holds, for every b, the number
2 * 2**b * 10**(n - 1 - e) as high + low, so that m * (high + low) is x in *half units* of its n-th figure,
from 2 * 10**(n-1) to 4 * 10**n: every tie at n or fewer figures is a whole number there.
high + low is off by at most 2**-106 of its value; low is 0 exactly where the power of ten is a double.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

B_MIN, B_MAX = -1074, 1023


class Scale(NamedTuple):
    """Multipliers by binary exponent, ``table[b - B_MIN]``, or by decimal exponent."""

    high: NDArray[np.float64]
    low: NDArray[np.float64]


def decimal_floor(b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return floor(log10(2**b)); the multiplier is exact for every |b| <= 1650."""
    return (b * 315653) >> 20


def power_of_ten(q: int) -> tuple[float, float, int]:
    """Return (high, low, shift) with 10**q = (high + low) * 2**shift and high in [1, 2]."""
    numerator, denominator = (10**q, 1) if q >= 0 else (1, 10**-q)
    shift = numerator.bit_length() - denominator.bit_length()
    if numerator < (denominator << shift if shift >= 0 else denominator >> -shift):
        shift -= 1
    if shift >= 0:
        denominator <<= shift
    else:
        numerator <<= -shift
    high = numerator / denominator
    top, bottom = high.as_integer_ratio()
    return high, (numerator * bottom - top * denominator) / (denominator * bottom), shift


def scale(figures: int) -> Scale:
    """Return the multipliers from mantissa to half units of the figure named, for all binary exponents."""
    b = np.arange(B_MIN, B_MAX + 1)
    e = decimal_floor(b)
    first = int(figures - 1 - e.max())
    powers = [power_of_ten(q) for q in range(first, int(figures - 1 - e.min()) + 1)]
    high, low, shift = (np.array(column) for column in zip(*powers, strict=True))
    at = figures - 1 - e - first
    move = shift[at] + b + 1
    return Scale(np.ldexp(high[at], move), np.ldexp(low[at], move))
