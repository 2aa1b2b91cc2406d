"""Bootstrap distributions and intervals of an enumerated set of statistics."""

from .resampling import (
    UNDEFINED_SHARE,
    Errors,
    Interval,
    Method,
    Nested,
    Statistic,
    distribution,
    errors,
    interval,
    nested,
    nested_distribution,
)

__all__ = [
    "UNDEFINED_SHARE",
    "Errors",
    "Interval",
    "Method",
    "Nested",
    "Statistic",
    "distribution",
    "errors",
    "interval",
    "nested",
    "nested_distribution",
]
