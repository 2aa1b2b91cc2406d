"""What the verdicts are worth: simulated models of known memory, judged many times over (METHOD 1.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import figures, floors, intervals, neighbours, tails

from ..errors import InputError
from . import nearby
from .accuracy_alone import chances
from .cautions import FEW_ANSWERS_SHARE, skill_cautions
from .honest import honest
from .predictors import Floats, Ints, Predictor, Task, predictors, task
from .standing import RUNGS, is_below, stands
from .verdicts import judge

SEEDS = 200
ASKED = 500

Bools = npt.NDArray[np.bool_]

OF_ALL = ("near", "core", "near_tested", "resolution", "lattice")
OF_FLAGGED = ("few_answers", "matched_agrees", "skill12", "skill23")

SCHEMA = {
    "benchmark": pl.String,
    "model": pl.String,
    "kind": pl.String,
    "n": pl.Int64,
    "seeds": pl.Int64,
    **dict.fromkeys(("R12", "R23", "hit3"), pl.Float64),
    **dict.fromkeys(("flagged", "flagged_low", "flagged_high", "flagged12", "flagged23"), pl.Float64),
    **dict.fromkeys(("flagged_stands", *OF_ALL, *OF_FLAGGED), pl.Float64),
}
"""Columns of `calibrate`.

``R12, R23, hit3`` are pooled over the seeds. Shares of the seeds: in which the cell is flagged (with 95 %
Clopper-Pearson bounds), in which that rung is called, in which the cell is flagged and stands; in which p_near and
p_core are below alpha (untested: not) and p_near is tested; with the cautions ``resolution`` and ``lattice``. Shares
of the flagged ones: with the caution ``few answers``; in which a called rung has a matched p below alpha; with the
cautions ``skill R12`` and ``skill R23``.
"""


def calibrate(
    benchmark: str,
    labels: Floats,
    *,
    models: Sequence[Predictor] | None = None,
    n: int = ASKED,
    seeds: int = SEEDS,
    seed: int = 0,
    alpha: float = 0.05,
    repeats: int = 10_000,
) -> pl.DataFrame:
    """Judge simulated models on a benchmark's labels, each seed as a run of its own with this one cell.

    Parameters
    ----------
    benchmark, labels
        Name, and all its labels that carry at least three figures.
    models
        Default: those of `predictors.predictors` and `honest.honest`.
    n
        Molecules asked in each seed, drawn without replacement; all, where there are fewer.
    seeds
        Runs per model. They share their labels and the floor: their spread is that of the answers, and what is
        special about these labels is the same in all of them.
    repeats
        Random halves of the mode floor.

    Returns
    -------
    One row a model with the columns `SCHEMA`.

    Raises
    ------
    InputError
        Fewer than 20 labels: there is no floor.
    """
    fitted = floors.floors(labels, repeats=repeats, seed=seed)
    if np.isnan(fitted.floor12) or np.isnan(fitted.floor23):
        raise InputError(
            f"benchmark {benchmark!r}: found {labels.size} labels with three figures; a floor needs "
            f"{floors.MIN_LABELS}"
        )
    asking = task(labels, n, seeds, seed)
    weights = _Weights(labels, fitted, alpha, seed)
    chosen = [*predictors(labels, n), *honest()] if models is None else models
    rows = []
    for model in chosen:
        answers = model.answer(asking)
        judged = judge_runs(answers, labels[asking.asked], fitted, alpha)
        rows.append(
            {"benchmark": benchmark, "model": model.name, "kind": model.kind, "n": asking.asked.shape[1]}
            | _rates(judged, alpha)
            | _weighed(weights, judged, answers, asking)
        )
    return pl.DataFrame(rows, schema=SCHEMA)


def judge_runs(answers: Floats, labels: Floats, fitted: floors.Floors, alpha: float) -> pl.DataFrame:
    """Count all runs, shape (seeds, n), in one pass, and judge each as a family of one cell."""
    seeds, n = answers.shape
    counts = figures.agreement(
        answers.ravel(),
        labels.ravel(),
        np.ones(answers.size, np.bool_),
        np.repeat(np.arange(seeds), n),
        seeds,
    )
    table = pl.DataFrame(counts[:, :4], schema=["n_usable", "m1", "m2", "m3"]).with_columns(
        family=pl.int_range(seeds).cast(pl.String),
        trials12="m1",
        hits12="m2",
        trials23="m2",
        hits23="m3",
        n_hit3="n_usable",
        hits3="m3",
        floor12=pl.lit(fitted.floor12),
        floor23=pl.lit(fitted.floor23),
        floor_hit1=pl.lit(fitted.floor_hit1),
    )
    return judge(table, alpha=alpha)


def _rates(judged: pl.DataFrame, alpha: float) -> dict[str, object]:
    total = {name: int(judged[name].sum()) for name in ("n_usable", "m1", "m2", "m3")}
    called12, called23 = ((judged[q].fill_null(1.0) < alpha).to_numpy() for q in ("q12", "q23"))
    flagged = int((called12 | called23).sum())
    low, high = intervals.clopper_pearson([flagged], [judged.height], 0.95)
    return {
        "seeds": judged.height,
        "R12": total["m2"] / total["m1"] if total["m1"] else None,
        "R23": total["m3"] / total["m2"] if total["m2"] else None,
        "hit3": total["m3"] / total["n_usable"],
        "flagged": flagged / judged.height,
        "flagged_low": float(low[0]),
        "flagged_high": float(high[0]),
        "flagged12": float(called12.mean()),
        "flagged23": float(called23.mean()),
    }


class _Weights:
    """What the cells of a benchmark are weighed by, beside their verdict."""

    def __init__(self, labels: Floats, fitted: floors.Floors, alpha: float, seed: int) -> None:
        every = np.arange(labels.size)
        pooled = {"12": fitted.floor12, "23": fitted.floor23}
        self._around = neighbours.neighbourhood(labels)
        self._shares = {
            rung: floors.matched_shares(labels, every, int(rung), floor) for rung, floor in pooled.items()
        }
        self._floor23, self._alpha, self._seed = fitted.floor23, alpha, seed

    def of(self, row: Mapping[str, object], asking: Task, answers: Floats, asked: Ints) -> dict[str, bool]:
        """Return `OF_ALL` of one cell, and of a flagged one `OF_FLAGGED` and whether it stands."""
        labels = asking.labels[asked]
        near = nearby.measure(self._around, labels, answers, labels, self._floor23)
        found = {
            "near": near.p_near < self._alpha,
            "core": near.p_core < self._alpha,
            "near_tested": not np.isnan(near.p_near),
            "resolution": near.resolution,
            "lattice": near.lattice,
        }
        if row["verdict"] == "flagged":
            cell = {**row, "p_core": near.p_core, "p_near": _known(near.p_near)}
            cell |= self._matched(labels, answers, asked)
            cell |= self._skill(labels, answers)
            found |= self._flagged(cell, answers, near)
        return found

    def _flagged(self, cell: Mapping[str, object], answers: Floats, near: nearby.Nearby) -> dict[str, bool]:
        _, counts = np.unique(answers[np.isfinite(answers)], return_counts=True)
        few = bool(counts.max() / counts.sum() > FEW_ANSWERS_SHARE)
        skill = skill_cautions(cell, self._alpha)
        standing = stands(
            cell, few_answers=few, resolution=near.resolution, lattice=near.lattice, alpha=self._alpha
        )
        called = [rung for rung in RUNGS if is_below(cell[f"q{rung}"], self._alpha)]
        return {
            "few_answers": few,
            "matched_agrees": any(is_below(cell[f"p{rung}_matched"], self._alpha) for rung in called),
            "skill12": skill["skill R12"],
            "skill23": skill["skill R23"],
            "flagged_stands": standing is True,
        }

    def _matched(self, labels: Floats, answers: Floats, asked: Ints) -> dict[str, float]:
        depth = figures.depth(answers, labels)
        return {
            f"p{rung}_matched": tails.poisson_binomial_upper(
                int((depth > k).sum()), self._shares[rung][asked[depth >= k]]
            )
            for k, rung in enumerate(RUNGS, start=1)
        }

    def _skill(self, labels: Floats, answers: Floats) -> dict[str, float | None]:
        known = np.isfinite(answers)
        p12, p23 = chances(labels[known], answers[known], seed=self._seed, alpha=self._alpha)
        return {"p12_skill": _known(p12), "p23_skill": _known(p23)}


def _known(p: float) -> float | None:
    return None if np.isnan(p) else p


def _weighed(
    weights: _Weights, judged: pl.DataFrame, answers: Floats, asking: Task
) -> dict[str, float | None]:
    found = [
        weights.of(row, asking, given, asked)
        for row, given, asked in zip(judged.iter_rows(named=True), answers, asking.asked, strict=True)
    ]
    flagged = [one for one in found if "flagged_stands" in one]
    return (
        {name: float(np.mean([one[name] for one in found])) for name in OF_ALL}
        | {"flagged_stands": sum(one["flagged_stands"] for one in flagged) / len(found)}
        | {name: float(np.mean([one[name] for one in flagged])) if flagged else None for name in OF_FLAGGED}
    )
