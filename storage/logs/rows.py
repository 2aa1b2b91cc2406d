"""What the readers of harness logs share: rows being collected, and where a molecule's name stands.

A harness numbers what it asks: lm-evaluation-harness by `doc_id`, Inspect by an automatic `id`, others by an index.
Such a number is no molecule, though labels may happen to be numbered too: it is never taken for one.
"""

import re
from collections import Counter
from typing import Any, NamedTuple

import polars as pl

from ..errors import TableError
from ..tables import reading as tables
from ..tables.text_columns import text_series

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
    "outcome",
)
_MOLECULE_KEYS = (
    "molecule", "molecule_name", "mol_name", "compound", "compound_name", "drug_name", "name",
    "molecule_id", "mol_id", "compound_id", "drug_id", "cmpd_id", "chembl_id", "molecule_chembl_id",
)  # fmt: skip
_SMILES_KEYS = ("smiles", "canonical_smiles", "isomeric_smiles", "mol_smiles", "drug_smiles", "drug")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.0+)?")
_SEPARATORS = re.compile(r"[\s\-]+")
UNNAMED = "no molecule named"


class Named(NamedTuple):
    """What a document or sample says of its molecule; both null where it says nothing that can be used."""

    molecule: str | None
    smiles: str | None


class LogRows:
    """Collects answers of one log and counts what is left out."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._rows: list[int] = []
        self._columns: dict[str, list[str | None]] = {name: [] for name in NAMES}
        self._left_out: Counter[str] = Counter()
        self._taken: set[tuple[str | None, ...]] = set()

    def add(self, row: int, **values: str | None) -> None:
        """One answer; columns not named are null.

        Within a log no reply stands twice: where two samples are of one molecule, the later one gets the next index.
        """
        if (sample := values.get("sample")) is not None:
            about = tuple(values.get(name) for name in ("model", "molecule", "smiles", "condition", "effort"))
            while (*about, sample) in self._taken:
                sample = str(int(sample) + 1)
            self._taken.add((*about, sample))
            values["sample"] = sample
        self._rows.append(row)
        for name, column in self._columns.items():
            column.append(values.get(name))

    def add_named(self, row: int, named: Named, **values: str | None) -> None:
        """One answer, or a call without one (its `outcome` says why), of a molecule; left out where none is named."""
        if named.molecule is None:
            self.leave_out(UNNAMED)
        else:
            self.add(row, molecule=named.molecule, smiles=named.smiles, **values)

    def leave_out(self, reason: str) -> None:
        """Count a record that is no answer of a molecule."""
        self._left_out[reason] += 1

    def table(self, notes: list[str]) -> tables.Table:
        """All rows as a table of answers.

        Raises
        ------
        TableError
            The log held no sample at all, or none that names its molecule.
        """
        if not self._rows and not self._left_out:
            raise TableError(f"{self.source}: the log holds no samples.")
        if not self._rows and self._left_out[UNNAMED]:
            raise TableError(
                f"{self.source}: none of {self._left_out[UNNAMED]} samples names its molecule; a number that a "
                "harness gave (doc_id, id, index, custom_id) is no molecule, even where labels are numbered "
                "too. Give each document or sample a field 'smiles' or 'molecule' (its name in the labels), or "
                "write a table with model, molecule or smiles, and answer."
            )
        outcomes = Counter(outcome for outcome in self._columns["outcome"] if outcome is not None)
        counted = [
            f"{self.source}: {count} without an answer ({outcome})." for outcome, count in outcomes.items()
        ]
        counted += [
            f"{self.source}: {count} left out ({reason})." for reason, count in self._left_out.items()
        ]
        frame = pl.DataFrame(
            [
                pl.Series("row", self._rows, dtype=pl.Int64),
                *(text_series(name, column) for name, column in self._columns.items()),
            ]
        )
        return tables.Table(frame, self.source, [*notes, *counted], dict(self._left_out))


def named_molecule(fields: Any, otherwise: Any) -> Named:
    """Molecule and SMILES in the fields of a document or sample; `otherwise` is the id that it has in the log.

    A field counts by its name in any case. Names go before ids, ids before the SMILES. A bare number as `id` may be
    a mere position, so it names nothing.
    """
    named: dict[str, Any] = {}
    if isinstance(fields, dict):
        named = {_SEPARATORS.sub("_", key.strip().lower()): value for key, value in fields.items()}
    smiles = next((text for key in _SMILES_KEYS if (text := _text(named.get(key)))), None)
    molecule = next((text for key in _MOLECULE_KEYS if (text := _text(named.get(key)))), None)
    ids = (_text(named.get("id")), _text(otherwise))
    given = next((text for text in ids if text and not _NUMBER.fullmatch(text)), None)
    return Named(molecule or given or smiles, smiles)


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
