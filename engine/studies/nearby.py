"""Exact or next door, and the neighbour test (METHOD 1.4): ``exact, off_by_one, p_core, p_near, n_near``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import neighbours

from .floors_table import MIN_FIGURES
from .pairs import Pairs

Floats = npt.NDArray[np.float64]

COARSE = neighbours.COARSE
LATTICE_SHARE = 0.4

COLUMNS = ("exact", "off_by_one", "p_core", "p_near", "n_near")


class Nearby(NamedTuple):
    """`COLUMNS` of one cell, p null (NaN) where untested; and what the cautions are made of.

    ``resolution``: the errors are so small, in units of the third figure, that it can be predicted. ``lattice``: so
    many near labels are equal that an exact hit shows little.
    """

    exact: int
    off_by_one: int
    p_core: float
    p_near: float
    n_near: int
    resolution: bool
    lattice: bool


class Labels(NamedTuple):
    """Where a benchmark's labels lie, and by which of them each label's molecule is represented there."""

    around: neighbours.Neighbourhood
    own: dict[int, float]


def nearby(met: Pairs, cells: pl.DataFrame) -> list[Nearby]:
    """Return what each cell has near its labels, in order of ``cell`` of ``met.frame``."""
    parts = met.frame.filter("scorable").select("cell", "value", "label", "label_row")
    by_cell = parts.partition_by("cell", as_dict=True)
    known: dict[str, Labels] = {}
    found = []
    for cell, row in enumerate(cells.select("benchmark", "floor23").iter_rows(named=True)):
        part = by_cell.get((cell,))
        name = row["benchmark"]
        if part is None:
            found.append(Nearby(0, 0, np.nan, np.nan, 0, resolution=False, lattice=False))
            continue
        if name not in known:
            known[name] = _labels(met.labels, name)
        around, own = known[name]
        mine = np.array([own.get(i, np.nan) for i in part["label_row"].to_list()], dtype=np.float64)
        value = part["value"].fill_null(float("nan")).to_numpy()
        found.append(measure(around, part["label"].to_numpy(), value, mine, row["floor23"]))
    return found


def measure(
    around: neighbours.Neighbourhood, label: Floats, value: Floats, own: Floats, floor23: float | None
) -> Nearby:
    """Measure the scorable pairs of one cell; ``own`` as in `molaudit.kernels.neighbours.next_door`."""
    scale, misses = neighbours.error_scale(label, value)
    found = neighbours.next_door(around, label, value, own, scale)
    return Nearby(
        exact=found.exact,
        off_by_one=found.off_by_one,
        p_core=neighbours.p_core(around, found.exact, found.off_by_one),
        p_near=neighbours.p_near(around, found, scale),
        n_near=found.n_near,
        resolution=misses >= neighbours.MIN_MISSES and scale < COARSE,
        lattice=max(floor23 or 0.0, around.near_share) > LATTICE_SHARE,
    )


def as_columns(found: list[Nearby]) -> pl.DataFrame:
    """Return `COLUMNS`, one row a cell."""
    table = pl.DataFrame(
        {name: [getattr(one, name) for one in found] for name in COLUMNS},
        schema={name: pl.Float64 if name.startswith("p_") else pl.Int64 for name in COLUMNS},
    )
    return table.with_columns(pl.col("p_core", "p_near").fill_nan(None))


def _labels(labels: pl.DataFrame, benchmark: str) -> Labels:
    """Let each molecule stand once, by its first label of three figures.

    An id that stands for several structures stands for as many molecules.
    """
    used = labels.filter(
        (pl.col("benchmark") == benchmark) & (pl.col("label_figures") >= MIN_FIGURES) & (pl.col("label") != 0)
    )
    structure = pl.when("shared_id").then("smiles")
    used = used.with_columns(_first=pl.col("label").first().over("molecule", structure))
    once = used.filter(pl.struct("molecule", structure.alias("_structure")).is_first_distinct())
    around = neighbours.neighbourhood(once["label"].to_numpy(), used["label"].to_numpy())
    return Labels(around, dict(zip(used["label_row"].to_list(), used["_first"].to_list(), strict=True)))
