"""Normal boiling points of organic compounds (CRC Handbook)."""

from . import _chemicals
from ._benchmark import Benchmark

BENCHMARK = Benchmark(
    name="crc-boiling-points",
    property="normal boiling point",
    unit="°C",
    kind="measured",
    source=f"{_chemicals.HANDBOOK}: Physical Constants of Organic Compounds",
    licence=_chemicals.LICENCE,
    load=_chemicals.Table(_chemicals.ORGANIC, 3, _chemicals.celsius).load,
    version=_chemicals.version,
)
