"""What the benchmarks of the `chemicals` package share: CRC tables of measured values, installed with it.

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
from importlib import metadata
from pathlib import Path

import polars as pl

from molaudit.storage.errors import TableError

from ._benchmark import Labels

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
class Table:
    """Where the values of a table are, by path inside the package and column, and how one becomes a label."""

    path: str
    column: int
    label: Callable[[str], str]

    def load(self) -> Labels:
        """Read the labels, in the order of the source table. They are read once.

        Raises
        ------
        TableError
            The installed `chemicals` package does not hold the table.
        """
        return _labels(self)


def version() -> str:
    """The version of the package that holds the tables."""
    return f"chemicals {metadata.version('chemicals')}"


def celsius(kelvin: str) -> str:
    """Degrees Celsius as the handbook prints them, without the zeros that the conversion added."""
    return _without_padding(format(Decimal(kelvin) - ZERO_CELSIUS, "f"))


def _without_padding(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"", "-0"} else text


def as_written(text: str) -> str:
    return text


ORGANIC = "Misc/Physical Constants of Organic Compounds.csv"
HANDBOOK = "CRC Handbook of Chemistry and Physics, 95th edition, as tabulated in the Python package chemicals"
LICENCE = "MIT (package chemicals)"


@cache
def _labels(table: Table) -> Labels:
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
    return Labels(frame, tuple(twice), len(values) - len(known))


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
