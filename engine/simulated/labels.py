"""Which labels the simulated models know: by property, then by SMILES or name."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..benchmarks import BENCHMARKS
from ..errors import SettingsError
from ..models.simulated import labels_of


class Book:
    """Tables of labels, one per property. What no table holds is asked under an empty table."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, str]] = {"": {}}
        self._names: dict[str, dict[str, str]] = {}

    def add(self, property: str, labels: Mapping[str, str], names: Mapping[str, str]) -> None:
        """Add labels by key; ``names`` maps molecule names to keys. A key that is there keeps its label."""
        self._tables[property] = {**labels, **self._tables.get(property, {})}
        self._names[property] = {**names, **self._names.get(property, {})}

    def labels(self, table: str) -> Mapping[str, str]:
        """Return the labels of a table that `find` named."""
        return self._tables[table]

    def find(self, question: Mapping[str, str]) -> tuple[str, str]:
        """Return the table and the key of a question's fields.

        The table is that of the property asked for, where there is one, else the first that holds the
        molecule (tables from files come first), else the empty one.
        """
        name = question.get("Name", "")
        smiles = question.get("SMILES")
        asked = question.get("Property", "")
        tables = [asked] if asked and asked in self._tables else self._tables
        for table in tables:
            key = smiles if smiles is not None else self._names.get(table, {}).get(name, name)
            if key in self._tables[table]:
                return table, key
        return (asked if asked in self._tables else ""), smiles if smiles is not None else name


def load(files: Iterable[str] = ()) -> Book:
    """Load the embedded benchmarks and, before them, label files: each ``PATH`` or ``PROPERTY=PATH``.

    A file is CSV, or TSV by its name, with the columns ``molecule``, ``label`` and optionally ``smiles``.

    Raises
    ------
    SettingsError
        A file cannot be read or lacks a column.
    """
    book = Book()
    for text in files:
        property, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            property, path = f"labels of {text}", text
        book.add(property, *_read(Path(path)))
    for benchmark in BENCHMARKS:
        frame = benchmark.load().frame
        keys = dict(zip(frame["molecule"].to_list(), frame["smiles"].to_list(), strict=True))
        book.add(benchmark.property, labels_of(frame), keys)
    return book


def _read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"--labels {path}: cannot be read ({error})") from error
    missing = {"molecule", "label"} - set(rows[0] if rows else ())
    if missing:
        raise SettingsError(
            f"--labels {path}: no column {' and no '.join(sorted(missing))}; "
            "the columns are molecule, label and optionally smiles"
        )
    labels: dict[str, str] = {}
    names: dict[str, str] = {}
    for row in rows:
        key = row.get("smiles") or row["molecule"]
        labels.setdefault(key, (row["label"] or "").strip())
        names.setdefault(row["molecule"], key)
    return labels, names
