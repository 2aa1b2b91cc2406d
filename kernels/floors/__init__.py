"""The molecule-blind floor: what digits alone, without a molecule, let one guess (METHOD 1.3)."""

from .estimating import (
    LEAST,
    MIN_LABELS,
    MIN_PREFIX,
    Floors,
    first_draw,
    floors,
    matched_shares,
    mode_repeats,
)

__all__ = [
    "LEAST",
    "MIN_LABELS",
    "MIN_PREFIX",
    "Floors",
    "first_draw",
    "floors",
    "matched_shares",
    "mode_repeats",
]
