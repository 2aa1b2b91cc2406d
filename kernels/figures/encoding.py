"""One, two and three correctly rounded figures of a double, without branches.

Theory. With the scale of three figures (``_figures_tables``) a value becomes z in half units of its third
figure, and every tie at one, two or three figures is a whole z. So floor(z) and "is there a rest" decide all
roundings: their sum ``2 floor(z) + rest`` (quarter units) is an integer below 8,000, and rounding it half to
even at 4, 40 or 400 quarters is integer arithmetic.

Certificate. z is computed as a rounded product, its exact error (fused multiply-add) and the low part of the
multiplier; the sum is off by less than 2**-92. No finite double comes closer to a whole z than 2**-64 without
being on it (all 1.1 million whole z of all decades were compared in integers; a test repeats it), so a rest
below SNAP is none. There is no slow path.
"""

from __future__ import annotations

from typing import Final

from .._bits import fma, to_bits, to_double
from ..machine.compile import device
from .tables import B_MIN, scale

SNAP: Final = 2.0**-80
MAGIC: Final = 1.5 * 2.0**52  # adding it rounds a double below 2**51 to a whole number, ties to even
DIGIT_BITS: Final = 10
DIGIT_MASK: Final = (1 << DIGIT_BITS) - 1
EXPONENT_OFFSET: Final = 400  # keeps the exponent field of every finite double positive

_HIGH, _LOW = scale(3)
_ABSOLUTE: Final = (1 << 63) - 1
_FRACTION: Final = (1 << 52) - 1
_ONE: Final = 1023 << 52
_INFINITY: Final = 2047 << 52
_NEXT_DECADE: Final = 4000
_DIVIDE_SHIFT: Final = 28


@device
def split(x: float) -> tuple[float, int]:
    """Return (m, b) with abs(x) = m * 2**b and m in [1, 2), subnormals normalised; x finite, not 0."""
    magnitude = to_bits(x) & _ABSOLUTE
    small = magnitude < (1 << 52)
    raised = to_bits(to_double(magnitude) * 2.0**54)
    bits = raised if small else magnitude
    b = (bits >> 52) - (1077 if small else 1023)
    return to_double((bits & _FRACTION) | _ONE), b


@device
def decimal_floor(b: int) -> int:
    """Return floor(log10(2**b)), exact for every |b| <= 1650."""
    return (b * 315653) >> 20


@device
def quarters(x: float) -> tuple[int, int]:
    """Return abs(x) as (quarter units of the third figure, decimal exponent), exact for all roundings.

    The exponent is that of the lowest number of the binade: above 4,000 quarters the true one is larger by 1.
    """
    m, b = split(x)
    high = _HIGH[b - B_MIN]
    product = m * high
    whole = product + MAGIC
    rest = (product - (whole - MAGIC)) + (fma(m, high, -product) + m * _LOW[b - B_MIN])
    halves = to_bits(whole) - to_bits(MAGIC)
    return 2 * halves + (1 if rest > SNAP else 0) - (1 if rest < -SNAP else 0), decimal_floor(b)


@device
def pack(x: float, quarter: int, exponent: int, figures: int) -> int:
    """Round quarter units to the figures named and pack sign, exponent and digits; 0 for zero, NaN, inf."""
    # Exact division by multiplication: for q < 8,192 and unit in 4, 40, 400, 4,000, checked for every q.
    unit = 4 if figures == 3 else (40 if figures == 2 else 400)
    top = 1000 if figures == 3 else (100 if figures == 2 else 10)
    inverse = ((1 << _DIVIDE_SHIFT) + unit - 1) // unit
    inverse_next = ((1 << _DIVIDE_SHIFT) + 10 * unit - 1) // (10 * unit)
    beyond = quarter >= _NEXT_DECADE
    factor = inverse_next if beyond else inverse
    half = (5 * unit if beyond else unit >> 1) - 1
    odd = ((quarter * factor) >> _DIVIDE_SHIFT) & 1
    digits = ((quarter + half + odd) * factor) >> _DIVIDE_SHIFT
    decade = exponent + EXPONENT_OFFSET + (1 if beyond else 0)
    carry = digits == top
    digits = top // 10 if carry else digits
    code = ((decade + (1 if carry else 0)) << DIGIT_BITS) | digits
    bits = to_bits(x)
    magnitude = bits & _ABSOLUTE
    signed = -code if bits < 0 else code
    return signed if (magnitude != 0) & (magnitude < _INFINITY) else 0


@device
def code_device(x: float, figures: int) -> int:
    """Return the code of a scalar inside a kernel: see ``figures.codes``."""
    quarter, exponent = quarters(x)
    return pack(x, quarter, exponent, figures)


@device
def codes_device(x: float) -> tuple[int, int, int]:
    """Return the codes of a scalar at one, two and three figures inside a kernel."""
    quarter, exponent = quarters(x)
    return (
        pack(x, quarter, exponent, 1),
        pack(x, quarter, exponent, 2),
        pack(x, quarter, exponent, 3),
    )
