"""What the verdicts are worth: simulated models of known memory, judged many times over (METHOD 1.9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import figures, floors, intervals, tails
from molaudit.kernels import skill as skills

from ..errors import InputError
from .cautions import FEW_ANSWERS_SHARE, SKILL_P
from .predictors import Floats, Predictor, Task, predictors, task
from .verdicts import judge

SEEDS = 200
ASKED = 500
LOOKED_AT = 50
"""Flagged cells of a model whose cautions are worked out: enough for a share to within 14 points."""

SKILL_DRAWS = 500
"""Fewer than a scored cell's: whether p is above 0.05 is known to within a point."""

Bools = npt.NDArray[np.bool_]

SCHEMA = {
    "benchmark": pl.String,
    "model": pl.String,
    "kind": pl.String,
    "n": pl.Int64,
    "seeds": pl.Int64,
    **dict.fromkeys(("R12", "R23", "hit3"), pl.Float64),
    **{
        f"{flag}{end}": pl.Float64
        for flag in ("flagged", "flagged12", "flagged23")
        for end in ("", "_low", "_high")
    },
    "looked_at": pl.Int64,
    **dict.fromkeys(("few_answers", "matched_agrees", "skill", "stands"), pl.Float64),
}
"""Columns of `calibrate`.

``R12, R23, hit3`` are pooled over the seeds. ``flagged, flagged12, flagged23``: share of the seeds in which the
cell, or that rung, is called, with 95 % Clopper-Pearson bounds. Of the flagged cells looked at: ``few_answers`` and
``skill`` the share with that caution, ``matched_agrees`` the share in which a called rung has a matched p below
alpha, ``stands`` the share with a called rung that no caution and no matched p speaks against.
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
        Default: those of `predictors.predictors`.
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
    chosen = predictors(labels, n) if models is None else models
    rows = []
    for model in chosen:
        answers = model.answer(asking)
        judged = judge_runs(answers, labels[asking.asked], fitted, alpha)
        rows.append(
            {"benchmark": benchmark, "model": model.name, "kind": model.kind, "n": asking.asked.shape[1]}
            | _rates(judged, alpha)
            | _cautions(judged, answers, asking, fitted, alpha)
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
    out: dict[str, object] = {
        "seeds": judged.height,
        "R12": total["m2"] / total["m1"] if total["m1"] else None,
        "R23": total["m3"] / total["m2"] if total["m2"] else None,
        "hit3": total["m3"] / total["n_usable"],
    }
    called12, called23 = _called(judged, alpha)
    for name, called in (("flagged", called12 | called23), ("flagged12", called12), ("flagged23", called23)):
        k = int(called.sum())
        low, high = intervals.clopper_pearson([k], [judged.height], 0.95)
        out |= {name: k / judged.height, f"{name}_low": float(low[0]), f"{name}_high": float(high[0])}
    return out


def _called(judged: pl.DataFrame, alpha: float) -> tuple[Bools, Bools]:
    return tuple((judged[q].fill_null(1.0) < alpha).to_numpy() for q in ("q12", "q23"))  # type: ignore[return-value]


def _cautions(
    judged: pl.DataFrame, answers: Floats, asking: Task, fitted: floors.Floors, alpha: float
) -> dict[str, object]:
    """Work out, for the first flagged cells, what would stand beside their verdict."""
    called = np.stack(_called(judged, alpha))
    looked = np.flatnonzero(called.any(axis=0))[:LOOKED_AT]
    if looked.size == 0:
        return {"looked_at": 0, "few_answers": None, "matched_agrees": None, "skill": None, "stands": None}
    every = np.arange(asking.labels.size)
    shares = [
        floors.matched_shares(asking.labels, every, rung, pooled)
        for rung, pooled in ((12, fitted.floor12), (23, fitted.floor23))
    ]
    found = []
    for s in looked:
        labels = asking.labels[asking.asked[s]]
        _, counts = np.unique(answers[s], return_counts=True)
        few = bool(counts.max() / counts.sum() > FEW_ANSWERS_SHARE)
        depth = figures.depth(answers[s], labels)
        agrees = np.array(
            [
                tails.poisson_binomial_upper(int((depth > k).sum()), share[asking.asked[s][depth >= k]])
                < alpha
                for k, share in enumerate(shares, start=1)
            ]
        )
        known = np.isfinite(answers[s])
        p_skill = skills.skill_p(labels[known], answers[s][known], SKILL_DRAWS, seed=asking.seed)
        skill = bool(called[0, s] and p_skill >= SKILL_P)
        sound = called[:, s] & agrees & ~np.array([skill, False]) & (not few)
        found.append((few, bool((called[:, s] & agrees).any()), skill, bool(sound.any())))
    share = np.mean(found, axis=0)
    return {
        "looked_at": looked.size,
        "few_answers": float(share[0]),
        "matched_agrees": float(share[1]),
        "skill": float(share[2]),
        "stands": float(share[3]),
    }
