"""The benchmarks that audit.toml can ``use``, found by listing this folder."""

from ..seams.registry import Registry
from ._benchmark import Benchmark

BENCHMARKS: Registry[Benchmark] = Registry("molaudit.engine.benchmarks", "BENCHMARK", "benchmark")
