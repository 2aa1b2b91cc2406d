"""Positions, exact hits, answers next door and the neighbour test, against METHOD 1.4 in exact plain Python."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from molaudit.kernels import _positions, neighbours, simulate

Floats = NDArray[np.float64]


def exponent_of(label: float) -> int:
    return int(format(label, ".2e").split("e")[1]) - 2


def position(x: float, exponent: int) -> int:
    """Round x / 10^exponent from the exact binary value, ties to even."""
    exact = Fraction(x) / Fraction(10) ** exponent
    return round(exact)


def plain(labels: list[float], pairs: list[tuple[float, float, float | None]]) -> dict[str, float]:
    """METHOD 1.4 for one cell: pairs are (label, answer, own label among ``labels`` or None)."""

    def off(answer: float, label: float) -> int:
        e = exponent_of(label)
        return position(answer, e) - position(label, e)

    missed = [(y, a) for y, a, _ in pairs if format(y, ".2e") != format(a, ".2e")]
    sizes = sorted(abs(a - y) / 10.0 ** exponent_of(y) for y, a in missed)
    s = 1.4826 * float(np.median(sizes)) if len(missed) >= 10 else math.inf

    def weight(d: int) -> float:
        return math.exp(-abs(d) / s)

    def around(at: int, e: int, others: list[float]) -> tuple[int, float, int]:
        near = [d for d in (position(o, e) - at for o in others) if abs(d) <= 5]
        return near.count(0), sum(map(weight, near)), len(near)

    sums = np.zeros(3)
    core = [0, 0]
    for j, y in enumerate(labels):
        others = labels[:j] + labels[j + 1 :]
        e = exponent_of(y)
        sums += around(position(y, e), e, others)
        for o in others:
            d = abs(position(o, e) - position(y, e))
            core[0] += d == 0
            core[1] += d <= 1
    pooled = sums[0] / sums[1] if sums[1] else 0.0
    g = max(pooled, 1 / sum(weight(d) for d in range(-5, 6)))
    chances, hits = [], 0
    for y, a, own in pairs:
        if abs(off(a, y)) > 5:
            continue
        hits += off(a, y) == 0
        others = list(labels)
        if own is not None:
            others.remove(own)
        e = exponent_of(y)
        at, w, _ = around(position(a, e), e, others)
        chances.append((at + 2 * g) / (w + 2))
    tail = [1.0]
    for c in chances:
        tail = [p * (1 - c) + q * c for p, q in zip([*tail, 0.0], [0.0, *tail], strict=True)]
    exact = sum(off(a, y) == 0 for y, a, _ in pairs)
    beside = sum(abs(off(a, y)) == 1 for y, a, _ in pairs)
    b = max(0.6, core[0] / core[1] if core[1] else 0.0)
    untested = len(chances) < 15 or s < 5 or (sums[2] and sums[0] == sums[2])
    return {
        "exact": exact,
        "off_by_one": beside,
        "n_near": len(chances),
        "p_near": math.nan if untested else sum(tail[hits:]),
        "p_core": float(binom.sf(exact - 1, exact + beside, b)) if exact + beside >= 15 else math.nan,
        "scale": s,
    }


def ours(labels: Floats, pairs: list[tuple[float, float, float | None]]) -> dict[str, float]:
    label, answer, own = (
        np.array([math.nan if v is None else v for v in c]) for c in zip(*pairs, strict=True)
    )
    around = neighbours.neighbourhood(labels, label)
    scale, _ = neighbours.error_scale(label, answer)
    found = neighbours.next_door(around, label, answer, own, scale)
    return {
        "exact": found.exact,
        "off_by_one": found.off_by_one,
        "n_near": found.n_near,
        "p_near": neighbours.p_near(around, found, scale),
        "p_core": neighbours.p_core(around, found.exact, found.off_by_one),
        "scale": scale,
    }


def assert_same(labels: Floats, pairs: list[tuple[float, float, float | None]]) -> dict[str, float]:
    mine, theirs = ours(labels, pairs), plain(labels.tolist(), pairs)
    for name, value in theirs.items():
        assert mine[name] == pytest.approx(value, rel=1e-9, nan_ok=True), name
    return mine


def labels_across_powers_of_ten(seed: int, n: int) -> Floats:
    rng = np.random.default_rng(seed)
    made = [float(format(x, ".3g")) for x in rng.choice([-1, 1], n) * 10 ** rng.uniform(-1.3, 1.3, n)]
    return np.array(
        [*made, 0.995, 0.998, 1.0, 1.01, 1.02, 9.97, 9.99, 10.1, 10.0, -1.0, -0.996, 3.145, 3.155]
    )


@pytest.mark.parametrize("seed", range(4))
def test_all_counts_and_tails_are_those_of_plain_python(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = labels_across_powers_of_ten(seed, 150)
    scale = (0.002, 0.01, 0.05, 0.3)[seed]
    answers = labels * (1 + scale * rng.standard_normal(labels.size))
    recited = rng.random(labels.size) < 0.15
    answers = np.where(recited, labels, [float(format(a, ".2e")) for a in answers])
    pairs = list(zip(labels.tolist(), answers.tolist(), labels.tolist(), strict=True))
    found = assert_same(labels, pairs)
    assert found["n_near"] >= 15


def test_ties_are_rounded_from_the_binary_value_to_even_and_keep_their_sign() -> None:
    assert position(0.125, -2) == 12
    assert position(-0.375, -2) == -38
    at = np.array([0.125, -0.375, 2.675, -2.675, 0.996, 1005.0, 1015.0, 3.145, -0.0, 1e300, -1e300, math.nan])
    expected = [12, -38, 267, -267, 100, 1100, 1100, 315, 0, 1100, -1100, 1100]
    found = _positions.positions(at, np.full(at.size, -2))
    assert found.tolist() == expected


@given(
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0),
    st.integers(-12_000, 12_000),
)
def test_positions_agree_with_fractions_for_every_double(label: float, step: int) -> None:
    e = exponent_of(label)
    unit = Fraction(10) ** e
    # Numbers around the label, half units among them, as the nearest doubles.
    try:
        x = float(Fraction(label) + unit * Fraction(step, 10))
    except OverflowError:
        return
    expected = position(x, e)
    for value, wanted in ((x, expected), (label, position(label, e))):
        (found,) = _positions.positions(np.array([value]), np.array([e]))
        assert found == max(-1100, min(1100, wanted)) or abs(wanted) >= 1099


def test_decimal_ties_of_labels_agree_with_decimal() -> None:
    for k in range(1000, 10_000, 5):
        x = k / 1000
        expected = int((Decimal(x) / Decimal("0.01")).to_integral_value(ROUND_HALF_EVEN))
        assert _positions.positions(np.array([x]), np.array([-2])).tolist() == [expected]


def test_answers_below_a_power_of_ten_are_next_door() -> None:
    labels = np.array([1.0, 9.99, 10.0] * 8)
    # On the unit of 1.00, 0.994 rounds to 99 and 0.996 to 100.
    pairs = [(1.0, 0.994, 1.0), (1.0, 0.996, 1.0), (9.99, 10.0, 9.99), (10.0, 9.99, 10.0)]
    found = assert_same(labels, pairs)
    assert (found["exact"], found["off_by_one"], found["n_near"]) == (2, 2, 4)


def test_zero_answers_and_others_out_of_reach_are_not_near() -> None:
    labels = np.array([1.0, 1.02, -1.0, 5.55])
    pairs = [(1.0, 0.0, 1.0), (1.02, math.inf, 1.02), (-1.0, 1.0, -1.0), (5.55, 5.61, 5.55)]
    found = ours(labels, pairs)
    assert (found["exact"], found["off_by_one"], found["n_near"]) == (0, 0, 0)


def test_a_label_that_does_not_stand_among_the_others_takes_none_away() -> None:
    labels = np.round(np.random.default_rng(5).normal(3, 0.3, 80), 2)
    pairs: list[tuple[float, float, float | None]] = [
        (y, y, None if i % 2 else y) for i, y in enumerate(labels)
    ]
    pairs += [(4.321, 4.32, None), (4.4, 4.5, None)]
    assert_same(labels, pairs)


def test_labels_on_a_lattice_leave_exact_hits_without_meaning() -> None:
    labels = np.round(np.random.default_rng(6).normal(30, 3, 200)) + 0.5
    around = neighbours.neighbourhood(labels)
    assert around.near_share == 1.0
    assert around.equal_share == 1.0
    pairs = [(y, y, y) for y in labels]
    found = assert_same(labels, pairs)
    assert found["p_core"] == 1.0
    assert math.isnan(found["p_near"])


def test_fifteen_answers_are_needed() -> None:
    labels = labels_across_powers_of_ten(7, 100)
    for n, tested in ((14, False), (15, True)):
        pairs = [(y, y, y) for y in labels[:n].tolist()] + [(y, 2 * y, y) for y in labels[:20].tolist()]
        found = assert_same(labels, pairs)
        assert math.isnan(found["p_near"]) != tested
        assert math.isnan(found["p_core"]) != tested


def test_a_scale_below_five_units_is_resolution_and_no_test() -> None:
    labels = labels_across_powers_of_ten(8, 100)
    pairs = [(y, y * 1.004, y) for y in labels.tolist()]
    found = assert_same(labels, pairs)
    assert found["scale"] < 5
    assert math.isnan(found["p_near"])


def test_ties_do_not_hide_a_reciter_from_its_neighbours() -> None:
    """30 % of the labels are one value: the pooled floor rises, the neighbour test does not lose the reciter."""
    rng = np.random.default_rng(9)
    labels = np.where(rng.random(1500) < 0.3, -2.35, np.round(rng.normal(-3, 2, 1500), 2))
    labels = labels[np.abs(labels) >= 0.1]
    base = simulate.skilled(labels, 0.9, 1, 10)
    for row in simulate.reciter(labels, base, 0.05, 1):
        pairs = list(zip(labels[:500].tolist(), row[:500].tolist(), labels[:500].tolist(), strict=True))
        assert ours(labels, pairs)["p_near"] < 0.05


def test_labels_without_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="not zero"):
        neighbours.neighbourhood([1.0, 0.0])
