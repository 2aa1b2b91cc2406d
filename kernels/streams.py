"""Random numbers addressed by counters: any draw of any resample, computed alone.

The word at (seed, stream, resample, draw) is a hash of those four numbers and of nothing else. There is no
state to carry, so the result of a kernel cannot depend on the number of threads, on the order of the chunks,
or on the machine.

Construction. ``key`` hashes (seed, stream, resample) by three rounds of the SplitMix64 finaliser, each after
the next number was mixed in; ``word`` is one more round over ``key ^ draw * GOLDEN``. Exclusive or, where
SplitMix64 adds, for a reason: with addition two resamples whose keys lie a multiple of GOLDEN apart would
share a whole run of words; with exclusive or they share single words at most, as independent streams do.

``normal`` uses its own logarithm, built from the four basic operations, for the one of the C library may
differ between processors in its last bit.

The seed may be any 64-bit integer. A purpose has its own stream, listed here, so that two kernels that are
given the same seed do not share their draws.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .machine.compile import device

FLOORS: Final = 1
BOOTSTRAP: Final = 2
PERMUTATION: Final = 3
SIMULATION: Final = 4
POWER: Final = 5

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLY_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2: Final = np.uint64(0x94D049BB133111EB)
_OFFSET: Final = np.uint64(0xD1B54A32D192ED03)
_SHIFT_30: Final = np.uint64(30)
_SHIFT_27: Final = np.uint64(27)
_SHIFT_31: Final = np.uint64(31)
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_SHIFT_11: Final = np.uint64(11)
_SHIFT_12: Final = np.uint64(12)


@device
def mix(state: np.uint64) -> np.uint64:
    """Hash 64 bits to 64 bits, one to one (the SplitMix64 finaliser of Steele, Lea and Flood, 2014)."""
    state = (state ^ (state >> _SHIFT_30)) * _MULTIPLY_1
    state = (state ^ (state >> _SHIFT_27)) * _MULTIPLY_2
    return state ^ (state >> _SHIFT_31)


@device
def key(seed: int, stream: int, resample: int) -> np.uint64:
    """Return the 64-bit key under which the draws of one resample are found.

    Parameters
    ----------
    seed, stream, resample
        Any 64-bit integers; negative ones count as their two's complement.
    """
    state = mix(np.uint64(seed) + _OFFSET)
    state = mix(state ^ (np.uint64(stream) * GOLDEN + _OFFSET))
    return mix(state ^ (np.uint64(resample) * GOLDEN + _OFFSET))


@device
def word(key: np.uint64, draw: int) -> np.uint64:
    """Return 64 random bits: those of one draw under one key. Within a key no word comes twice."""
    return mix(key ^ (np.uint64(draw) * GOLDEN))


@device
def high_below(bits: np.uint64, n: np.uint64) -> np.uint64:
    """Return an index in 0..n-1 from the upper 32 bits of a word, by multiply-shift.

    For 1 <= n <= 2**32 the chance of each index differs from 1/n by less than 2**-32.
    """
    return ((bits >> _HALF) * n) >> _HALF


@device
def low_below(bits: np.uint64, n: np.uint64) -> np.uint64:
    """Return an index in 0..n-1 from the lower 32 bits of a word: the second draw of the same word."""
    return ((bits & _LOW_HALF) * n) >> _HALF


@device
def uniform(bits: np.uint64) -> float:
    """Return a double of [0, 1) from the upper 53 bits of a word."""
    return np.float64(bits >> _SHIFT_11) * 2.0**-53


@device
def inner_uniform(bits: np.uint64) -> float:
    """Return a double of the open interval (0, 1), symmetric about 1/2, from the upper 52 bits of a word."""
    return (np.float64(bits >> _SHIFT_12) + 0.5) * 2.0**-52


@device
def _logarithm(x: float) -> float:
    """Natural logarithm of a positive normal double: 2 artanh((m-1)/(m+1)) + e ln 2, m near 1."""
    mantissa, exponent = math.frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa *= 2.0
        exponent -= 1
    s = (mantissa - 1.0) / (mantissa + 1.0)
    t = s * s
    total = 0.0
    for k in range(21, 0, -2):
        total = total * t + 1.0 / k
    return 2.0 * s * total + exponent * 0.6931471805599453


_CENTRE: Final = 0.425
# Numerators and denominators of algorithm AS 241 (PPND16), highest power first: centre, tails, far tails.
_CENTRE_TOP: Final = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
_CENTRE_BOTTOM: Final = (
    5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
)  # fmt: skip
_TAIL_TOP: Final = (
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
    3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
)  # fmt: skip
_TAIL_BOTTOM: Final = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0,
)  # fmt: skip
_FAR_TOP: Final = (
    2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
    0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
)  # fmt: skip
_FAR_BOTTOM: Final = (
    2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
    0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0,
)  # fmt: skip


@device
def _polynomial(coefficients: tuple[float, ...], x: float) -> float:
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


@device
def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of p in (0, 1), relative error about 1e-15.

    Algorithm AS 241 (PPND16) of Wichura, Applied Statistics 37, 1988.
    """
    q = p - 0.5
    return _central_quantile(q) if abs(q) <= _CENTRE else _tail_quantile(q, p)


@device
def _central_quantile(q: float) -> float:
    r = 0.180625 - q * q
    return q * (_polynomial(_CENTRE_TOP, r) / _polynomial(_CENTRE_BOTTOM, r))


@device
def _tail_quantile(q: float, p: float) -> float:
    r = math.sqrt(-_logarithm(p if q < 0.0 else 1.0 - p))
    if r <= 5.0:
        tail = _polynomial(_TAIL_TOP, r - 1.6) / _polynomial(_TAIL_BOTTOM, r - 1.6)
    else:
        tail = _polynomial(_FAR_TOP, r - 5.0) / _polynomial(_FAR_BOTTOM, r - 5.0)
    return -tail if q < 0.0 else tail


@device
def normal(bits: np.uint64) -> float:
    """Return a standard normal draw from one word, by inversion."""
    return normal_quantile(inner_uniform(bits))


@device
def fill_normals(key: np.uint64, out: NDArray[np.float64]) -> None:
    """Write to ``out[i]`` the normal draw of word i.

    The same bits as `normal`, three times as fast: the formula of the centre runs over all words in vectors, and
    the 15 % in the tails are then written over.
    """
    for i in range(len(out)):
        out[i] = _central_quantile(inner_uniform(word(key, i)) - 0.5)
    for i in range(len(out)):
        p = inner_uniform(word(key, i))
        if abs(p - 0.5) > _CENTRE:
            out[i] = _tail_quantile(p - 0.5, p)
