"""Comparison of a decimal with a binary number in integers of any needed length.

The rare cases in which a certificate of ``_figures_digits`` fails end here, about a microsecond each.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..machine.compile import device

# 2,048 bits: the longest side is a 64-bit number times 5**346 (868 bits) or times 2**1100.
_LIMBS: Final = 64
_LIMB_BITS: Final = np.uint64(32)
_LIMB_MASK: Final = np.uint64(0xFFFFFFFF)
_FIVES: Final = 13  # 5**13 is the largest power of five below 2**32
_TWOS: Final = 31


@device
def _multiply(limbs: NDArray[np.uint64], factor: int) -> None:
    carry = np.uint64(0)
    for i in range(_LIMBS):
        total = limbs[i] * np.uint64(factor) + carry
        limbs[i] = total & _LIMB_MASK
        carry = total >> _LIMB_BITS


@device
def _product(value: int, twos: int, fives: int) -> NDArray[np.uint64]:
    """Return value * 2**twos * 5**fives as limbs, lowest first; negative powers count as 0."""
    limbs = np.zeros(_LIMBS, dtype=np.uint64)
    limbs[0] = np.uint64(value) & _LIMB_MASK
    limbs[1] = np.uint64(value) >> _LIMB_BITS
    while fives > 0:
        step = min(fives, _FIVES)
        _multiply(limbs, 5**step)
        fives -= step
    while twos > 0:
        step = min(twos, _TWOS)
        _multiply(limbs, 1 << step)
        twos -= step
    return limbs


@device
def compare(left: int, right: int, twos: int, fives: int) -> int:
    """Return the sign of left - right * 2**twos * 5**fives, exactly, for 0 <= left, right < 2**63.

    Both powers may be negative; |fives| <= 346 and |twos| <= 1100 fit.
    """
    a = _product(left, -twos, -fives)
    b = _product(right, twos, fives)
    for i in range(_LIMBS - 1, -1, -1):
        if a[i] != b[i]:
            return 1 if a[i] > b[i] else -1
    return 0
