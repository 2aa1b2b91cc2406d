"""Twelve significant digits of a double and the double nearest to twelve digits, both correctly rounded.

The way of ``_figures_codes``, with the twelfth figure in place of the third: there doubles do come closer to a
tie than the arithmetic resolves, so a sum within DOUBT of a whole number is decided by ``compare``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .._bits import fma, to_bits, to_double
from ..machine.compile import device
from .encoding import MAGIC, decimal_floor, split
from .exact import compare
from .tables import B_MIN, power_of_ten, scale

DIGITS: Final = 12
# The rest is off by less than 2**-61: three roundings of terms below 2**-9 and the error of the low part.
DOUBT: Final = 2.0**-58
_HIGH, _LOW = scale(DIGITS)
_NEXT_DECADE: Final = 4 * 10**DIGITS  # in quarter units
_TOP: Final = 10**DIGITS
_SUBNORMAL: Final = 1 << 52  # magnitudes below are subnormal
_MANTISSA: Final = (1 << 52) - 1
_EXACT_TENS: Final = 22  # 10**22 is the largest power of ten that is a double
_TENS: Final = np.array([10.0**q for q in range(_EXACT_TENS + 1)])
_Q_MIN: Final = -335
_POWERS: Final = [power_of_ten(q) for q in range(_Q_MIN, 300)]
_POWER_HIGH: Final = np.array([high for high, _, _ in _POWERS])
_POWER_LOW: Final = np.array([low for _, low, _ in _POWERS])
_POWER_SHIFT: Final = np.array([shift for _, _, shift in _POWERS])


@device
def integer_parts(magnitude: int) -> tuple[int, int]:
    """Return (M, s) with the double of these bits equal to M * 2**s, M whole."""
    if magnitude < _SUBNORMAL:
        return magnitude, -1074
    return (magnitude & _MANTISSA) | _SUBNORMAL, (magnitude >> 52) - 1075


@device
def quarters_of_twelfth(x: float) -> tuple[int, int]:
    """Return abs(x) as (quarter units of the twelfth figure, decimal exponent of its binade's start)."""
    m, b = split(x)
    exponent = decimal_floor(b)
    high, low = _HIGH[b - B_MIN], _LOW[b - B_MIN]
    product = m * high
    whole = product + MAGIC
    rest = (product - (whole - MAGIC)) + (fma(m, high, -product) + m * low)
    halves = to_bits(whole) - to_bits(MAGIC)
    if low != 0.0 and abs(rest) < DOUBT:
        mantissa, s = integer_parts(to_bits(abs(x)))
        q = exponent - (DIGITS - 1)
        return 2 * halves + compare(mantissa, halves, q - 1 - s, q), exponent
    return 2 * halves + (1 if rest > 0.0 else 0) - (1 if rest < 0.0 else 0), exponent


@device
def round_quarters(quarter: int, unit: int) -> int:
    """Round to a whole number of units, ties to even; the unit is an even number of quarters."""
    return (quarter + (unit >> 1) - 1 + ((quarter // unit) & 1)) // unit


@device
def twelve_digits(x: float) -> tuple[int, int]:
    """Return (D, q) with D * 10**q the value of abs(x) at twelve figures, 10**11 <= D < 10**12."""
    quarter, exponent = quarters_of_twelfth(x)
    beyond = quarter >= _NEXT_DECADE
    digits = round_quarters(quarter, 40) if beyond else round_quarters(quarter, 4)
    q = exponent - (DIGITS - 1) + (1 if beyond else 0)
    if digits == _TOP:
        return digits // 10, q + 1
    return digits, q


@device
def _two_to(shift: int) -> float:
    return to_double((shift + 1023) << 52)


@device
def _settle(digits: int, q: int, guess: float) -> float:
    """Return the double nearest to digits * 10**q, a few steps from the guess at most."""
    bits = to_bits(guess)
    while True:
        mantissa, s = integer_parts(bits)
        above = compare(digits, 2 * mantissa + 1, s - 1 - q, -q)
        if above > 0 or (above == 0 and bits & 1):
            bits += 1
            continue
        if bits == 0:
            return 0.0
        mantissa, s = integer_parts(bits - 1)
        below = compare(digits, 2 * mantissa + 1, s - 1 - q, -q)
        if below < 0 or (below == 0 and bits & 1):
            bits -= 1
            continue
        return to_double(bits)


@device
def nearest_double(digits: int, q: int) -> float:
    """Return the double nearest to digits * 10**q for a twelve-digit whole number (ties to even)."""
    number = float(digits)
    if -_EXACT_TENS <= q <= _EXACT_TENS:  # both exact: one rounding
        return float(number / _TENS[-q] if q < 0 else number * _TENS[q])
    high, low, shift = _POWER_HIGH[q - _Q_MIN], _POWER_LOW[q - _Q_MIN], _POWER_SHIFT[q - _Q_MIN]
    product = number * high
    error = fma(number, high, -product) + number * low
    total = product + error
    slack = product * 2.0**-98  # the true error lies within: 2**-104 of the product
    first = shift >> 1
    guess = (total * _two_to(first)) * _two_to(shift - first)
    certain = product + (error - slack) == product + (error + slack)
    if certain and to_bits(guess) > _SUBNORMAL:
        return float(guess)
    return _settle(digits, q, guess)


@device
def _shortest_subnormal(x: float) -> int:
    """Return the length of the shortest decimal that reads as this subnormal, which may be below its digits."""
    magnitude = to_bits(abs(x))
    quarter, exponent = quarters_of_twelfth(x)
    q = exponent - (DIGITS - 1)
    unit = 4 * 10 ** (DIGITS - 1)
    if quarter >= _NEXT_DECADE:
        unit *= 10
    figures = 1
    while unit > 4:
        digits = round_quarters(quarter, unit) * (unit >> 2)
        # In half-ulps of a subnormal, 2**-1075; equality cannot be, as a power of two is wanting.
        if (
            compare(digits, 2 * magnitude + 1, -1075 - q, -q) < 0
            and compare(digits, 2 * magnitude - 1, -1075 - q, -q) > 0
        ):
            break
        figures += 1
        unit //= 10
    return figures


@device
def carried_device(x: float) -> int:
    """Return the figures of a finite, non-zero double cleaned to twelve digits: see ``figures.carried``."""
    digits, q = twelve_digits(x)
    if to_bits(abs(x)) <= _SUBNORMAL:
        return _shortest_subnormal(nearest_double(digits, q))
    figures = DIGITS
    for step in (8, 4, 2, 1):
        power = 10**step
        if digits % power == 0:
            digits //= power
            figures -= step
    return figures
