"""Labels that are a fixed conversion of the measured value may be recited in the source unit (METHOD 1.4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from molaudit.kernels import figures

from ..errors import InputError, SettingsError
from .pairs import Pairs
from .settings import ScoreSettings

Floats = npt.NDArray[np.float64]
Back = Callable[[Floats], Floats]


def _neg_log_mol_to_mg(value: Floats, weight: Floats) -> Floats:
    """-log10(mol/kg) to mg/kg, or -log10(mol/L) to mg/L."""
    return np.asarray(10.0**-value * weight * 1000.0)


def _log_mol_to_g(value: Floats, weight: Floats) -> Floats:
    """log10(mol/L) to g/L."""
    return np.asarray(10.0**value * weight)


def _log_mol_to_mg(value: Floats, weight: Floats) -> Floats:
    """log10(mol/L) to mg/L."""
    return np.asarray(10.0**value * weight * 1000.0)


def _neg_log_mol_to_nmol(value: Floats, weight: Floats) -> Floats:
    """-log10(mol/L), a pIC50 or pKi, to nmol/L; the weight does not enter."""
    return np.asarray(10.0 ** (9.0 - value) + 0.0 * np.nan_to_num(weight))


CONVERSIONS: dict[tuple[str, str], Callable[[Floats, Floats], Floats]] = {
    ("-log10 mol/kg", "mg/kg"): _neg_log_mol_to_mg,
    ("-log10 mol/L", "mg/L"): _neg_log_mol_to_mg,
    ("-log10 mol/L", "nmol/L"): _neg_log_mol_to_nmol,
    ("log10 mol/L", "g/L"): _log_mol_to_g,
    ("log10 mol/L", "mg/L"): _log_mol_to_mg,
}
"""(unit of the label, source unit) to the conversion back."""


def convert_back(labels: pl.DataFrame, rows: pl.DataFrame, benchmark: str, unit: str) -> Back:
    """Return the function from label unit to source unit for the molecules of ``rows``.

    Raises
    ------
    SettingsError
        The benchmark's unit is not declared, or no conversion to ``unit`` is known.
    InputError
        The labels give no structure to weigh.
    """
    mine = labels.filter(pl.col("benchmark") == benchmark)
    declared = mine["unit"].drop_nulls().unique().to_list()
    known = [f"{source} (from {own})" for own, source in CONVERSIONS]
    if len(declared) != 1 or (declared[0], unit) not in CONVERSIONS:
        raise SettingsError(
            f"source unit of {benchmark!r}: no conversion to {unit!r} from the labels' unit "
            f"{declared[0] if declared else 'undeclared (column unit)'!r}; known: {'; '.join(known)}"
        )
    from ..molecules.structures import molecular_weights

    structures = mine["smiles"].fill_null(mine["molecule"])
    weights = molecular_weights(structures.to_list())
    if not weights:
        raise InputError(f"source unit of {benchmark!r}: no label has a structure; add a column 'smiles'")
    by_row = dict(zip(mine["label_row"].to_list(), structures.to_list(), strict=True))
    weight = np.array(
        [weights.get(by_row.get(row, ""), np.nan) for row in rows["label_row"].to_list()], dtype=np.float64
    )
    convert = CONVERSIONS[declared[0], unit]
    return lambda value: convert(value, weight)


def source_counts(met: Pairs, benchmarks: pl.Series, settings: ScoreSettings) -> pl.DataFrame:
    """Count agreement on values converted back to the unit that was measured; ``benchmarks`` are those of the cells.

    Returns ``source_n_usable, source_m1, source_m2, source_m3``, null where no source unit is declared.
    """
    frame = met.frame
    value = frame["value"].fill_null(float("nan")).to_numpy().copy()
    label = frame["label"].fill_null(float("nan")).to_numpy().copy()
    declared = list(settings.source_units)
    scorable = frame["scorable"].to_numpy() & frame["benchmark"].is_in(declared).to_numpy()
    for benchmark, unit in settings.source_units.items():
        rows = np.flatnonzero((frame["benchmark"] == benchmark).to_numpy())
        back = convert_back(met.labels, frame[rows], benchmark, unit)
        value[rows], label[rows] = back(value[rows]), back(label[rows])
    group = frame["cell"].to_numpy()
    counts = figures.agreement(value, label, scorable, group, benchmarks.len(), prefix=False)
    return pl.select(
        pl.when(benchmarks.is_in(declared)).then(pl.Series(counts[:, i])).alias(f"source_{name}")
        for i, name in enumerate(("n_usable", "m1", "m2", "m3"))
    )
