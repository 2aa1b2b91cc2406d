"""What the readers of harness logs share: rows being collected, and where a molecule's name stands."""

from collections import Counter
from typing import Any

import polars as pl

from . import tables
from .errors import TableError
from .text_columns import text_series

NAMES = (
    "model",
    "molecule",
    "answer",
    "prediction",
    "benchmark",
    "smiles",
    "condition",
    "effort",
    "sample",
    "reasoning_tokens",
)
_MOLECULE_KEYS = ("molecule", "molecule_name", "name", "compound", "id")


class LogRows:
    """Collects answers of one log and counts what is left out."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._rows: list[int] = []
        self._columns: dict[str, list[str | None]] = {name: [] for name in NAMES}
        self._left_out: Counter[str] = Counter()

    def add(self, row: int, **values: str | None) -> None:
        """One answer; columns not named are null."""
        self._rows.append(row)
        for name, column in self._columns.items():
            column.append(values.get(name))

    def leave_out(self, reason: str) -> None:
        self._left_out[reason] += 1

    def table(self, notes: list[str]) -> tables.Table:
        """All rows as a table of answers.

        Raises
        ------
        TableError
            The log held no sample at all.
        """
        if not self._rows and not self._left_out:
            raise TableError(f"{self.source}: the log holds no samples.")
        counted = [f"{self.source}: {count} left out ({reason})." for reason, count in self._left_out.items()]
        frame = pl.DataFrame(
            [
                pl.Series("row", self._rows, dtype=pl.Int64),
                *(text_series(name, column) for name, column in self._columns.items()),
            ]
        )
        return tables.Table(frame, self.source, [*notes, *counted], dict(self._left_out))


def named_molecule(fields: Any, otherwise: Any) -> tuple[str | None, str | None]:
    """Molecule id and SMILES in the fields of a document or sample; `otherwise` is its own id.

    A field counts by its name in any case; names of molecules go before ids, ids before the SMILES.
    """
    named = {key.strip().lower(): value for key, value in fields.items()} if isinstance(fields, dict) else {}
    smiles = _text(named.get("smiles")) or _text(named.get("canonical_smiles"))
    molecule = next((text for key in _MOLECULE_KEYS if (text := _text(named.get(key)))), None)
    return molecule or smiles or _text(otherwise), smiles


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
