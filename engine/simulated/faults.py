"""What the simulated server does besides answering: waits, limits and faults, drawn by (seed, request number).

All of it is arithmetic on arguments: no socket, no clock of its own. The same seed gives the n-th request to
arrive the same fate in every run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

from ..errors import SettingsError

HINTS = ("openai", "retry-after", "retry-after-ms", "none")
"""What a refusal for the rate may say about the wait."""

STATUSES = frozenset({400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529})

FAULTS: Mapping[str, str] = {
    **{str(status): f"HTTP {status} with the provider's error body" for status in sorted(STATUSES)},
    "quota": "the account is empty: an HTTP 429 or 400 that no wait cures",
    "reset": "connection reset before the reply",
    "reset-body": "connection reset within the body",
    "reset-after": "whole answer, then connection reset",
    "hang": "no reply, ever",
    "drip": "whole answer in 20 pieces over 2 s",
    "half-json": "HTTP 200, body cut in the middle, length as announced",
    "html": "HTTP 200 with a web page",
    "error200": "HTTP 200 with an error object inside",
    "empty": "HTTP 200, finished, no text",
    "truncated": "HTTP 200, cut at the output limit before any text",
    "refusal": "HTTP 200, refused",
    "filtered": "HTTP 200, stopped by the content filter",
    "wrong-model": "whole answer under another model's name",
    "huge": "whole answer after 8 MB of text",
    "nul": "whole answer with NUL, U+2028 and a lone surrogate",
}
"""Every fault by name. Those called "whole answer" deliver a usable reply."""

WHOLE = frozenset({"drip", "reset-after", "wrong-model", "huge", "nul"})
"""Faults whose reply still holds the whole answer: it counts as answered."""

_MASK = (1 << 64) - 1
_NORMAL = NormalDist()


def draw(seed: int, number: int, purpose: int) -> float:
    """Return a number in [0, 1) that depends on the arguments alone (splitmix64's finaliser, three rounds)."""
    state = 0
    for word in (seed, number, purpose):
        state = (state + word + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return float(state >> 11) * 2.0**-53


_LONGEST_S = 1e9
"""A wide distribution has times beyond any float: longer than anybody waits is long enough."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long a reply takes: ``fixed`` seconds, ``lognormal`` (median, sigma) or ``uniform`` (low, high)."""

    kind: str
    first: float
    second: float = 0.0

    def seconds(self, uniform: float) -> float:
        """Turn a draw from [0, 1) into seconds."""
        if self.kind == "lognormal":
            bounded = min(max(uniform, 2.0**-54), 1 - 2.0**-53)
            return min(_LONGEST_S, self.first * math.exp(min(self.second * _NORMAL.inv_cdf(bounded), 700.0)))
        if self.kind == "uniform":
            return self.first + (self.second - self.first) * uniform
        return self.first


def parse_latency(text: str) -> Latency:
    """Read ``1.0``, ``lognormal:MEDIAN,SIGMA`` or ``uniform:LOW,HIGH`` (seconds).

    Raises
    ------
    SettingsError
        Anything else, or a negative or endless time.
    """
    kind, colon, rest = text.strip().rpartition(":")
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError:
        numbers = []
    usable = bool(numbers) and all(math.isfinite(number) and number >= 0 for number in numbers)
    if usable and not colon and len(numbers) == 1:
        return Latency("fixed", numbers[0])
    if (
        usable
        and len(numbers) == 2
        and (kind == "lognormal" or (kind == "uniform" and numbers[0] <= numbers[1]))
    ):
        return Latency(kind, *numbers)
    raise SettingsError(
        f"--latency {text!r} is not understood: give seconds (1.0), lognormal:MEDIAN,SIGMA "
        "(lognormal:1.0,0.5) or uniform:LOW,HIGH (uniform:1,3), none of them negative"
    )


def parse_faults(text: str) -> tuple[tuple[str, float], ...]:
    """Read ``NAME=PROBABILITY,...`` with names from `FAULTS` and probabilities that sum to at most 1.

    Raises
    ------
    SettingsError
        An unknown or repeated name, or a value that is not a probability.
    """
    chosen: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in FAULTS:
            raise SettingsError(f"--faults: {name!r} is not a fault; choose from {', '.join(FAULTS)}")
        try:
            probability = float(value)
        except ValueError:
            probability = math.nan
        if not equals or not 0 <= probability <= 1:
            raise SettingsError(f"--faults: {part!r} needs a probability from 0 to 1, as in {name}=0.05")
        if name in chosen:
            raise SettingsError(f"--faults: {name!r} is given twice")
        chosen[name] = probability
    if math.fsum(chosen.values()) > 1 + 1e-9:
        raise SettingsError(
            f"--faults: the probabilities sum to {math.fsum(chosen.values()):g}; a request meets at most "
            "one fault, so they may sum to 1 at most"
        )
    return tuple(chosen.items())


def pick(faults: tuple[tuple[str, float], ...], uniform: float) -> str | None:
    """Choose the fault, if any, that a draw from [0, 1) stands for."""
    for name, probability in faults:
        if uniform < probability:
            return name
        uniform -= probability
    return None


class RateLimit:
    """A token bucket as providers run them: full at the start, ``rpm`` / 60 tokens a second, ``burst`` at most.

    ``clock`` gives seconds and never goes back.
    """

    def __init__(self, rpm: float, burst: int, clock: Callable[[], float]) -> None:
        self.rpm = rpm
        self.burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> float:
        """Take a token and return 0, or take none and return the seconds until there is one."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rpm / 60)
        self._at = now
        # A millionth of a token forgives what float sums lose; otherwise a client on time to the last bit is refused.
        if self._tokens >= 1 - 1e-6:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) * 60 / self.rpm

    @property
    def remaining(self) -> int:
        """Whole tokens left after the last `take`."""
        return max(0, math.floor(self._tokens))

    @property
    def full_in(self) -> float:
        """Seconds from the last `take` until the bucket is full again."""
        return max(0.0, (self.burst - self._tokens) * 60 / self.rpm)
