"""Codes, cleaning and carried figures against Python's format and Decimal; agreement against plain loops."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shared_data import DATA, require
from thread_pieces import in_pieces

from molaudit.bench import kernels_figures as peers
from molaudit.bench.rows import c_library
from molaudit.kernels import figures
from molaudit.kernels.figures import (
    digits as _figures_digits,
)
from molaudit.kernels.figures import (
    encoding as _figures_codes,
)
from molaudit.kernels.figures import (
    exact as _figures_exact,
)
from molaudit.kernels.figures import (
    tables as _figures_tables,
)
from molaudit.kernels.machine import threads

BLINDING = DATA / "published" / "blinding"
KS = (1, 2, 3)


def rounded(value: float, k: int) -> str:
    """Write k figures as the oracle does, or "none"."""
    return format(value, f".{k - 1}e") if value != 0 and math.isfinite(value) else "none"


def packed(text: str) -> int:
    """Encode the oracle's text by the formula in the docstring of ``codes``."""
    if text == "none":
        return 0
    mantissa, exponent = text.split("e")
    code = (int(exponent) + 400) << 10 | int(mantissa.replace(".", "").lstrip("-"))
    return -code if text.startswith("-") else code


def cleaned(value: float) -> float:
    return float(format(value, ".11e"))


def stripped(value: float) -> int:
    if value == 0 or not math.isfinite(value):
        return 0
    return len("".join(map(str, Decimal(repr(cleaned(value))).as_tuple().digits)).strip("0"))


def random_doubles(n: int, seed: int) -> NDArray[np.float64]:
    """Return doubles of uniformly random bits: all magnitudes, subnormals, NaN."""
    bits = np.random.default_rng(seed).integers(-(2**63), 2**63, n, dtype=np.int64)
    return bits.view(np.float64)


def with_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.concatenate([values, -values])
    with np.errstate(over="ignore"):
        return np.concatenate([values, np.nextafter(values, 0), np.nextafter(values, np.inf)])


def hard_values() -> NDArray[np.float64]:
    """Return ties, powers of ten, powers of two, subnormals and the named cases, with their neighbours."""
    ties = [
        float(f"{digits}5e{power}")
        for digits in (*range(1, 100), *range(100, 1000, 7))
        for power in (
            -330,
            -310,
            -50,
            -24,
            -12,
            -6,
            -4,
            -3,
            -2,
            -1,
            0,
            1,
            2,
            4,
            10,
            18,
            20,
            21,
            22,
            23,
            100,
            300,
        )
    ]
    tens = [float(f"1e{power}") for power in range(-323, 309)]
    twos = [math.ldexp(1.0, power) for power in range(-1074, 1024)]
    named = [9.995, 1e22, 1e300, 0.25, 0.15, 2.5, 0.949, 0.951, 99.95, 999.5, 1.7976931348623157e308]
    finite = [
        value for value in (*ties, *tens, *twos, *named, 5e-324, 2.2250738585072014e-308) if value < 1e308
    ]
    return np.concatenate([with_neighbours(np.array(finite)), [0.0, -0.0, np.nan, np.inf, -np.inf]])


def label_like(n: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=n) * 10.0 ** rng.integers(-2, 5, n).astype(float), 3)


@pytest.mark.parametrize("k", KS)
def test_codes_equal_format_on_ties_powers_and_all_magnitudes(k: int) -> None:
    values = np.concatenate([hard_values(), random_doubles(40_000, 1), label_like(20_000, 2)])
    expected = np.array([packed(rounded(value, k)) for value in values.tolist()])
    codes = figures.codes(values, k)
    assert values[codes != expected].tolist() == []
    np.testing.assert_array_equal(figures.codes_all(values)[k - 1], codes)


@pytest.mark.slow
def test_codes_equal_format_on_ten_million_random_doubles() -> None:
    for chunk in range(20):
        values = random_doubles(500_000, 100 + chunk)
        codes = figures.codes_all(values)
        as_list = values.tolist()
        for k in KS:
            expected = np.array([packed(rounded(value, k)) for value in as_list])
            assert values[codes[k - 1] != expected].tolist() == []


@settings(deadline=None, max_examples=300)
@given(st.floats(), st.sampled_from(KS))
def test_text_of_a_code_is_what_format_writes(value: float, k: int) -> None:
    assert figures.text(int(figures.codes([value], k)[0])) == rounded(value, k)


def test_codes_are_ordered_as_the_rounded_values() -> None:
    values = np.sort(label_like(5_000, 3))
    for k in KS:
        assert (np.diff(figures.codes(values[values != 0], k)) >= 0).all()


def test_codes_refuse_other_figures_and_shapes() -> None:
    with pytest.raises(ValueError, match="1, 2 or 3"):
        figures.codes([1.0], 4)
    with pytest.raises(ValueError, match="one-dimensional"):
        figures.codes_all(np.ones((2, 2)))


def test_codes_of_nothing_are_nothing() -> None:
    assert figures.codes([], 2).tolist() == []
    assert figures.codes_all([]).shape == (3, 0)


def test_every_quarter_unit_rounds_half_to_even_by_multiplication() -> None:
    for figure, unit in ((1, 400), (2, 40), (3, 4)):
        for quarter in range(400, 8_000):
            step = unit * 10 if quarter >= 4_000 else unit
            digits = round(Fraction(quarter, step))
            exponent = 7 + (quarter >= 4_000)
            if digits == 10**figure:
                digits, exponent = digits // 10, exponent + 1
            assert _figures_codes.pack(-1.0, quarter, 7, figure) == -((exponent + 400) << 10 | digits)


def test_decimal_floor_is_exact_for_every_binary_exponent() -> None:
    for b in range(_figures_tables.B_MIN, _figures_tables.B_MAX + 1):
        e = _figures_codes.decimal_floor(b)
        assert Fraction(10) ** e <= Fraction(2) ** b < Fraction(10) ** (e + 1)


@pytest.mark.parametrize("figure", [3, 12])
def test_scales_are_within_their_stated_error(figure: int) -> None:
    scale = _figures_tables.scale(figure)
    for b in range(_figures_tables.B_MIN, _figures_tables.B_MAX + 1, 13):
        exact = 2 * Fraction(2) ** b * Fraction(10) ** (figure - 1 - _figures_codes.decimal_floor(b))
        at = b - _figures_tables.B_MIN
        both = Fraction(float(scale.high[at])) + Fraction(float(scale.low[at]))
        assert abs(both - exact) <= exact * Fraction(1, 2**106)


@pytest.mark.slow
def test_no_double_comes_nearer_to_a_tie_than_the_codes_resolve() -> None:
    """Every half unit of every decade against its nearest double, in integers: on it, or 2**-65 away."""
    limit = Fraction(1, 2**65)
    nearest = Fraction(1)
    for exponent in range(-324, 309):
        q = exponent - 2
        unit, parts = (10**q, 2) if q >= 0 else (1, 2 * 10**-q)
        for halves in range(200, 2_000):
            try:
                value = max(halves * unit / parts, 5e-324)
            except OverflowError:
                continue
            top, bottom = value.as_integer_ratio()
            distance = abs(top * parts - halves * unit * bottom)  # over (unit * bottom): half units
            if distance and distance << 55 < unit * bottom:
                nearest = min(nearest, Fraction(distance, unit * bottom))
    assert limit < nearest < Fraction(1, 2**55)


def test_clean_and_carried_equal_format_and_decimal() -> None:
    rng = np.random.default_rng(4)
    digits = rng.integers(10**11, 10**12, 600)
    twelve = np.array([float(f"{d}5e{p}") for d, p in zip(digits, rng.integers(-340, 290, 600), strict=True)])
    exact_ties = np.concatenate(
        [digits + 0.5, digits * 10.0 + 5.0, digits / 8.0, (2.0 * digits + 1) * 2.0**-20]
    )
    subnormal = (rng.integers(1, 2**52, 300) >> rng.integers(0, 52, 300)).view(np.float64)
    values = np.concatenate(
        [
            with_neighbours(np.concatenate([twelve, exact_ties, subnormal])),
            hard_values()[::3],
            label_like(5_000, 5),
        ]
    )
    values = np.concatenate([values, random_doubles(8_000, 6), rng.normal(size=5_000)])
    as_list = values.tolist()
    np.testing.assert_array_equal(figures.clean(values), np.array([cleaned(value) for value in as_list]))
    np.testing.assert_array_equal(figures.carried(values), np.array([stripped(value) for value in as_list]))


@pytest.mark.slow
def test_clean_and_carried_equal_the_oracle_on_two_million_random_doubles() -> None:
    values = random_doubles(2_000_000, 7)
    as_list = values.tolist()
    np.testing.assert_array_equal(figures.clean(values), np.array([cleaned(value) for value in as_list]))
    np.testing.assert_array_equal(figures.carried(values), np.array([stripped(value) for value in as_list]))


@settings(deadline=None, max_examples=300)
@given(st.floats())
def test_clean_and_carried_hold_for_any_float(value: float) -> None:
    result = figures.clean([value])[0]
    assert np.array_equal(result, cleaned(value), equal_nan=True)
    assert math.copysign(1, result) == math.copysign(1, value) or math.isnan(value)
    assert figures.carried([value])[0] == stripped(value)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1), st.integers(-1100, 1100), st.integers(-346, 346))
def test_exact_comparison_agrees_with_fractions(left: int, right: int, twos: int, fives: int) -> None:
    other = right * Fraction(2) ** twos * Fraction(5) ** fives
    assert _figures_exact.compare(left, right, twos, fives) == (left > other) - (left < other)


def test_exact_comparison_sees_equality_and_the_last_unit() -> None:
    for fives in (0, 1, 22, 27):
        right = 5**27 // 5**fives
        assert [_figures_exact.compare(5**27 + d, right, 0, fives) for d in (-1, 0, 1)] == [-1, 0, 1]
        assert _figures_exact.compare(right, 5**27, 0, -fives) == 0


def test_doubtful_roundings_settle_on_the_nearest_double_from_a_few_steps_away() -> None:
    rng = np.random.default_rng(11)
    cases = [
        (int(d), int(q))
        for d, q in zip(rng.integers(10**11, 10**12, 60), rng.integers(-335, 297, 60), strict=True)
    ]
    # Odd whole numbers of 54 bits: exactly between two doubles.
    cases += [(d, 6) for d in (576_460_752_305, 576_460_752_307, 999_999_999_999)]
    for digits, q in cases:
        right = float(f"{digits}e{q}")
        for towards in (0.0, np.inf):
            guess = np.nextafter(np.nextafter(right, towards), towards)
            assert _figures_digits._settle(digits, q, guess) == right
        assert _figures_digits.nearest_double(digits, q) == right


def test_the_peers_of_the_benchmark_agree_with_the_codes() -> None:
    library, _ = c_library("figures")
    share_wrong = peers.check(peers.example_values(20_000), library)
    assert 0 < share_wrong < 0.05  # numpy's formula is inexact, ours and C's are not


@pytest.mark.parametrize(
    ("answer", "label", "nested"),
    [
        (-3.18, -3.18, 3),
        (-3.1, -3.18, 1),
        (9.996, 10.0, 3),
        (0.0318, 0.318, 0),
        (3.18, -3.18, 0),
        (0.25, 0.2, 1),
        (0.949, 0.951, 0),
        (0.0, 0.0, 0),
        (math.inf, math.inf, 0),
        (math.nan, 3.18, 0),
    ],
)
def test_depth_of_pairs_worked_by_hand(answer: float, label: float, nested: int) -> None:
    assert figures.depth([answer], [label]).tolist() == [nested]


def loop_patterns(pred: list[float], label: list[float], prefix: bool) -> list[list[bool]]:
    """Compare texts: per pair whether it agrees at 1, 2, 3 figures."""
    result = []
    for p, y in zip(pred, label, strict=True):
        texts = [(rounded(p, k), rounded(y, k)) for k in KS]
        if "none" in texts[2]:
            result.append([False] * 3)
        elif prefix:
            (mantissa_p, e_p), (mantissa_y, e_y) = (text.split("e") for text in texts[2])
            cut = [len(mantissa_p) - drop for drop in (3, 1, 0)]
            result.append([mantissa_p[:c] == mantissa_y[:c] and e_p == e_y for c in cut])
        else:
            result.append([a == b for a, b in texts])
    return result


def noisy_pairs(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return pairs that agree at every depth often, zeros and non-numbers among the answers."""
    rng = np.random.default_rng(8)
    label = np.round(rng.normal(size=n) * 5, 2)
    pred = np.round(label * (1 + rng.choice([0, 0.004, 0.03, 0.5], n) * rng.normal(size=n)), 2)
    pred[::17] = rng.choice([0.0, np.nan, np.inf, -1.0], pred[::17].size)
    return pred, label


@pytest.mark.parametrize("prefix", [False, True])
def test_agreement_counts_equal_a_loop_over_texts(prefix: bool) -> None:
    n = 3_000
    pred, label = noisy_pairs(n)
    group = np.random.default_rng(9).integers(0, 5, n)
    scorable = np.abs(label) > 0.4
    expected = np.zeros((6, 7), dtype=np.int64)
    patterns = loop_patterns(pred.tolist(), label.tolist(), prefix)
    for g, use, (one, two, three) in zip(group.tolist(), scorable.tolist(), patterns, strict=True):
        if use:
            nested = [one, one and two, one and two and three]
            expected[g] += np.array([1, *nested, one, two, three], dtype=np.int64)
    counts = figures.agreement(pred, label, scorable, group, 6, prefix=prefix)
    assert (expected[:5, 3] < expected[:5, 6]).any() or prefix  # the case tells nested from flat
    np.testing.assert_array_equal(counts, expected)


def test_agreement_does_not_depend_on_threads() -> None:
    pred, label = noisy_pairs(5_000)
    group = np.arange(5_000) % 7
    scorable = label != 0
    with threads.limited(1):
        alone = figures.agreement(pred, label, scorable, group, 7)
    with in_pieces():
        np.testing.assert_array_equal(figures.agreement(pred, label, scorable, group, 7), alone)


def test_agreement_accepts_read_only_and_strided_columns() -> None:
    pred, label = noisy_pairs(100)
    pred.setflags(write=False)
    twice = np.repeat(label, 2)[::2]
    scorable, group = [True] * 100, [0] * 100
    expected = figures.agreement(pred.copy(), label, scorable, group, 1)
    np.testing.assert_array_equal(figures.agreement(pred, twice, scorable, group, 1), expected)


def test_agreement_refuses_groups_out_of_range_and_unequal_lengths() -> None:
    with pytest.raises(ValueError, match=r"group must lie in 0\.\.1"):
        figures.agreement([1.0], [1.0], [True], [2], 2)
    with pytest.raises(ValueError, match="group must lie"):
        figures.agreement([1.0], [1.0], [True], [-1], 2)
    with pytest.raises(ValueError, match="lengths differ: pred 1, label 2"):
        figures.agreement([1.0], [1.0, 2.0], [True], [0], 1)


def test_agreement_of_nothing_is_zero() -> None:
    assert figures.agreement([], [], [], [], 2).tolist() == [[0] * 7] * 2


def test_pairwise_counts_equal_a_loop_over_texts() -> None:
    n = 3_000
    pred, label = noisy_pairs(n)
    of_pred, of_label = figures.carried(pred), figures.carried(label)
    group = np.arange(n) % 3
    expected = np.zeros((3, 6), dtype=np.int64)
    patterns = loop_patterns(pred.tolist(), label.tolist(), False)
    for g, a, b, (one, two, three) in zip(group.tolist(), of_pred, of_label, patterns, strict=True):
        both = min(a, b)
        expected[g] += np.array(
            [
                b >= 3 and three,
                b >= 3,
                both >= 2 and one,
                both >= 2 and one and two,
                both >= 3 and two,
                both >= 3 and two and three,
            ],
            dtype=np.int64,
        )
    np.testing.assert_array_equal(
        figures.agreement_pairwise(pred, label, of_pred, of_label, group, 3), expected
    )


def test_pairwise_counts_reproduce_the_54_published_cells() -> None:
    require(BLINDING)
    labels = pl.read_csv(BLINDING / "labels.csv", infer_schema=False).select(
        "benchmark", "molecule", pl.col("label").cast(pl.Float64)
    )
    answers = pl.read_parquet(BLINDING / "zero_shot_predictions.parquet").drop_nulls("prediction")
    published = pl.read_csv(BLINDING / "published_counts.csv")
    cells = published.select("benchmark", "model").with_row_index("cell")
    pairs = answers.join(labels, on=["benchmark", "molecule"]).join(cells, on=["benchmark", "model"])
    pred, label = pairs["prediction"].to_numpy(), figures.clean(pairs["label"].to_numpy())
    counts = figures.agreement_pairwise(
        pred, label, figures.carried(pred), figures.carried(label), pairs["cell"], published.height
    )
    columns = ["match3", "total3", "m1", "m2", "m2_lvl3", "m3"]
    difference = published.select(columns).to_numpy() - counts
    assert published.height == 54
    assert np.abs(difference[:, [0, 2, 3, 4, 5]]).sum() == 0
    # The published totals count asked pairs, ours answered ones.
    assert 0 <= difference[:, 1].min() <= difference[:, 1].max() < 20
