"""What is computed of answers: one file a statistic, each with a `Statistic` called ``STATISTIC``."""

from ..seams.columns import Column, typed
from ._registry import STATISTICS, cell_columns, ordered, run_tables
from ._statistic import Given, Statistic

__all__ = ["STATISTICS", "Column", "Given", "Statistic", "cell_columns", "ordered", "run_tables", "typed"]
