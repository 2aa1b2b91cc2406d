"""Octanol-water partition coefficients (CRC Handbook)."""

from . import _chemicals
from ._benchmark import Benchmark

BENCHMARK = Benchmark(
    name="crc-logp",
    property="log10 of the octanol-water partition coefficient",
    unit="",
    kind="measured",
    source=f"{_chemicals.HANDBOOK}: Octanol-Water Partition Coefficients",
    licence=_chemicals.LICENCE,
    load=_chemicals.Table("Environment/CRC logP table.tsv", 2, _chemicals.as_written).load,
    version=_chemicals.version,
)
