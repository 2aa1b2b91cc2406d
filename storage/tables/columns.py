"""Which columns a table must have, what a reader hands back, and what to say when columns are missing."""

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from ..errors import TableError

# Names that other tables use for the same thing, compared without case, spaces, dashes and underscores. A molecule's
# name and structure are taken under them, and a note says so: what they hold is checked when answers meet labels.
_KNOWN = {
    "molecule": (
        "molecule_name", "molecule_id", "mol_name", "mol_id", "compound", "compound_name", "compound_id",
        "cmpd", "cmpd_name", "cmpd_id", "drug_name", "drug_id", "molecule_chembl_id", "chembl_id",
    ),
    "smiles": (
        "canonical_smiles", "isomeric_smiles", "smiles_canonical", "smiles_string", "smiles_text", "mol_smiles",
        "molecule_smiles", "compound_smiles", "drug_smiles", "drug", "mol", "structure",
    ),
    "label": ("y",),
}  # fmt: skip
# Names that are only ever suggested: what they hold decides numbers, or (an index, a name of anything) may mean
# something else, and a silent renaming could pick the wrong column.
_OFTEN_CALLED = {
    "benchmark": ("dataset", "task", "set"),
    "molecule": ("name", "id", "index"),
    "label": ("target", "value", "truth", "exp", "measured"),
    "answer": ("answer_text", "response", "reply", "completion", "output", "text"),
    "prediction": ("pred", "predicted", "y_pred", "estimate"),
    "model": ("model_name", "tag", "llm"),
    "arm": ("level", "effort", "setting"),
    "n_usable": ("n", "n_scorable"),
    "floor12": ("mode_R12", "floor_R12"),
    "floor23": ("mode_R23", "floor_R23"),
}
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Columns:
    """The columns that a caller wants from a table.

    Parameters
    ----------
    required
        Each must be there.
    one_of
        Of each of these groups at least one must be there.
    optional
        Taken where there; an all-null column stands in for a missing one.
    everything
        Also keep every column of the input as it was given; then only exact names count.
    """

    required: tuple[str, ...]
    one_of: tuple[tuple[str, ...], ...] = ()
    optional: tuple[str, ...] = ()
    everything: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.required, *(name for group in self.one_of for name in group), *self.optional)


@dataclass
class Parsed:
    """What a reader found: text columns of equal length, their row numbers, and what it passed over."""

    columns: "Chosen"
    chosen: dict[str, pl.Series]
    given: pl.DataFrame | None
    rows: pl.Series
    blank: int = 0
    notes: list[str] = field(default_factory=list)
    floats: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chosen:
    """Where the wanted columns stand.

    Attributes
    ----------
    positions
        Wanted name to its position among the names found; names that are absent and may be absent are left out.
    ignored
        Names found that the caller has no use for, in order.
    notes
        Which columns were taken under another name, or not taken because two of them could be meant.
    """

    positions: dict[str, int]
    ignored: list[str]
    notes: list[str]


def choose(found: Sequence[str], wanted: Columns, source: str) -> Chosen:
    """Find the wanted columns among the names found: by their own name, else by one that is known to mean it.

    Raises
    ------
    TableError
        A column is missing, a name that matters occurs twice, or two columns may mean one that is needed.
    """
    names = [name.strip() for name in found]
    relevant = set(names) if wanted.everything else set(wanted.names)
    for name, times in Counter(names).items():
        if times > 1 and name in relevant:
            raise TableError(f"{source}: column '{name}' occurs {times} times. Each name may occur once.")
    positions = {name: names.index(name) for name in wanted.names if name in names}
    notes: list[str] = []
    doubtful: dict[str, list[int]] = {}
    if not wanted.everything:
        exact = set(positions.values())
        for name in wanted.names:
            if name in positions:
                continue
            places = _meant(name, [("" if at in exact else each) for at, each in enumerate(names)])
            if len(places) == 1:
                positions[name] = places[0]
                notes.append(f"{source}: column {shown([names[places[0]]])} is read as '{name}'.")
            elif places:
                doubtful[name] = places
    _demand(names, positions, doubtful, wanted, source)
    for name, places in doubtful.items():
        may_be = shown([names[at] for at in places])
        notes.append(
            f"{source}: columns {may_be} may each be '{name}'; none is used. Rename the one that is."
        )
    used = set(positions.values())
    ignored = [name for at, name in enumerate(names) if at not in used]
    return Chosen(positions, ignored, notes)


def _meant(name: str, names: list[str]) -> list[int]:
    """Positions of the columns that may mean ``name``: its other spellings, else the names known for it."""
    plain = [_SEPARATORS.sub("", each.casefold()) for each in names]
    for known in ((name,), _KNOWN.get(name, ())):
        spellings = {_SEPARATORS.sub("", each) for each in known}
        if places := [at for at, each in enumerate(plain) if each in spellings]:
            return places
    return []


def _demand(
    names: list[str], positions: dict[str, int], doubtful: dict[str, list[int]], wanted: Columns, source: str
) -> None:
    groups = [(name,) for name in wanted.required] + list(wanted.one_of)
    missing = [group for group in groups if not set(group) & set(positions)]
    for group in missing:
        for name in group:
            if name in doubtful:
                raise TableError(
                    f"{source}: columns {shown([names[at] for at in doubtful[name]])} may each be '{name}'. "
                    f"Rename the one that is to '{name}'."
                )
    if missing:
        raise TableError(_missing(names, missing, wanted, source))


def shown(names: Sequence[str], most: int = 12) -> str:
    """A list of names for a message: quoted where empty or odd, cut when long."""
    parts = [name if name.isidentifier() else repr(name[:40]) for name in names[:most]]
    return ", ".join(parts) + (f" and {len(names) - most} more" if len(names) > most else "")


def _missing(names: list[str], missing: list[tuple[str, ...]], wanted: Columns, source: str) -> str:
    needed = [shown(wanted.required)] if wanted.required else []
    needed += [f"at least one of {shown(group)}" for group in wanted.one_of]
    absent = [group[0] for group in missing if len(group) == 1]
    heads = []
    if absent:
        heads.append(
            f"column{'s' if len(absent) > 1 else ''} {shown(absent)} {'are' if len(absent) > 1 else 'is'} missing"
        )
    heads += [f"none of the columns {shown(group)} is there" for group in missing if len(group) > 1]
    hints = [hint for group in missing for name in group if (hint := _hint(name, names))]
    head = f"{source}: {'; '.join(heads)}. Needed: {', and '.join(needed)}. Found: {shown(names)}."
    return " ".join([head, *hints])


def _hint(name: str, found: list[str]) -> str:
    for candidate in found:
        if candidate != name and candidate.casefold() == name.casefold():
            return f"'{candidate}' differs from '{name}' in upper and lower case: rename it."
    for candidate in found:
        if candidate.casefold() in (alias.casefold() for alias in _OFTEN_CALLED.get(name, ())):
            return f"Is '{candidate}' meant to be '{name}'? Then rename it."
    near = difflib.get_close_matches(name, found, n=1, cutoff=0.75)
    return f"Did you mean '{name}' by '{near[0]}'? Then rename it." if near else ""
