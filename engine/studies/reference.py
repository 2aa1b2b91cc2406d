"""The bar that a model must clear before skill could explain its digits: the reference predictor (METHOD 1.5)."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from molaudit.kernels import simulate

DRAWS = 200
MIN_MOLECULES = 30

Form = Literal["window", "first figure"]


def reference_r(
    labels: npt.ArrayLike,
    *,
    form: Form = "window",
    bounds: tuple[float, float] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> float | None:
    """Return the mean Pearson r of a predictor that gets the first figure right and knows nothing below it.

    Parameters
    ----------
    labels
        Labels of a cell's scorable molecules, shape (n,), one a molecule, finite and not zero.
    form
        ``window``: uniform over the values that round to the label's first figure. ``first figure``: the label
        rounded to one figure, times 1 + U(-0.05, 0.05).
    bounds
        Lowest and highest label of the benchmark, to which the predictions are clipped; default: of ``labels``.
    draws, seed
        Simulated sets, one prediction a molecule in each.

    Returns
    -------
    float or None
        None below 30 molecules, or where the labels or the predictions do not vary.
    """
    values = np.asarray(labels, dtype=np.float64)
    if values.size < MIN_MOLECULES:
        return None
    low, high = (values.min(), values.max()) if bounds is None else bounds
    predict = simulate.window if form == "window" else simulate.first_figure
    predicted = np.clip(predict(values, seed, draws), low, high)
    if np.ptp(values) == 0 or not np.ptp(predicted, axis=1).all():
        return None
    x = values - values.mean()
    y = predicted - predicted.mean(axis=1, keepdims=True)
    scale = np.sqrt((x @ x) * (y * y).sum(axis=1))
    return float(((y @ x) / scale).mean())
