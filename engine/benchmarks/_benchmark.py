"""What a benchmark is: words for the question, facts for the reader, and labels that load when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

Kind = Literal["measured", "computed"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Molecules with a published value each.

    ``frame`` has the text columns ``molecule`` (unique), ``smiles`` and ``label``. ``duplicates`` names the
    molecules whose name or SMILES the source holds more than once; a repeated name carries its CAS number in
    brackets.
    ``without_structure`` counts the source's values that were left out because no SMILES is known.
    """

    frame: pl.DataFrame
    duplicates: tuple[str, ...] = ()
    without_structure: int = 0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A property and its published values.

    Attributes
    ----------
    name
        As audit.toml uses it and tables call it.
    property, unit
        In the words of the question; an empty unit is a plain number.
    kind
        ``measured``, or ``computed``: then good digits need no memory.
    source, licence
        Where the values stand, and on what terms.
    load
        Gives the labels, from the installation or from the user's folder; it may be slow. TableError if they are
        not there.
    version
        What the labels follow from beside this entry: a package's version or a file's digest.
    """

    name: str
    property: str
    unit: str
    kind: Kind
    source: str
    licence: str
    load: Callable[[], Labels]
    version: Callable[[], str]

    def labels(self) -> pl.DataFrame:
        """The labels, with what every table of labels says of its benchmark.

        Raises
        ------
        TableError
            They are not installed.
        """
        return self.load().frame.with_columns(
            benchmark=pl.lit(self.name), kind=pl.lit(self.kind), unit=pl.lit(self.unit)
        )

    def digest(self) -> str:
        """What the labels are, without loading them."""
        return f"{self.name} {self.property} {self.unit} {self.kind} {self.version()}"
