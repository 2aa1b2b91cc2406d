"""Whether a flag survives the honest explanations (METHOD 1.4): ``stands``."""

from __future__ import annotations

from collections.abc import Mapping

RUNGS = ("12", "23")


def stands(
    row: Mapping[str, object], *, few_answers: bool, resolution: bool, lattice: bool, alpha: float
) -> bool | None:
    """Return whether the flag of a cell stands; None where nothing is flagged.

    Parameters
    ----------
    row
        ``q12, q23`` and, p each, ``p12_matched, p23_matched, p12_skill, p23_skill, p_core, p_near``; null where
        untested.
    few_answers, resolution, lattice
        Whether the cell carries that caution.
    alpha
        Level of every p.

    Notes
    -----
    Without few answers, a flag stands on exact hits that are not next door (p_core), or on a called rung that neither
    the digits of each prefix nor the cell's own accuracy explain, where also the near labels do not: p_near may be
    untested, but not on a lattice. Where figures can be predicted only p_core counts.
    """
    called = [rung for rung in RUNGS if is_below(row[f"q{rung}"], alpha)]
    if not called:
        return None
    if few_answers:
        return False
    if is_below(row["p_core"], alpha):
        return True
    unexplained = any(
        is_below(row[f"p{rung}_matched"], alpha) and is_below(row[f"p{rung}_skill"], alpha) for rung in called
    )
    beyond_neighbours = not lattice if row["p_near"] is None else is_below(row["p_near"], alpha)
    return not resolution and unexplained and beyond_neighbours


def is_below(p: object, alpha: float) -> bool:
    """Whether a p value is known and below the level."""
    return isinstance(p, float) and p < alpha
