"""Reaction yield: how much product does a Buchwald-Hartwig coupling of this formulation give, in per cent?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import polars as pl
from numpy.typing import NDArray

from molaudit.storage.tables.reading import Columns

from ..errors import InputError
from .building import CONSISTENT, INCONSISTENT, Candidate, Funnel, Order, TaskPairs
from .draws import shares
from .false_labels import false_yield, shown_yield
from .formulations import NONE, Component, replacement, written
from .samples import finished

KIND = "yield"
COMPONENTS: Mapping[str, str] = {
    "aryl halide": "aryl_halide", "ligand": "ligand", "base": "base", "additive": "additive",
}  # fmt: skip
"""Kind of component to the column with its name; its SMILES are in ``NAME_smiles``."""
COLUMNS = Columns(
    required=(*COMPONENTS.values(), *(f"{name}_smiles" for name in COMPONENTS.values()), "yield")
)
DEFAULTS: Mapping[str, float] = {"consistent_points": 15}
"""Largest difference of yields, in percentage points, of a consistent pair."""
OPTIONS: tuple[str, ...] = ()
BALANCED = False

PUBLISHED = 100
"""50 near and 50 far pairs."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Distinct formulations: int64[n, 4] levels of the components, in the order of ``COMPONENTS``; texts as read."""

    levels: NDArray[np.int64]
    names: list[list[Component]]
    yields: list[str]
    records: list[int]

    def formulation(self, at: int) -> dict[str, Component]:
        """The components of one formulation by kind."""
        return {kind: self.names[axis][self.levels[at, axis]] for axis, kind in enumerate(COMPONENTS)}


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of the yield task: one component replaced, all others fixed.

    Rows with an aryl halide; no additive is the level "none"; additives with every combination of the other three
    are kept. All unordered pairs are candidates (``pairs_max`` caps them). 50 within 15 points and 50 beyond are
    drawn, each component kind in equal number where possible, the direction at random (ours: the study's 4,700
    candidates come of a rule that it does not state).
    """
    table = pl.concat(frames)
    funnel, notes = Funnel(), list[str]()
    funnel.count("records", table.height)
    grid = _grid(table, funnel)
    first, second, kind = _pairs(grid.levels)
    funnel.count("pairs", len(first))
    first, second, kind = _capped(first, second, kind, order)
    near = _near(grid, first, second, Decimal(repr(order.thresholds["consistent_points"])))
    funnel.count("near", int(near.sum()))
    funnel.count("far", int((~near).sum()))
    funnel.count("no_false_label", _without_false(grid, first, second))
    chosen = _drawn(near, kind, order)
    turned = order.rng("direction").random(len(chosen)) < 0.5
    samples = []
    for at, turn in zip(chosen.tolist(), turned.tolist(), strict=True):
        s, t = (second[at], first[at]) if turn else (first[at], second[at])
        samples.append(_sample(grid, int(s), int(t), int(kind[at]), bool(near[at])))
    false = [false_yield(one.source_label, one.target_label) for one in samples]
    return finished(KIND, order, samples, false, funnel, notes, shown=shown_yield)


def _sample(grid: _Grid, s: int, t: int, axis: int, near: bool) -> Candidate:
    source, target = grid.formulation(s), grid.formulation(t)
    changed = list(COMPONENTS)[axis]
    return Candidate(
        source=written(source),
        target=written(target),
        source_record=grid.records[s],
        target_record=grid.records[t],
        edit=replacement(source, changed, target[changed]),
        source_label=grid.yields[s],
        target_label=grid.yields[t],
        group=CONSISTENT if near else INCONSISTENT,
    )


def _grid(table: pl.DataFrame, funnel: Funnel) -> _Grid:
    """Rows with a halide and a complete additive, the first of each combination."""
    rows: dict[tuple[Component, ...], tuple[str, int]] = {}
    halides = repeated = 0
    for record, row in enumerate(table.iter_rows(named=True), 1):
        if not (row["aryl_halide"] or "").strip():
            continue
        halides += 1
        key = tuple(_component(row, kind, column) for kind, column in COMPONENTS.items())
        if key in rows:
            repeated += 1
        else:
            rows[key] = (_yield(row), record)
    combinations = len({key[:3] for key in rows})
    complete = {a for a, n in Counter(key[3] for key in rows).items() if n == combinations}
    funnel.count("with_halide", halides)
    funnel.count("repeated", repeated)
    rows = {key: value for key, value in rows.items() if key[3] in complete}
    funnel.count("grid", len(rows))
    names = [list(dict.fromkeys(key[axis] for key in rows)) for axis in range(len(COMPONENTS))]
    places = [{one: place for place, one in enumerate(level)} for level in names]
    levels = [[places[axis][one] for axis, one in enumerate(key)] for key in rows]
    return _Grid(
        np.array(levels, dtype=np.int64).reshape(len(rows), len(COMPONENTS)),
        names,
        [text for text, _ in rows.values()],
        [record for _, record in rows.values()],
    )


def _component(row: Mapping[str, str | None], kind: str, column: str) -> Component:
    name = (row[column] or "").strip()
    one = Component(name or NONE, (row[f"{column}_smiles"] or "").strip())
    try:
        written({kind: one})
    except ValueError as error:
        raise InputError(f"row {row['row']}: {error}") from None
    return one


def _yield(row: Mapping[str, str | None]) -> str:
    text = (row["yield"] or "").strip()
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value <= 100:
        raise InputError(f"row {row['row']}: yield = {text!r}; allowed: a number from 0 to 100")
    return text


def _pairs(levels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All unordered pairs that differ in exactly one component, by component: positions, and which it is."""
    parts = []
    for axis in range(levels.shape[1]):
        rest = np.delete(levels, axis, axis=1)
        _, fixed = np.unique(rest, axis=0, return_inverse=True)
        by = np.lexsort((np.arange(len(levels)), fixed.ravel()))
        bounds = np.flatnonzero(np.diff(fixed.ravel()[by])) + 1
        for members in np.split(by, bounds):
            i, j = np.triu_indices(len(members), 1)
            parts.append(np.column_stack([members[i], members[j], np.full(len(i), axis)]))
    whole = np.concatenate(parts) if parts else np.empty((0, 3), dtype=np.int64)
    return whole[:, 0], whole[:, 1], whole[:, 2]


def _capped(
    first: NDArray[np.int64], second: NDArray[np.int64], kind: NDArray[np.int64], order: Order
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    if order.pairs_max is None or len(first) <= order.pairs_max:
        return first, second, kind
    kept = np.sort(order.rng("cap").choice(len(first), order.pairs_max, replace=False))
    return first[kept], second[kept], kind[kept]


def _near(
    grid: _Grid, first: NDArray[np.int64], second: NDArray[np.int64], most: Decimal
) -> NDArray[np.bool_]:
    """Whether yields differ by at most ``most``, in decimals: a double may put 15.0 on either side."""
    values = [Decimal(text) for text in grid.yields]
    return np.array(
        [abs(values[i] - values[j]) <= most for i, j in zip(first.tolist(), second.tolist(), strict=True)],
        dtype=np.bool_,
    )


def _without_false(grid: _Grid, first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    values = np.array([float(text) for text in grid.yields])
    low, high = np.minimum(values[first], values[second]), np.maximum(values[first], values[second])
    # Only these can be without one (low < 30, high > 70, less than 50 between); the doubles get a point to spare.
    doubtful = np.flatnonzero((low < 31) & (high > 69) & (high - low < 51))
    return sum(false_yield(grid.yields[first[i]], grid.yields[second[i]]) is None for i in doubtful)


def _drawn(near: NDArray[np.bool_], kind: NDArray[np.int64], order: Order) -> NDArray[np.int64]:
    if order.draw == "all":
        return np.arange(len(near))
    total = PUBLISHED if order.draw == "published" else order.draw
    groups = {INCONSISTENT: np.flatnonzero(~near), CONSISTENT: np.flatnonzero(near)}
    wanted = shares(total, {group: len(members) for group, members in groups.items()})
    chosen: list[int] = []
    for group, members in groups.items():
        rng = order.rng(f"draw {group}")
        by_kind = {str(axis): members[kind[members] == axis] for axis in range(len(COMPONENTS))}
        # Which kinds get the one more is drawn too.
        names = [str(axis) for axis in rng.permutation(len(COMPONENTS))]
        parts = shares(wanted[group], {name: len(by_kind[name]) for name in names})
        for name in sorted(names):
            chosen += rng.choice(by_kind[name], parts[name], replace=False).tolist()
    return np.sort(np.array(chosen, dtype=np.int64))
