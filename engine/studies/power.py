"""The chance that the audit flags a cell, before money is spent (METHOD 1.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import floors, reciters, tails

from ..errors import InputError
from .floors_table import usable_labels
from .verdicts import MIN_TRIALS

SIZES = (30, 50, 100, 200, 500)
RATES = (0.01, 0.02, 0.05, 0.10, 0.20)
CELLS = 264
"""Cells of the published map: 22 models on 12 benchmarks."""

DRAWS = 2_000
QUICK_DRAWS = 400
TARGET = 0.80
_PROBES = 16

Floats = npt.NDArray[np.float64]

POWER_SCHEMA = {
    "benchmark": pl.String,
    "n": pl.Int64,
    "rate": pl.Float64,
    "cells": pl.Int64,
    "bound": pl.String,
    "level": pl.Float64,
    "power": pl.Float64,
    "power_se": pl.Float64,
}
N80_SCHEMA = {
    "benchmark": pl.String,
    "n_label": pl.Int64,
    "rate": pl.Float64,
    "cells": pl.Int64,
    "bound": pl.String,
    "level": pl.Float64,
    "n80": pl.Int64,
}


class PowerTables(NamedTuple):
    """``power``: one row a benchmark, n, rate and bound. ``n80``: the smallest n for 80 %, null if not reached."""

    power: pl.DataFrame
    n80: pl.DataFrame

    def by_size(self) -> pl.DataFrame:
        """Return one row a benchmark, rate and bound, with the power at each n and n80: the shape to read."""
        key = ["benchmark", "rate", "bound"]
        shown = self.power.with_columns(pl.col("power").round(2), size=pl.format("n={}", "n"))
        wide = shown.pivot("size", index=key, values="power")
        return wide.join(self.n80.select(*key, "n80"), on=key, how="left", maintain_order="left")


def levels(alpha: float, cells: int) -> dict[str, float]:
    """Return the bounds of the level that Benjamini-Hochberg sets for a rung of a run of ``cells`` cells.

    ``alone``: nothing else in the run is called, alpha / (2 x cells). ``company``: everything else is, alpha.
    """
    return {"alone": alpha / (2 * cells), "company": alpha}


def power_tables(
    labels: pl.DataFrame,
    *,
    sizes: Sequence[int] = SIZES,
    rates: Sequence[float] = RATES,
    cells: int = CELLS,
    base: reciters.Base = "window",
    alpha: float = 0.05,
    draws: int = DRAWS,
    repeats: int = 10_000,
    seed: int = 0,
) -> PowerTables:
    """Simulate reciters on the benchmarks' own labels and count how many are flagged.

    Parameters
    ----------
    labels
        ``benchmark``, ``label`` and ``label_figures``, as `pairs.label_values` returns them.
    sizes
        Molecules asked; those drawn have a label of three figures, as all that the tests count have. A size
        beyond the benchmark's labels has no power (null).
    rates
        Shares of the molecules whose label is recited.
    cells
        Cells of the whole run, in one family.
    base
        What answers the molecules that are not recited: see `molaudit.kernels.reciters.counts`.
    repeats
        Random halves of the mode floor.

    Raises
    ------
    InputError
        A benchmark has fewer than 20 labels of three figures: no floor, so no verdict and no power.

    Notes
    -----
    A cell counts as flagged where p12 or p23 is below the level: a lower bound, for two rungs at once may be
    called at twice the level. ``power_se`` is the binomial standard error of ``draws`` draws. n80 is found by
    bisection on the same draws, in which a larger cell holds the smaller ones; where the power curve is a saw,
    as that of small counts is, smaller n may reach 80 % and larger n may miss it by a few draws.
    """
    at = levels(alpha, cells)
    rows: list[dict[str, object]] = []
    reached: list[dict[str, object]] = []
    for name in labels["benchmark"].unique(maintain_order=True).to_list():
        curve = _curve(name, usable_labels(labels, name), base, draws, repeats, seed)
        for rate in rates:
            feasible = [n for n in sorted(set(sizes)) if n <= curve.n_label]
            simulated = dict(zip(feasible, curve.smallest_p(rate, feasible), strict=True))
            for bound, level in at.items():
                key = {"benchmark": name, "rate": rate, "cells": cells, "bound": bound, "level": level}
                rows += [{"n": n, **key, **_share_below(simulated.get(n), level)} for n in sizes]
                reached.append({"n_label": curve.n_label, "n80": _smallest_size(curve, rate, level), **key})
    return PowerTables(pl.DataFrame(rows, schema=POWER_SCHEMA), pl.DataFrame(reached, schema=N80_SCHEMA))


class _Curve(NamedTuple):
    """A benchmark's labels, and the smaller p of simulated cells as a function of rate and sizes."""

    n_label: int
    smallest_p: Callable[[float, Sequence[int]], list[Floats]]


def _curve(name: str, values: Floats, base: reciters.Base, draws: int, repeats: int, seed: int) -> _Curve:
    fitted = floors.floors(values, repeats=repeats, seed=seed)
    if np.isnan(fitted.floor12) or np.isnan(fitted.floor23):
        raise InputError(
            f"benchmark {name!r}: found {values.size} labels with three figures; "
            f"a floor, and so a verdict, needs {floors.MIN_LABELS}"
        )

    def smallest_p(rate: float, sizes: Sequence[int]) -> list[Floats]:
        counts = reciters.counts(values, sizes, rate, base, seed=seed, draws=draws)
        return [_smaller_p(counts[:, s], fitted.floor12, fitted.floor23) for s in range(len(sizes))]

    return _Curve(values.size, smallest_p)


def _smaller_p(counts: npt.NDArray[np.int64], floor12: float, floor23: float) -> Floats:
    """Return min(p12, p23) of cells given as m1, m2, m3 in columns; an untested rung has p = 1."""
    one, two, three = counts[:, 0], counts[:, 1], counts[:, 2]
    tested12 = one >= MIN_TRIALS
    p12 = np.where(tested12, tails.binomial_upper(two, one, floor12), 1.0)
    p23 = np.where(tested12 & (two >= MIN_TRIALS), tails.binomial_upper(three, two, floor23), 1.0)
    return np.minimum(p12, p23)


def _share_below(p: Floats | None, level: float) -> dict[str, float | None]:
    if p is None:
        return {"power": None, "power_se": None}
    share = float(np.mean(p < level))
    return {"power": share, "power_se": float(np.sqrt(share * (1 - share) / p.size))}


def _smallest_size(curve: _Curve, rate: float, level: float) -> int | None:
    """Return the smallest n with the target power, or None.

    First n doubles, for a pass over all labels of a large benchmark is hardly ever needed; then it is bisected, with
    several sizes in a pass.
    """

    def first_reaching(sizes: Sequence[int]) -> int | None:
        powers = [float(np.mean(p < level)) for p in curve.smallest_p(rate, sizes)]
        return next((n for n, power in zip(sizes, powers, strict=True) if power >= TARGET), None)

    below, above = MIN_TRIALS - 1, min(2 * MIN_TRIALS, curve.n_label)
    while first_reaching([above]) is None:
        if above == curve.n_label:
            return None
        below, above = above, min(2 * above, curve.n_label)
    while above - below > 1:
        probes = np.unique(np.linspace(below, above, _PROBES + 2).round().astype(np.int64))[1:-1].tolist()
        reached = first_reaching(probes)
        above = above if reached is None else reached
        below = max([below, *(n for n in probes if n < above)])
    return above


def chance_of_flag(
    n: int,
    rate: float,
    *,
    first: float,
    second: float,
    third: float,
    floor12: float,
    floor23: float,
    level: float,
    seed: int,
    draws: int = QUICK_DRAWS,
) -> float:
    """Return the share of simulated cells that are flagged, reckoned from a cell's counts alone.

    A molecule is recited with probability ``rate`` and then agrees at all three figures; otherwise it agrees at
    the first figure with probability ``first``, goes on to the second with ``second`` and to the third with
    ``third``.

    Parameters
    ----------
    n
        Usable pairs.
    first, second, third
        Shares that agree at one figure, of those at two, and of those at three, without recitation. A model that
        does not recite need not reach the floors, and where few agree at two figures R23 has no power.
    level
        A rung is called when its exact p is below this.
    """
    rng = np.random.default_rng([seed, n])
    recited = rng.binomial(n, rate, draws)
    one = recited + rng.binomial(n - recited, first)
    two = recited + rng.binomial(one - recited, second)
    three = recited + rng.binomial(two - recited, third)
    return float(np.mean(_smaller_p(np.stack([one, two, three], axis=1), floor12, floor23) < level))
