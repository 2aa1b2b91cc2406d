"""The benchmarks that come with the installation: CRC tables of measured values in the `chemicals` package.

The tables are read as text, straight from the package's files: neither `chemicals` nor RDKit is imported,
and no value passes through a float. Temperatures are stored there in kelvin with two decimals; minus 273.15,
exactly, gives back the degrees Celsius that the handbook prints (five boiling points were stored with fewer).

Zeros at the end of a decimal fraction are dropped ("182.00" is "182"). They come from the conversion of the
whole table to two decimals, not from the measurement: kept, they would claim five figures for three.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import polars as pl

from .errors import TableError

SCHEMA = {"molecule": pl.String, "smiles": pl.String, "label": pl.String}

ZERO_CELSIUS = Decimal("273.15")

# In the order in which a CAS number is looked up; the columns are PubChem id, CAS, formula, mass, SMILES, ...
_STRUCTURES = (
    "chemical identifiers pubchem small.tsv",
    "chemical identifiers example user db.tsv",
    "Anion db.tsv",
    "Cation db.tsv",
    "Inorganic db.tsv",
    "chemical identifiers pubchem large.tsv",
)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Molecules with a published value each.

    ``frame`` has the text columns ``molecule`` (unique), ``smiles`` and ``label``. ``duplicates`` names the
    molecules whose name or SMILES the source holds more than once; a repeated name carries its CAS number in
    brackets.
    ``without_structure`` counts the source's values that were left out because no SMILES is known.
    """

    name: str
    property: str
    unit: str
    kind: str
    frame: pl.DataFrame
    source: str
    licence: str
    duplicates: tuple[str, ...]
    without_structure: int


@dataclass(frozen=True, slots=True)
class _Table:
    """Where a benchmark's values are and how one becomes a label."""

    path: str
    column: int
    label: Callable[[str], str]
    property: str
    unit: str
    source: str


def _celsius(kelvin: str) -> str:
    """Degrees Celsius as the handbook prints them, without the zeros that the conversion added."""
    return _without_padding(format(Decimal(kelvin) - ZERO_CELSIUS, "f"))


def _without_padding(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"", "-0"} else text


def _as_written(text: str) -> str:
    return text


_ORGANIC = "Misc/Physical Constants of Organic Compounds.csv"
_HANDBOOK = (
    "CRC Handbook of Chemistry and Physics, 95th edition, as tabulated in the Python package chemicals"
)

_TABLES = {
    "crc-boiling-points": _Table(
        _ORGANIC,
        3,
        _celsius,
        "normal boiling point",
        "°C",
        f"{_HANDBOOK}: Physical Constants of Organic Compounds",
    ),
    "crc-melting-points": _Table(
        _ORGANIC,
        2,
        _celsius,
        "melting point",
        "°C",
        f"{_HANDBOOK}: Physical Constants of Organic Compounds",
    ),
    "crc-logp": _Table(
        "Environment/CRC logP table.tsv",
        2,
        _as_written,
        "log10 of the octanol-water partition coefficient",
        "",
        f"{_HANDBOOK}: Octanol-Water Partition Coefficients",
    ),
}


def names() -> list[str]:
    """Name every benchmark that `embedded` takes."""
    return list(_TABLES)


@cache
def embedded(name: str) -> Benchmark:
    """Load one of the benchmarks of `names`, in the order of its source table.

    Raises
    ------
    TableError
        No such benchmark, or the installed `chemicals` package does not hold the table.
    """
    if name not in _TABLES:
        raise TableError(f"no embedded benchmark is called {name!r}: choose one of {', '.join(_TABLES)}")
    table = _TABLES[name]
    package = _package()
    values = list(_values(package / table.path, table.column))
    structures = _structures(package / "Identifiers", {cas for cas, _, _ in values})
    known = [
        (cas, title, structures[cas], table.label(value)) for cas, title, value in values if cas in structures
    ]
    titles = Counter(title for _, title, _, _ in known)
    smiles = Counter(text for _, _, text, _ in known)
    molecules = [f"{title} [{cas}]" if titles[title] > 1 else title for cas, title, _, _ in known]
    twice = [
        molecule
        for molecule, (_, title, text, _) in zip(molecules, known, strict=True)
        if titles[title] > 1 or smiles[text] > 1
    ]
    frame = pl.DataFrame(
        {"molecule": molecules, "smiles": [row[2] for row in known], "label": [row[3] for row in known]},
        schema=SCHEMA,
    )
    return Benchmark(
        name=name,
        property=table.property,
        unit=table.unit,
        kind="measured",
        frame=frame,
        source=table.source,
        licence="MIT (package chemicals)",
        duplicates=tuple(twice),
        without_structure=len(values) - len(known),
    )


def _package() -> Path:
    """Find the installed `chemicals` package without running its code, which would take ten times as long."""
    found = importlib.util.find_spec("chemicals")
    if found is None or not found.submodule_search_locations:
        raise TableError(
            "the embedded benchmarks need the Python package chemicals, which is not installed "
            "(pip install chemicals)"
        )
    return Path(found.submodule_search_locations[0])


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise TableError(
            f"{path}: the installed package chemicals lacks this table ({error.strerror}); "
            "molaudit was tested with version 1.5"
        ) from error


def _values(path: Path, column: int) -> Iterator[tuple[str, str, str]]:
    """Yield CAS number, name and value, as text, of each row that has a value in ``column``."""
    lines = _lines(path)
    next(lines, None)
    for line in lines:
        cells = line.decode().rstrip("\r\n").split("\t")
        if len(cells) > column and cells[column].strip():
            yield cells[0], cells[1].strip(), cells[column].strip()


def _structures(folder: Path, wanted: set[str]) -> dict[str, str]:
    """Map CAS numbers to SMILES, reading further tables only while one is missing.

    Bytes are split before they are decoded, and only as far as the SMILES: the large table is 43 MB of
    synonyms, read in 0.13 s this way.
    """
    keys = {cas.encode() for cas in wanted}
    found: dict[str, str] = {}
    for table in _STRUCTURES:
        for line in _lines(folder / table):
            cells = line.split(b"\t", 5)
            if len(cells) > 5 and cells[1] in keys and cells[4]:
                found.setdefault(cells[1].decode(), cells[4].decode())
        if len(found) == len(keys):
            break
    return found
