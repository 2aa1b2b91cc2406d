"""Benchmarks that publish several values of one molecule: an answer may recite any of them (METHOD 1.4)."""

from __future__ import annotations

import polars as pl

from molaudit.kernels import figures

from ..errors import SettingsError
from .settings import ScoreSettings


def choose_values(
    joined: pl.DataFrame, labels: pl.DataFrame, settings: ScoreSettings, notes: list[str]
) -> pl.DataFrame:
    """Compare each answer with the value of its molecule that it agrees with best.

    Best is the greatest depth among the values that carry three figures, then among the others; the first row of
    the labels on ties. Values of one structure or under one molecule id are alternatives (``same`` of `joins.Met`);
    where an id stands for several structures and nothing tells which is meant, the conflict stays one.

    Raises
    ------
    SettingsError
        A benchmark of ``several_values`` has no labels.
    """
    known = labels["benchmark"].unique(maintain_order=True).to_list()
    for name in settings.several_values:
        if name not in known:
            raise SettingsError(f"several_values: found {name!r}; the labels hold {known[:5]}")
    declared = pl.col("benchmark").is_in(list(settings.several_values))
    several = pl.col("label").n_unique().over("same") > 1
    values = labels.filter(declared & several).select("same", "label_text", "label", "label_figures")
    if values.is_empty():
        return joined
    rows = joined.with_row_index("_row").filter("conflict").select("_row", "same", "value")
    tries = rows.join(values, on="same", how="inner", maintain_order="left_right")
    depth = figures.depth(tries["value"].fill_null(float("nan")).to_numpy(), tries["label"].to_numpy())
    best = (
        tries.with_columns(_depth=pl.Series(depth), _full=pl.col("label_figures") >= 3)
        .sort("_row", "_full", "_depth", descending=[False, True, True], maintain_order=True)
        .unique("_row", keep="first", maintain_order=True)
        .select(
            "_row", *(pl.col(name).alias(f"_{name}") for name in ("label_text", "label", "label_figures"))
        )
    )
    if best.height:
        notes.append(
            f"{best.height} answers were compared with the best of several published values of their molecule "
            f"({', '.join(settings.several_values)}); the floors are those of one try, so p is too small there"
        )
    met = joined.with_row_index("_row").join(best, on="_row", how="left", maintain_order="left")
    chosen = [pl.coalesce(f"_{name}", name).alias(name) for name in ("label_text", "label", "label_figures")]
    met = met.with_columns(*chosen, conflict=pl.col("conflict") & pl.col("_label").is_null())
    return met.select(joined.columns)
