"""Counts of simulated reciters against plain simulation with format(), and against exact laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from thread_pieces import in_pieces

from molaudit.kernels import reciters
from molaudit.kernels.machine import threads

LABELS = np.round(np.random.default_rng(5).lognormal(1.2, 0.9, 300), 3)


def plain_counts(labels: np.ndarray, n: int, rate: float, base: str, draws: int) -> np.ndarray:
    """The same model with Python's format and numpy's generator."""
    rng = np.random.default_rng(8)
    out = np.zeros((draws, 3))
    for r in range(draws):
        for label in rng.permutation(labels)[:n]:
            answer = rng.choice(labels)
            if base == "window":
                digit, exponent = format(label, ".0e").split("e")
                low = 0.95 if digit == "1" else int(digit) - 0.5
                answer = rng.uniform(low, int(digit) + 0.5) * 10.0 ** int(exponent)
            if rng.random() < rate:
                answer = label
            for k in range(3):
                if format(answer, f".{k}e") != format(label, f".{k}e"):
                    break
                out[r, k] += 1
    return out


@pytest.mark.parametrize(("base", "rate"), [("window", 0.1), ("blind", 0.1), ("window", 0.0), ("blind", 0.0)])
def test_counts_agree_with_a_plain_simulation(base: str, rate: float) -> None:
    ours = reciters.counts(LABELS, [60], rate, base, seed=1, draws=20_000)[:, 0]  # type: ignore[arg-type]
    plain = plain_counts(LABELS, 60, rate, base, 300)
    error = np.sqrt(plain.var(axis=0) / len(plain) + ours.var(axis=0) / len(ours))
    # Twelve comparisons at four and a half standard errors: a false alarm in 10,000 runs.
    assert (np.abs(ours.mean(axis=0) - plain.mean(axis=0)) < 4.5 * error + 1e-12).all()
    np.testing.assert_allclose(ours.std(axis=0), plain.std(axis=0), rtol=0.25, atol=0.1)


@pytest.mark.parametrize(
    ("label", "chance"), [(3.14, 0.1), (1.23, 0.1 / 0.55), (0.973, 0.01 / 0.55), (8.55, 0.1)]
)
def test_second_figure_of_the_window_is_right_as_often_as_its_interval_is_wide(
    label: float, chance: float
) -> None:
    # 0.973 rounds to 1 at one figure: its window is 0.95 to 1.5, and 0.97 is 0.01 wide.
    counts = reciters.counts(np.full(50, label), [50], 0.0, "window", seed=3, draws=400)[:, 0]
    assert (counts[:, 0] == 50).all()
    low, high = binom.interval(1 - 1e-6, 50 * 400, chance)
    assert low <= counts[:, 1].sum() <= high


def test_full_recital_agrees_everywhere() -> None:
    counts = reciters.counts(LABELS, [1, 40, 300], 1.0, "blind", seed=0, draws=5)
    assert (counts == np.array([1, 40, 300])[None, :, None]).all()


def test_every_label_is_asked_once() -> None:
    # 100 labels of first figure 2 and 200 others, all asked: blind answers agree at one figure by their own figure.
    labels = np.concatenate([np.full(100, 2.11), np.full(200, 7.33)])
    counts = reciters.counts(labels, [300], 0.0, "blind", seed=0, draws=4_000)[:, 0, 0]
    # Each of 100 agrees with chance 1/3, each of 200 with 2/3: variance 300 x 2/9, mean 500/3.
    assert counts.mean() == pytest.approx(500 / 3, abs=5 * np.sqrt(300 * 2 / 9 / 4_000))
    assert counts.var() == pytest.approx(300 * 2 / 9, rel=0.12)


def test_cells_hold_the_smaller_ones_and_higher_rates_recite_more() -> None:
    low = reciters.counts(LABELS, [20, 50, 51, 300], 0.05, "window", seed=2, draws=50)
    high = reciters.counts(LABELS, [20, 50, 51, 300], 0.20, "window", seed=2, draws=50)
    assert (np.diff(low, axis=1) >= 0).all()
    assert ((low[:, 2] - low[:, 1]) <= 1).all()
    assert (high >= low).all()
    alone = reciters.counts(LABELS, [50], 0.05, "window", seed=2, draws=50)
    assert (alone[:, 0] == low[:, 1]).all()


def test_bits_do_not_depend_on_threads_or_chunks() -> None:
    with in_pieces():
        whole = reciters.counts(LABELS, [30, 200], 0.1, "window", seed=4, draws=64)
    with threads.limited(1):
        assert (reciters.counts(LABELS, [30, 200], 0.1, "window", seed=4, draws=64) == whole).all()
    assert (reciters.counts(LABELS, [30, 200], 0.1, "window", seed=4, draws=20, first=44) == whole[44:]).all()
    assert (reciters.counts(LABELS, [30, 200], 0.1, "window", seed=5, draws=64) != whole).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": [5, 3]}, "must ascend"),
        ({"sizes": [0]}, "must ascend within 1"),
        ({"sizes": [301]}, "found \\[301\\]"),
        ({"rate": 1.5}, "rate must lie"),
        ({"base": "other"}, "window or blind"),
        ({"label": [1.0, 0.0]}, "not zero"),
    ],
)
def test_misuse_is_said(change: dict[str, object], message: str) -> None:
    arguments = {"label": LABELS, "sizes": [1], "rate": 0.1, "base": "window", "seed": 0, "draws": 1} | change
    with pytest.raises(ValueError, match=message):
        reciters.counts(**arguments)  # type: ignore[arg-type]
