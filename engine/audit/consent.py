"""No run that costs money, or nobody knows how much, begins without a yes."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import polars as pl
from rich.console import Console

from ..errors import SettingsError
from ..plan.estimate import Estimate
from .interruptions import interrupt_input


@dataclass(frozen=True, slots=True)
class Charge:
    """What calls may cost.

    Attributes
    ----------
    calls
        Calls to be made.
    usd
        US dollars at most, of those whose price is known: every reply at its cap of output tokens.
    unpriced
        The models whose price nobody has stated.
    budget_usd
        What the run may spend in all of its sessions.
    """

    calls: int
    usd: float
    unpriced: tuple[str, ...]
    budget_usd: float | None

    @property
    def is_free(self) -> bool:
        """Whether it is known to cost nothing."""
        return self.usd == 0 and not self.unpriced

    def __str__(self) -> str:
        calls = f"{self.calls:,} call{'' if self.calls == 1 else 's'}"
        assumed = f"{calls}, each reply at its cap of output tokens"
        if self.unpriced:
            names = ", ".join(map(repr, self.unpriced[:4])) + (", ..." if len(self.unpriced) > 4 else "")
            rest = f", and up to {dollars(self.usd)} for the others" if self.usd else ""
            return f"an unknown amount ({calls}): no price is known of {names}{rest}"
        ends = "" if self.budget_usd is None else f"; budget_usd ends it at {dollars(self.budget_usd)}"
        return f"up to {dollars(self.usd)} ({assumed}{ends})"


def dollars(amount: float) -> str:
    """An amount as one would say it; what is not nothing never reads as 0."""
    return "less than 0.01 USD" if 0 < amount < 0.01 else f"{amount:,.2f} USD"


def charge(expected: Estimate, missing: pl.DataFrame, budget_usd: float | None) -> Charge:
    """What the calls of ``missing`` may cost, by the estimate of the whole plan."""
    place = (pl.col("model").cast(pl.String), pl.col("effort").cast(pl.String))
    left = {(model, effort): count for model, effort, count in missing.group_by(*place).len().iter_rows()}
    usd, unpriced = 0.0, []
    for one in expected.models:
        count = left.get((one.model, one.effort), 0)
        if count and one.cost_usd is None:
            unpriced.append(one.model)
        elif count and one.cost_usd is not None:
            usd += one.cost_usd * count / one.calls
    return Charge(missing.height, usd, tuple(dict.fromkeys(unpriced)), budget_usd)


def refuse_unless_free(what: Charge, audit: str, go_on: str) -> None:
    """Where nobody can be asked: a run that costs something is not begun.

    Parameters
    ----------
    go_on
        How the yes is given.

    Raises
    ------
    SettingsError
        With the figure, and the ways on.
    """
    if what.is_free:
        return
    price = "; or state the price in its [[model]]: price = { input = ..., output = ... }, 0 if it is free"
    raise SettingsError(
        f"{audit}: this run may cost {what}. Nothing was asked of any model: give {go_on} to go on"
        f"{price if what.unpriced else ''}"
    )


def confirmed(console: Console, what: Charge, audit: str) -> bool:
    """Ask before money is spent.

    Raises
    ------
    SettingsError
        Nobody is there to answer.
    """
    if what.is_free:
        return True
    if sys.stdin is None or not (console.is_terminal and sys.stdin.isatty()):
        refuse_unless_free(what, audit, "--yes")
    interrupt_input()
    try:
        answer = console.input(f"this run may cost {what}; go on? [y/N] ", markup=False)
    except EOFError:
        console.print()
        return False
    return answer.strip().lower() in ("y", "yes")
