"""Response to the shown label: what changes between C2, the true label, and C3, the false one (METHOD 2.4).

Samples count where both answers could be read; the others are counted beside. Toward, away and unchanged sum to 1;
``follows`` (C3 equals the shown label, changed or not) stands beside them and is never the response.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from molaudit.kernels import intervals, tails

from .diagnostic_scores import jaccard

EXACT_CLUSTERS = 16
"""Up to so many clusters all sign flips are counted, 65,536 at most."""
_STEPS = 100


class Response(NamedTuple):
    """Shares of samples and their counts; shares are None where ``n`` is 0. ``left_out`` had no pair of answers."""

    n: int
    left_out: int
    toward: float | None
    away: float | None
    unchanged: float | None
    follows: float | None
    low: float | None
    high: float | None
    toward_count: int
    away_count: int


def _response(toward: int, away: int, follows: int, n: int, left_out: int, level: float) -> Response:
    if n == 0:
        return Response(0, left_out, None, None, None, None, None, None, 0, 0)
    low, high = (float(bound) for bound in intervals.clopper_pearson(toward, n, level))
    unchanged = (n - toward - away) / n
    return Response(
        n, left_out, toward / n, away / n, unchanged, follows / n, low, high, toward, away
    )  # fmt: skip


def switching(
    c2: Sequence[str | None], c3: Sequence[str | None], false: Sequence[str], level: float = 0.95
) -> Response:
    """Directional switching of binary answers: C3 differs from C2 and equals the false label.

    The interval is Clopper and Pearson's, of the share toward.

    Raises
    ------
    ValueError
        Sequences of different length.
    """
    toward = away = follows = n = 0
    for two, three, shown in zip(c2, c3, false, strict=True):
        if two is None or three is None:
            continue
        n += 1
        follows += three == shown
        toward += two != three and three == shown
        away += three not in (two, shown)
    return _response(toward, away, follows, n, len(false) - n, level)


def yield_response(
    c2: Sequence[float | None], c3: Sequence[float | None], true: Sequence[float], false: Sequence[float],
    level: float = 0.95,
) -> Response:  # fmt: skip
    """Share of pairs whose prediction moves the way that the label moved: (p3 - p2) (false - true) > 0.

    ``away`` are those that move the other way; unchanged ones stay in the denominator.

    Raises
    ------
    ValueError
        Sequences of different length.
    """
    toward = away = follows = n = 0
    for two, three, s, f in zip(c2, c3, true, false, strict=True):
        if two is None or three is None:
            continue
        n += 1
        moved = (three > two) - (three < two)
        asked = (f > s) - (f < s)
        toward += moved * asked > 0
        away += moved * asked < 0
        follows += three == f
    return _response(toward, away, follows, n, len(true) - n, level)


def switching_p(response: Response) -> float:
    """McNemar's exact test of toward against away; 1 where nothing changed.

    For yields it is the sign test on the changed pairs.
    """
    return float(tails.mcnemar(response.toward_count, response.away_count))


def tango(b: int, c: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval of a difference of paired rates, (b - c) / n (Tango, Statistics in Medicine 17, 1998).

    Parameters
    ----------
    b, c
        Pairs that only the first, and only the second measurement has: C3 equals F and C2 does not, and the reverse.
    n
        All pairs.

    Raises
    ------
    ValueError
        Not b, c >= 0 with b + c <= n and n >= 1.
    """
    if b < 0 or c < 0 or n < 1 or b + c > n:
        raise ValueError(f"found b = {b}, c = {c}, n = {n}; allowed: b, c >= 0, b + c <= n, n >= 1")
    z = float(_normal_quantile(0.5 + level / 2))
    at = (b - c) / n

    def inside(delta: float) -> bool:
        return abs(_tango_score(b, c, n, delta)) <= z

    return _edge(inside, at, -1.0), _edge(inside, at, 1.0)


def _normal_quantile(p: float) -> float:
    from scipy import special

    return float(special.ndtri(p))


def _tango_score(b: int, c: int, n: int, delta: float) -> float:
    top = b - c - n * delta
    second = (2 * n - b + c) * delta - b - c
    third = -c * delta * (1 - delta)
    q = (math.sqrt(max(0.0, second * second - 8 * n * third)) - second) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    if variance <= 0:
        return 0.0 if abs(top) < 1e-9 else math.copysign(math.inf, top)
    return top / math.sqrt(variance)


def _edge(inside: Callable[[float], bool], start: float, end: float) -> float:
    if inside(end):
        return end
    near, far = start, end
    for _ in range(_STEPS):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if inside(middle) else (near, middle)
    return 0.5 * (near + far)


def set_response(c2: Set[str] | None, c3: Set[str] | None, true: Set[str], false: Set[str]) -> float | None:
    """How far a set of descriptors moves from the true source set A to the false one F.

    ((J(P3,F) - J(P2,F)) - (J(P3,A) - J(P2,A))) / (2 - 2 J(A,F)); 1 from exactly A to exactly F, None where A = F or
    an answer could not be read.

    Examples
    --------
    >>> set_response({"sweet"}, {"woody"}, {"sweet"}, {"woody"})
    1.0
    """
    if c2 is None or c3 is None or true == false:
        return None
    toward = jaccard(c3, false) - jaccard(c2, false)
    away = jaccard(c3, true) - jaccard(c2, true)
    return (toward - away) / (2 - 2 * jaccard(true, false))


class MeanResponse(NamedTuple):
    """Mean over samples with a bootstrap interval over clusters, and the p of sign flips by cluster."""

    n: int
    left_out: int
    mean: float | None
    low: float | None
    high: float | None
    p: float | None


def mean_response(
    responses: Sequence[float | None],
    clusters: Sequence[int],
    *,
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> MeanResponse:
    """Mean set response. Directed samples of one pair are one cluster: drawn and flipped together.

    Raises
    ------
    ValueError
        Sequences of different length.
    """
    kept = [(r, c) for r, c in zip(responses, clusters, strict=True) if r is not None]
    left_out = len(clusters) - len(kept)
    if not kept:
        return MeanResponse(0, left_out, None, None, None, None)
    sums, sizes = _by_cluster(kept)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=resamples)
    means = (counts @ sums) / (counts @ sizes)
    tail = 0.5 * (1 - level)
    low, high = np.quantile(means, [tail, 1 - tail])
    mean = float(sums.sum() / sizes.sum())
    return MeanResponse(
        len(kept), left_out, mean, float(low), float(high), sign_flip_p(sums, resamples, seed)
    )


def _by_cluster(kept: Sequence[tuple[float, int]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table: dict[int, list[float]] = {}
    for value, cluster in kept:
        row = table.setdefault(cluster, [0.0, 0.0])
        row[0] += value
        row[1] += 1
    rows = np.array(list(table.values()))
    return rows[:, 0], rows[:, 1]


def sign_flip_p(sums: NDArray[np.float64], draws: int, seed: int) -> float:
    """Two-sided p that cluster sums are symmetric about 0: all sign flips, or seeded draws where there are many.

    Drawn flips count the observed one too, so p is never 0.
    """
    observed = abs(float(sums.sum())) - 1e-12
    if len(sums) <= EXACT_CLUSTERS:
        flips = (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1
        return float((np.abs((1 - 2 * flips) @ sums) >= observed).mean())
    rng = np.random.default_rng([seed, 1])
    reached = 0
    for first in range(0, draws, 10_000):
        signs = rng.integers(0, 2, (min(10_000, draws - first), len(sums)), dtype=np.int8)
        reached += int((np.abs((1 - 2.0 * signs) @ sums) >= observed).sum())
    return (reached + 1) / (draws + 1)
