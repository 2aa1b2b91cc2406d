"""Melting points of organic compounds (CRC Handbook)."""

from . import _chemicals
from ._benchmark import Benchmark

BENCHMARK = Benchmark(
    name="crc-melting-points",
    property="melting point",
    unit="°C",
    kind="measured",
    source=f"{_chemicals.HANDBOOK}: Physical Constants of Organic Compounds",
    licence=_chemicals.LICENCE,
    load=_chemicals.Table(_chemicals.ORGANIC, 2, _chemicals.celsius).load,
    version=_chemicals.version,
)
