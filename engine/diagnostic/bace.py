"""BACE: is the molecule an inhibitor of beta-secretase 1 (MoleculeNet's classes)?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from . import binary
from .building import Order, TaskPairs

KIND = "bace"
COLUMNS = binary.columns("class")
DEFAULTS = binary.DEFAULTS
OPTIONS: tuple[str, ...] = ()
BALANCED = True


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of BACE, from tables with ``smiles`` and ``class``."""
    return binary.build(KIND, "class", frames, order)
