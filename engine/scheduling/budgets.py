"""Money: a call is admitted only while what is spent, what is out and what it may cost stay within the limit."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from ..models.records import Call, Usage


class Purse(Enum):
    """What the money says to a call: go, wait for a reply that may free some, or never."""

    FITS = auto()
    WAIT = auto()
    SPENT = auto()


CostOf = Callable[[Call, Usage], float | None]


class Budget:
    """Reserve before the call, settle after the reply.

    Parameters
    ----------
    price
        US dollars of a usage, or None where no price is known: such calls are neither counted nor held back.
    limit_usd
        For the run; None is no limit.
    spent_usd
        Spent by earlier sessions of this run.
    """

    def __init__(self, price: CostOf, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        self._price = price
        self._limit = limit_usd
        self.spent_usd = spent_usd
        self.reserved_usd = 0.0
        self._out = 0

    def worst_case(self, call: Call) -> float:
        """What the call may cost: all of its planned input and output."""
        usage = Usage(input_tokens=call.input_tokens, output_tokens=call.output_tokens)
        return self._price(call, usage) or 0.0

    def check(self, amount: float) -> Purse:
        """Whether ``amount`` more can be reserved."""
        if self._limit is None:
            return Purse.FITS
        if self.spent_usd + amount > self._limit:
            return Purse.SPENT
        if self.spent_usd + self.reserved_usd + amount > self._limit:
            return Purse.WAIT
        return Purse.FITS

    def reserve(self, amount: float) -> None:
        """Hold ``amount`` for a call that goes out."""
        self.reserved_usd += amount
        self._out += 1

    def settle(self, reserved: float, call: Call, usage: Usage, *, billed: bool) -> float | None:
        """Replace a reservation by the cost.

        A call that may have been ``billed``, by how much nobody says, counts in full against the limit.

        Returns
        -------
        float or None
            The known cost; None when the provider counted nothing or has no known price.
        """
        self._release(reserved)
        known = (
            usage.input_tokens is not None or usage.output_tokens is not None or usage.cost_usd is not None
        )
        cost = usage.cost_usd if usage.cost_usd is not None else self._price(call, usage) if known else None
        spent = reserved if cost is None and billed else cost or 0.0
        self.spent_usd += spent
        return cost

    def _release(self, amount: float) -> None:
        """Give a reservation back. When none is left the sum is exactly 0: a residue would let a call wait for a
        reply that nobody owes."""
        self._out -= 1
        self.reserved_usd = max(0.0, self.reserved_usd - amount) if self._out > 0 else 0.0
