"""What a reader must weigh beside a verdict (METHOD 1.4). Cautions never change it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import figures, floors

from .accuracy_alone import SKILL_P
from .missing import many_left_out
from .pairs import Pairs
from .power import chance_of_flag
from .settings import ScoreSettings
from .standing import RUNGS as STANDING_RUNGS
from .standing import is_below
from .verdicts import MIN_TRIALS, calling_level

FEW_ANSWERS_SHARE = 0.20
LOW_POWER_RATE = 0.05

COMPUTABLE_SHARE = 0.50
COMPUTABLE_SAMPLE = 300
COMPUTABLE_MIN_LABELS = 20

Floats = npt.NDArray[np.float64]


def has_few_answers(row: Mapping[str, object]) -> bool:
    """Whether one answer makes up much of a cell."""
    share = row["top_share"]
    return isinstance(share, float) and share > FEW_ANSWERS_SHARE


def cautions(cells: pl.DataFrame, met: Pairs, settings: ScoreSettings, notes: list[str]) -> pl.Series:
    """Return the cautions of every cell as one text each.

    Parameters
    ----------
    cells
        Judged cells with their floors, counts, skill p, ``top_share, resolution, lattice``, in order of ``cell`` of
        ``met.frame``. Power is reckoned at the p where one more rung of the cell's own family would be called.
    notes
        Which benchmarks are computable from structure, and by what, is added here.
    """
    computable = computable_benchmarks(met.labels, cells["benchmark"].unique(maintain_order=True).to_list())
    pooled = _several_samples(met.frame) if settings.pooled else set()
    levels = calling_levels(cells, settings.alpha)
    left_out = many_left_out(met.frame, cells.height)
    texts = []
    for index, row in enumerate(cells.iter_rows(named=True)):
        found = skill_cautions(row, settings.alpha) | {
            "few answers": has_few_answers(row),
            "resolution": row["resolution"],
            "lattice": row["lattice"],
            "many left out": bool(left_out[index]),
            "computable": row["benchmark"] in computable,
            "low power": _low_power(row, levels[index], settings),
            "pooled samples": index in pooled,
            "source unit": row["benchmark"] in settings.source_units,
        }
        texts.append("; ".join(name for name, present in found.items() if present))
    notes += (f"{name}: labels are computable from structure ({why})" for name, why in computable.items())
    return pl.Series("cautions", texts, dtype=pl.String)


def skill_cautions(row: Mapping[str, object], alpha: float) -> dict[str, bool]:
    """Say of each rung whether it is called although the cell's own accuracy explains it."""
    return {
        f"skill R{rung}": is_below(row[f"q{rung}"], alpha) and _explained(row[f"p{rung}_skill"])
        for rung in STANDING_RUNGS
    }


def _explained(p_skill: object) -> bool:
    return isinstance(p_skill, float) and p_skill >= SKILL_P


def computable_benchmarks(labels: pl.DataFrame, benchmarks: list[str]) -> dict[str, str]:
    """Name the benchmarks whose labels structure gives, declared or found by comparing with descriptors.

    Undeclared labels are compared to three figures with RDKit's descriptors on at most 300 structures; half of
    them agreeing with one descriptor is far beyond chance (a first figure right and two more: about 1 %).
    """
    found: dict[str, str] = {}
    for name in benchmarks:
        rows = labels.filter(pl.col("benchmark") == name)
        kinds = set(rows["kind"].drop_nulls().to_list())
        if "computed" in kinds:
            found[name] = "declared as computed"
        elif not kinds and (why := _matching_descriptor(rows)):
            found[name] = why
    return found


def _matching_descriptor(rows: pl.DataFrame) -> str | None:
    structured = rows.filter((pl.col("label_figures") >= 3) & (pl.col("label") != 0)).with_columns(
        structure=pl.col("smiles").fill_null(pl.col("molecule"))
    )
    if structured.height < COMPUTABLE_MIN_LABELS:
        return None
    from ..molecules.computable import descriptor_table

    step = max(1, structured.height // COMPUTABLE_SAMPLE)
    sample = structured.gather_every(step).head(COMPUTABLE_SAMPLE)
    target = figures.codes(sample["label"].to_numpy(), 3)
    for name, values in descriptor_table(sample["structure"].to_list()).items():
        valid = np.isfinite(values)
        agree = int(((figures.codes(values, 3) == target) & valid).sum())
        if valid.sum() >= COMPUTABLE_MIN_LABELS and agree >= COMPUTABLE_SHARE * valid.sum():
            return f"{agree} of {int(valid.sum())} agree with RDKit's {name} to three figures"
    return None


def spread(frame: pl.DataFrame, cells: int) -> pl.DataFrame:
    """How many distinct answers a cell has, and the share of the most frequent."""
    counts = frame.filter(pl.col("parsed")).group_by("cell", "value").len()
    per_cell = counts.group_by("cell").agg(
        n_distinct=pl.len().cast(pl.Int64), top_share=pl.col("len").max() / pl.col("len").sum()
    )
    index = pl.DataFrame({"cell": np.arange(cells)}, schema={"cell": pl.Int64})
    joined = index.join(per_cell, on="cell", how="left", maintain_order="left")
    return joined.select(pl.col("n_distinct").fill_null(0), "top_share")


def calling_levels(cells: pl.DataFrame, alpha: float) -> list[float]:
    """Return for each cell the p at which one more rung of its family would be called."""
    numbered = cells.with_row_index("at")
    levels = [0.0] * cells.height
    for part in numbered.partition_by("family", "effort"):
        level = calling_level(part, alpha)
        for at in part["at"].to_list():
            levels[at] = level
    return levels


def _low_power(row: Mapping[str, object], level: float, settings: ScoreSettings) -> bool:
    """Whether a true verbatim rate of 5 % would be missed more often than not at this level."""
    n, m1, m2, m3 = (int(str(row[name])) for name in ("n_usable", "m1", "m2", "m3"))
    floor12, floor23 = row["floor12"], row["floor23"]
    if n == 0 or not isinstance(floor12, float) or not isinstance(floor23, float):
        return True
    # What is right to three figures may be recited: the shares without recitation are those of the rest.
    chance = chance_of_flag(
        n,
        LOW_POWER_RATE,
        first=(m1 - m3) / (n - m3) if n > m3 else 1.0,
        second=min(floor12, (m2 - m3) / (m1 - m3)) if m1 - m3 >= MIN_TRIALS else floor12,
        third=min(floor23, floors.LEAST),
        floor12=floor12,
        floor23=floor23,
        level=level,
        seed=settings.seed,
    )
    return chance < 0.5


def _several_samples(frame: pl.DataFrame) -> set[int]:
    parsed = frame.filter(pl.col("parsed"))
    several = parsed.group_by("cell", "molecule").len().filter(pl.col("len") > 1)
    return set(several["cell"].to_list())
