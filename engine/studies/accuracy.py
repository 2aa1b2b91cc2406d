"""How far off the answers are: the measures that stand beside every verdict (METHOD 1.5)."""

from __future__ import annotations

import numpy as np
import polars as pl

from molaudit.kernels import bootstrap

from .settings import ScoreSettings

MEASURES = ("mae", "medae", "rmse", "pearson", "spearman")


def errors_by_cell(frame: pl.DataFrame, cells: int, settings: ScoreSettings) -> pl.DataFrame:
    """Error measures and correlations of each cell with 95 % bootstrap intervals over molecules.

    ``frame`` is that of `pairs.pair`; all finite parsed answers count, not only scorable ones. Returns one
    row a cell in order of ``cell``, null where a measure is undefined.
    """
    out: dict[str, list[float | None]] = {f"{m}{end}": [] for m in MEASURES for end in ("", "_low", "_high")}
    used = frame.filter(pl.col("parsed") & pl.col("value").is_finite())
    parts = used.select("cell", "label_row", "value", "label").partition_by("cell", as_dict=True)
    for cell in range(cells):
        part = parts.get((cell,))
        if part is None:
            for column in out.values():
                column.append(None)
            continue
        cluster = None
        if settings.pooled:
            cluster = part["label_row"].rank("dense").cast(pl.Int64).to_numpy() - 1
        measured = bootstrap.errors(
            part["value"].to_numpy(),
            part["label"].to_numpy(),
            cluster,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        for measure in MEASURES:
            interval = getattr(measured, measure)
            out[measure].append(_defined(interval.estimate))
            out[f"{measure}_low"].append(_defined(interval.low))
            out[f"{measure}_high"].append(_defined(interval.high))
    return pl.DataFrame(out, schema=dict.fromkeys(out, pl.Float64))


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
