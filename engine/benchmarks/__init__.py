"""Molecules with published values: one file a benchmark, each with a `Benchmark` called ``BENCHMARK``."""

from ._benchmark import Benchmark
from ._registry import BENCHMARKS

__all__ = ["BENCHMARKS", "Benchmark"]
