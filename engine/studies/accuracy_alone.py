"""Whether the cell's own accuracy explains its rungs (METHOD 1.4): ``p12_skill, p23_skill``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import skill

from .pairs import Pairs
from .settings import ScoreSettings
from .verdicts import MIN_TRIALS

SKILL_P = 0.05
COLUMNS = ("p12_skill", "p23_skill")

Floats = npt.NDArray[np.float64]


def skill_columns(met: Pairs, cells: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    """Return `COLUMNS` for every cell, in order of ``cell`` of ``met.frame``.

    Null where the rung is untested and where fewer than 10 answers miss: those say nothing of the accuracy. The rates
    are those of the nested counts under every protocol and match, for observed and simulated answers alike.
    """
    parts = met.frame.filter(pl.col("scorable") & pl.col("value").is_finite())
    by_cell = parts.select("cell", "value", "label").partition_by("cell", as_dict=True)
    out: dict[str, list[float | None]] = {name: [] for name in COLUMNS}
    for cell, (m1, m2) in enumerate(cells.select("m1", "m2").iter_rows()):
        part = by_cell.get((cell,))
        if part is None or m1 < MIN_TRIALS:
            p12 = p23 = None
        else:
            label, value = part["label"].to_numpy(), part["value"].to_numpy()
            p12, p23 = chances(label, value, seed=settings.seed, alpha=settings.alpha)
        out["p12_skill"].append(p12)
        out["p23_skill"].append(p23 if m2 >= MIN_TRIALS else None)
    return pl.DataFrame(out, schema=dict.fromkeys(COLUMNS, pl.Float64)).with_columns(
        pl.col(*COLUMNS).fill_nan(None)
    )


def chances(label: Floats, value: Floats, *, seed: int, alpha: float) -> tuple[float, float]:
    """Return both chances for one cell's scorable pairs, simulated until it is known what depends on them."""
    found = skill.skill_p(label, value, seed=seed, levels=(SKILL_P, alpha))
    return found.p12, found.p23
