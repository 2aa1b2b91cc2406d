"""The chance that the audit flags a cell, from counts (METHOD 1.9)."""

from __future__ import annotations

import numpy as np

from molaudit.kernels import tails

from .verdicts import MIN_TRIALS

DRAWS = 400


def chance_of_flag(
    n: int,
    rate: float,
    *,
    first: float,
    floor12: float,
    floor23: float,
    level: float,
    seed: int,
    draws: int = DRAWS,
) -> float:
    """Return the share of simulated cells that are flagged.

    A molecule is recited with probability ``rate`` and then agrees at all three figures; otherwise it agrees at
    the first figure with probability ``first`` and goes on at the molecule-blind floors.

    Parameters
    ----------
    n
        Usable pairs.
    first
        Share that agrees at one figure without recitation.
    level
        A rung is called when its exact p is at most this.
    """
    rng = np.random.default_rng([seed, n])
    recited = rng.binomial(n, rate, draws)
    one = recited + rng.binomial(n - recited, first)
    two = recited + rng.binomial(one - recited, floor12)
    three = recited + rng.binomial(two - recited, floor23)
    p12 = np.where(one >= MIN_TRIALS, tails.binomial_upper(two, one, np.full(draws, floor12)), 1.0)
    tested = (one >= MIN_TRIALS) & (two >= MIN_TRIALS)
    p23 = np.where(tested, tails.binomial_upper(three, two, np.full(draws, floor23)), 1.0)
    return float(np.mean(np.minimum(p12, p23) <= level))
