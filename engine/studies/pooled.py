"""Bounds of a cell's rates where all samples of a molecule count: by bootstrap over molecules (METHOD 1.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import figures
from molaudit.kernels.bootstrap import Statistic, interval

from .distinct import numbered
from .settings import ScoreSettings

Ints = npt.NDArray[np.int64]
Rates = dict[str, tuple[Ints, Ints]]
"""Hits and trials of each molecule, by rate."""

RATES = ("R12", "R23", "hit3")
TAIL = 0.05


def pooled_bounds(frame: pl.DataFrame, cells: int, settings: ScoreSettings) -> pl.DataFrame:
    """Return ``_low`` and ``_high`` of `RATES`, their 95 % bounds, one row a cell.

    Parameters
    ----------
    frame
        That of `pairs.pair`.
    settings
        Protocol, resamples, seed.

    Notes
    -----
    Percentile bootstrap of the ratio of two sums over molecules. Where no answer hits, none does in any resample
    either; so an upper bound is never below that of no hit among as many molecules, 1 - a^(1 / molecules), a being
    the tail, nor a lower bound above the mirror image of that. Null where the rate is undefined, in the cell or in
    over 2.5 % of its resamples.
    """
    of_cell = _by_cell(frame, cells, settings)
    out: dict[str, list[float | None]] = {}
    for rate in RATES:
        found = [_bounds(*one[rate], TAIL / 2, settings) for one in of_cell]
        out |= {f"{rate}{end}": [each[i] for each in found] for i, end in enumerate(("_low", "_high"))}
    return pl.DataFrame(out, schema=dict.fromkeys(out, pl.Float64))


def pooled_upper(frame: pl.DataFrame, cells: int, settings: ScoreSettings) -> pl.Series:
    """Return the one-sided 95 % bound of hit3, one a cell, by the resamples of `pooled_bounds`."""
    found = [_bounds(*one["hit3"], TAIL, settings)[1] for one in _by_cell(frame, cells, settings)]
    return pl.Series("hit3_upper", found, dtype=pl.Float64)


def _by_cell(frame: pl.DataFrame, cells: int, settings: ScoreSettings) -> list[Rates]:
    """The rates of each cell's own molecules."""
    used = frame.filter("parsed")
    molecule = numbered(used, ["cell", "label_row"])
    first = used.select("cell").with_columns(molecule=molecule).unique("molecule", maintain_order=True)
    rates = _rates(used, molecule.to_numpy(), first.height, settings)
    at = {
        key[0]: part["molecule"].to_numpy() for key, part in first.partition_by("cell", as_dict=True).items()
    }
    mine = [at.get(cell, np.empty(0, dtype=np.int64)) for cell in range(cells)]
    return [{rate: (hits[one], trials[one]) for rate, (hits, trials) in rates.items()} for one in mine]


def _rates(used: pl.DataFrame, molecule: Ints, number: int, settings: ScoreSettings) -> Rates:
    """Count molecules as cells are counted, by the protocol."""
    value = used["value"].fill_null(float("nan")).to_numpy()
    label = used["label"].to_numpy()
    if settings.protocol == "recall":
        usable = used["scorable"].to_numpy()
        prefix = settings.match == "prefix"
        n, m1, m2, m3 = figures.agreement(value, label, usable, molecule, number, prefix=prefix)[:, :4].T
        return {"R12": (m2, m1), "R23": (m3, m2), "hit3": (m3, n)}
    carried = [used[f"{name}_figures"].fill_null(0).cast(pl.Int8).to_numpy() for name in ("answer", "label")]
    counts = figures.agreement_pairwise(value, label, carried[0], carried[1], molecule, number)
    match3, total3, m1, m2, second, third = counts.T
    return {"R12": (m2, m1), "R23": (third, second), "hit3": (match3, total3)}


def _bounds(
    hits: Ints, trials: Ints, tail: float, settings: ScoreSettings
) -> tuple[float | None, float | None]:
    molecules = int((trials > 0).sum())
    if molecules == 0:
        return None, None
    found = interval(
        Statistic.RATIO_OF_MEANS,
        hits,
        trials,
        paired=True,
        resamples=settings.resamples,
        seed=settings.seed,
        level=1 - 2 * tail,
    )
    if np.isnan(found.low):
        return None, None
    no_hit = 1 - tail ** (1 / molecules)
    return min(found.low, 1 - no_hit), max(found.high, no_hit)
