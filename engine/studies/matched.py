"""The matched floor (METHOD 1.3): each matched molecule against the digits of its own prefix.

The pooled floor averages over prefixes, so a constant answer that sits in a steep prefix can beat it. Here each
molecule's chance is the leave-one-out modal share of its own prefix, and the tail is Poisson-binomial.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import figures, floors, tails

from .floors_table import usable_labels
from .pairs import Pairs
from .settings import ScoreSettings

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def matched_p(met: Pairs, cells: pl.DataFrame, settings: ScoreSettings) -> pl.DataFrame:
    """Return ``p12_matched, p23_matched`` for every cell, in order; null without matched pairs or a floor."""
    out: dict[str, list[float | None]] = {"p12_matched": [], "p23_matched": []}
    known: dict[str, _Shares] = {}
    parts = met.frame.filter(pl.col("parsed")).partition_by("cell", as_dict=True)
    for cell, row in enumerate(cells.iter_rows(named=True)):
        part = parts.get((cell,))
        name = row["benchmark"]
        if part is None or row["floor12"] is None:
            out["p12_matched"].append(None)
            out["p23_matched"].append(None)
            continue
        if name not in known:
            known[name] = _Shares(usable_labels(met.labels, name), row["floor12"], row["floor23"])
        label = part["label"].to_numpy()
        for rung, (trials, hits) in _rungs(part, settings).items():
            shares = known[name].of(label[trials], rung)
            tail = tails.poisson_binomial_upper(int(hits.sum()), shares) if shares.size else None
            out[f"p{rung}_matched"].append(tail)
    return pl.DataFrame(out, schema={"p12_matched": pl.Float64, "p23_matched": pl.Float64})


class _Shares:
    """The leave-one-out modal share of every label of a benchmark, looked up by value."""

    def __init__(self, labels: Floats, floor12: float, floor23: float) -> None:
        self._values, first = np.unique(labels, return_index=True)
        self._shares = {
            rung: floors.matched_shares(labels, first, rung, floor)
            for rung, floor in ((12, floor12), (23, floor23))
        }

    def of(self, labels: Floats, rung: int) -> Floats:
        """Return the shares of those of the labels that are among the benchmark's, equal values alike."""
        at = np.minimum(np.searchsorted(self._values, labels), self._values.size - 1)
        shares: Floats = self._shares[rung][at[self._values[at] == labels]]
        return shares


def _rungs(part: pl.DataFrame, settings: ScoreSettings) -> dict[int, tuple[Bools, Bools]]:
    """Which answers were tried at a rung, and which of those hit, by the protocol's counts."""
    value, label = part["value"].fill_null(float("nan")).to_numpy(), part["label"].to_numpy()
    if settings.protocol == "recall":
        scorable = part["scorable"].to_numpy()
        nested = figures.depth(value, label)
        return {12: _nest(scorable, nested, 1), 23: _nest(scorable, nested, 2)}
    agree = (figures.codes_all(value) == figures.codes_all(label)) & (label != 0)
    carried = np.minimum(part["answer_figures"].fill_null(0).to_numpy(), part["label_figures"].to_numpy())
    usable = part["label_figures"].to_numpy() >= 3
    first = (carried >= 2) & agree[0] & usable
    second = (carried >= 3) & agree[1]
    return {12: (first, first & agree[1]), 23: (second, second & agree[2])}


def _nest(scorable: Bools, depth: npt.NDArray[np.int8], k: int) -> tuple[Bools, Bools]:
    return scorable & (depth >= k), scorable & (depth > k)
