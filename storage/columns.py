"""Which columns a table must have, what a reader hands back, and what to say when columns are missing."""

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from .errors import TableError

# Names that other tables use for the same thing. They are only ever suggested: a silent renaming could pick the
# wrong one of two candidates.
_OFTEN_CALLED = {
    "benchmark": ("dataset", "task", "set"),
    "molecule": ("name", "compound", "id", "mol_id", "compound_id", "cmpd", "drug_id"),
    "smiles": ("structure", "canonical_smiles", "mol", "drug"),
    "label": ("y", "target", "value", "truth", "exp", "measured"),
    "answer": ("answer_text", "response", "reply", "completion", "output", "text"),
    "prediction": ("pred", "predicted", "y_pred", "estimate"),
    "model": ("model_name", "tag", "llm"),
    "arm": ("level", "effort", "setting"),
    "n_usable": ("n", "n_scorable"),
    "floor12": ("mode_R12", "floor_R12"),
    "floor23": ("mode_R23", "floor_R23"),
}


@dataclass(frozen=True)
class Columns:
    """The columns that a caller wants from a table.

    Parameters
    ----------
    required
        Each must be there.
    one_of
        At least one of these must be there.
    optional
        Taken where there; an all-null column stands in for a missing one.
    everything
        Also keep every column of the input as it was given.
    """

    required: tuple[str, ...]
    one_of: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    everything: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return self.required + self.one_of + self.optional


@dataclass
class Parsed:
    """What a reader found: text columns of equal length, their row numbers, and what it passed over."""

    found: list[str]
    chosen: dict[str, pl.Series]
    given: pl.DataFrame | None
    rows: pl.Series
    blank: int = 0
    notes: list[str] = field(default_factory=list)
    floats: tuple[str, ...] = ()


def choose(found: Sequence[str], wanted: Columns, source: str) -> dict[str, int]:
    """Find the wanted columns among the names found.

    Returns
    -------
    dict
        Wanted name to its position in `found`; names that are absent and may be absent are left out.

    Raises
    ------
    TableError
        A column is missing, or a name that matters occurs twice.
    """
    names = [name.strip() for name in found]
    relevant = set(names) if wanted.everything else set(wanted.names)
    for name, times in Counter(names).items():
        if times > 1 and name in relevant:
            raise TableError(f"{source}: column '{name}' occurs {times} times. Each name may occur once.")
    missing = [name for name in wanted.required if name not in names]
    if wanted.one_of and not set(wanted.one_of) & set(names):
        missing.extend(wanted.one_of)
    if missing:
        raise TableError(_missing(names, missing, wanted, source))
    return {name: names.index(name) for name in wanted.names if name in names}


def ignored(found: Sequence[str], wanted: Columns) -> list[str]:
    """Names that the caller has no use for, in order."""
    return [name.strip() for name in found if name.strip() not in wanted.names]


def shown(names: Sequence[str], most: int = 12) -> str:
    """A list of names for a message: quoted where empty or odd, cut when long."""
    parts = [name if name.isidentifier() else repr(name[:40]) for name in names[:most]]
    return ", ".join(parts) + (f" and {len(names) - most} more" if len(names) > most else "")


def _missing(names: list[str], missing: list[str], wanted: Columns, source: str) -> str:
    needed = shown(wanted.required)
    if wanted.one_of:
        needed += f", and at least one of {shown(wanted.one_of)}"
    absent = [name for name in missing if name not in wanted.one_of]
    if absent:
        head = (
            f"column {shown(absent)} is missing"
            if len(absent) == 1
            else f"columns {shown(absent)} are missing"
        )
    else:
        head = f"none of the columns {shown(wanted.one_of)} is there"
    hints = [hint for name in missing if (hint := _hint(name, names))]
    return " ".join([f"{source}: {head}. Needed: {needed}. Found: {shown(names)}.", *hints])


def _hint(name: str, found: list[str]) -> str:
    for candidate in found:
        if candidate.casefold() == name.casefold():
            return f"'{candidate}' differs from '{name}' in upper and lower case: rename it."
    for candidate in found:
        if candidate.casefold() in (alias.casefold() for alias in _OFTEN_CALLED.get(name, ())):
            return f"Is '{candidate}' meant to be '{name}'? Then rename it."
    near = difflib.get_close_matches(name, found, n=1, cutoff=0.75)
    return f"Did you mean '{name}' by '{near[0]}'? Then rename it." if near else ""
