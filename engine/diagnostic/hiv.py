"""HIV: did the molecule inhibit replication in the AIDS antiviral screen (MoleculeNet's classes)?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from . import binary
from .building import Order, TaskPairs

KIND = "hiv"
COLUMNS = binary.columns("HIV_active")
DEFAULTS = binary.DEFAULTS
OPTIONS: tuple[str, ...] = ()
BALANCED = True


def build(frames: Sequence[pl.DataFrame], order: Order) -> TaskPairs:
    """Make the pairs of HIV, from tables with ``smiles`` and ``HIV_active``."""
    return binary.build(KIND, "HIV_active", frames, order)
