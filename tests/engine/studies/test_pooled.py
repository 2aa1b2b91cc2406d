"""Bounds where all samples of a molecule count: repeats of one molecule are not independent."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import molaudit

QUICK = {"repeats": 50, "samples": "pool", "resamples": 4000}
BOUNDS = [f"{rate}{end}" for rate in ("R12", "R23", "hit3") for end in ("_low", "_high")] + ["hit3_upper"]


def score(labels: np.ndarray, answers: np.ndarray, **settings: Any) -> dict[str, Any]:
    """Score answers of shape (molecules, samples)."""
    names = [f"m{i}" for i in range(labels.size)]
    truth = pl.DataFrame({"molecule": names, "label": [f"{y:.2f}" for y in labels], "kind": "measured"})
    samples = answers.shape[1]
    given = pl.DataFrame(
        {
            "model": "m",
            "molecule": np.repeat(names, samples),
            "sample": np.tile(np.arange(samples), labels.size),
            "prediction": answers.ravel(),
        }
    )
    (row,) = molaudit.score(given, truth, **(QUICK | settings)).cells.to_dicts()
    return row


def some_labels(n: int, seed: int = 0) -> np.ndarray:
    labels = np.round(np.random.default_rng(seed).uniform(1, 9, 2 * n), 2)
    return labels[np.round(labels * 100) % 10 != 0][:n]


def test_five_equal_answers_that_miss_bound_no_more_than_one() -> None:
    """113 scorable molecules: 1 - 0.05^(1/113) = 0.026, where 565 independent answers would give 0.0053."""
    labels = some_labels(113)
    row = score(labels, np.repeat(labels[:, None] * 1.5, 5, axis=1))
    assert (row["n_usable"], row["m3"]) == (565, 0)
    assert row["hit3_upper"] == pytest.approx(0.026, abs=5e-4)
    assert row["hit3_upper"] == pytest.approx(1 - 0.05 ** (1 / 113), rel=1e-9)
    assert (row["hit3_low"], row["hit3_high"]) == (0, pytest.approx(1 - 0.025 ** (1 / 113)))


def test_five_equal_answers_that_hit_are_no_more_than_one_either() -> None:
    labels = some_labels(40)
    row = score(labels, np.repeat(labels[:, None], 5, axis=1))
    for rate in ("R12", "R23", "hit3"):
        assert row[f"{rate}_low"] == pytest.approx(0.025 ** (1 / 40))
        assert row[f"{rate}_high"] == 1


@pytest.mark.parametrize("protocol", ["recall", "blinding"])
def test_bounds_are_those_of_a_bootstrap_over_molecules(protocol: str) -> None:
    rng = np.random.default_rng(3)
    labels = some_labels(80)
    knows = rng.random(80) < 0.4
    answers = labels[:, None] * (1 + 0.1 * rng.standard_normal((80, 5)))
    answers = np.where(knows[:, None] & (rng.random((80, 5)) < 0.9), labels[:, None], np.round(answers, 2))
    row = score(labels, answers, protocol=protocol)

    def agree(a: float, y: float, k: int) -> bool:
        return format(a, f".{k - 1}e") == format(y, f".{k - 1}e")

    def carried(a: float) -> int:
        return len(f"{a:.12g}".replace(".", "").strip("0"))

    counts = np.zeros((80, 6))  # trials and hits of the three rates, by molecule
    for i, y in enumerate(labels):
        for a in answers[i]:
            one, two, three = (agree(a, y, k) for k in (1, 2, 3))
            if protocol == "recall":
                counts[i] += [one, one and two, one and two, one and two and three, 1, one and two and three]
            else:
                at2, at3 = carried(a) >= 2, carried(a) >= 3
                first = [at2 and one, at2 and one and two, at3 and two, at3 and two and three]
                counts[i] += [*first, 1, three]
    drawn = counts[rng.integers(0, 80, (20_000, 80))].sum(axis=1)
    for at, rate in enumerate(("R12", "R23", "hit3")):
        ratios = drawn[:, 2 * at + 1] / drawn[:, 2 * at]
        low, high, upper = np.quantile(ratios, [0.025, 0.975, 0.95])
        assert row[f"{rate}_low"] == pytest.approx(low, abs=0.012)
        assert row[f"{rate}_high"] == pytest.approx(high, abs=0.012)
    assert row["hit3_upper"] == pytest.approx(upper, abs=0.012)


def test_one_hit_bounds_no_less_than_none() -> None:
    labels = some_labels(100)
    answers = np.repeat(labels[:, None] * 1.5, 5, axis=1)
    none = score(labels, answers)
    answers[0, 0] = labels[0]
    assert score(labels, answers)["hit3_upper"] >= none["hit3_upper"]


def test_rates_without_trials_have_no_bounds() -> None:
    labels = some_labels(10)
    row = score(labels, np.repeat(labels[:, None] * 100, 3, axis=1))
    assert (row["R12_low"], row["R23_high"]) == (None, None)
    empty = score(labels, np.full((10, 2), np.nan))
    assert [empty[name] for name in BOUNDS] == [None] * len(BOUNDS)


def test_the_first_sample_alone_keeps_the_exact_interval() -> None:
    labels = some_labels(50)
    row = score(labels, np.repeat(labels[:, None] * 1.5, 5, axis=1), samples="first")
    assert row["hit3_upper"] == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-9)
