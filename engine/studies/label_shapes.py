"""Label sets of awkward shapes, made up: what the audit must not take for memory (METHOD 1.9)."""

from __future__ import annotations

import numpy as np

from molaudit.kernels import figures

from .predictors import Floats

SIZE = 3_000
FEW = 30
VALUES = 40


def label_shapes(seed: int = 0) -> dict[str, Floats]:
    """Return label sets by name, only labels that carry three figures.

    ``half steps`` (12.5, 13.5), ``40 values``, ``30 % tied`` (one value), ``converted`` (kcal to kJ), ``ends in 5``,
    ``percent near 100`` and ``30 labels``.
    """
    rng = np.random.default_rng(seed)
    normal = rng.normal(-3.0, 2.0, SIZE)
    tied = np.where(rng.random(SIZE) < 0.3, -2.35, np.round(normal, 2))
    made = {
        "half steps": np.round(2 * rng.normal(50, 15, 2 * SIZE)) / 2,
        "40 values": rng.choice(_distinct(np.round(rng.normal(-3.0, 2.0, 4 * VALUES), 2))[:VALUES], SIZE),
        "30 % tied": tied,
        "converted": np.round(np.round(normal, 2) * 4.184, 3),
        "ends in 5": (10 * np.round(10 * normal) + 5) / 100,
        "percent near 100": np.round(100 - rng.exponential(4, SIZE), 1),
        "30 labels": np.round(normal[:FEW], 2),
    }
    return {name: values[_scorable(values)] for name, values in made.items()}


def _distinct(values: Floats) -> Floats:
    """Return the values that carry three figures, each once, in order of first appearance."""
    kept = values[_scorable(values)]
    return kept[np.sort(np.unique(kept, return_index=True)[1])]


def _scorable(values: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((figures.carried(values) >= 3) & (values != 0))
