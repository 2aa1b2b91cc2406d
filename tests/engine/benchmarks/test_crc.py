"""The embedded benchmarks against the package they come from, and against facts stated outside the code."""

import csv
import subprocess
import sys
import time
from importlib.resources import files

import polars as pl
import pytest

from molaudit.engine.benchmarks import BENCHMARKS, _chemicals
from molaudit.engine.errors import SettingsError
from molaudit.storage.errors import TableError


def significant(text: str) -> int:
    """Count the figures by hand's rule: trailing zeros never count."""
    return len(text.replace(".", "").replace("-", "").strip("0"))


# Rows with a SMILES and rows with three figures or more. The first column and the boiling points' 3,955 are
# stated in the data notes; the tables' sizes follow from the package.
@pytest.mark.parametrize(
    ("name", "rows"), [("crc-boiling-points", 4764), ("crc-melting-points", 7089), ("crc-logp", 437)]
)
def test_every_compound_with_a_structure_is_there_once(name: str, rows: int) -> None:
    benchmark = BENCHMARKS.get(name).load()
    assert benchmark.frame.schema == {"molecule": pl.String, "smiles": pl.String, "label": pl.String}
    assert benchmark.frame.height == rows
    assert benchmark.frame["molecule"].is_unique().all()
    assert benchmark.frame.null_count().sum_horizontal().item() == 0
    assert benchmark.frame["label"].str.contains(r"^-?\d+(\.\d+)?$").all()
    assert benchmark.duplicates == ()
    assert BENCHMARKS.get(name).kind == "measured"


def test_3955_boiling_points_carry_three_figures() -> None:
    labels = BENCHMARKS.get("crc-boiling-points").load().frame["label"]
    assert sum(significant(text) >= 3 for text in labels) == 3955


# As the CRC handbook prints them (Physical Constants of Organic Compounds).
@pytest.mark.parametrize(
    ("name", "molecule", "label"),
    [
        ("crc-boiling-points", "Formaldehyde", "-19.1"),
        ("crc-boiling-points", "Benzamide", "306"),
        ("crc-boiling-points", "Benzene", "80.08"),
        ("crc-boiling-points", "Ethanol", "78.24"),
        ("crc-melting-points", "Formaldehyde", "-92"),
        ("crc-melting-points", "Benzene", "5.538"),
        ("crc-logp", "Tetrachloromethane", "2.64"),
    ],
)
def test_labels_are_the_numbers_that_the_handbook_prints(name: str, molecule: str, label: str) -> None:
    frame = BENCHMARKS.get(name).load().frame
    assert frame.filter(pl.col("molecule") == molecule)["label"].to_list() == [label]


def test_each_label_is_the_stored_kelvin_minus_273_15_in_exact_thousandths() -> None:
    """Integers of a ten-thousandth of a kelvin are exact and share no code with Decimal."""

    def ten_thousandths(text: str) -> int:
        whole, _, fraction = text.partition(".")
        size = int(whole.lstrip("-") + fraction.ljust(4, "0"))
        return -size if text.startswith("-") else size

    source = files("chemicals").joinpath("Misc/Physical Constants of Organic Compounds.csv")
    rows = csv.DictReader(
        source.read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    kelvin = {row["Name"]: row["Tb"] for row in rows if row["Tb"]}
    frame = BENCHMARKS.get("crc-boiling-points").load().frame
    for molecule, _, label in frame.iter_rows():
        assert ten_thousandths(label) == ten_thousandths(kelvin[molecule]) - 2_731_500
        assert not ("." in label and label.endswith("0"))


def test_structures_are_those_that_the_package_gives_for_the_cas_number() -> None:
    from chemicals import search_chemical

    frame = BENCHMARKS.get("crc-logp").load().frame
    for molecule in ("Formaldehyde", "Benzo[a]pyrene", "Tetrachloromethane"):
        smiles = frame.filter(pl.col("molecule") == molecule)["smiles"].item()
        assert smiles == search_chemical(molecule).smiles


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(SettingsError, match="crc-boiling-points, crc-logp, crc-melting-points"):
        BENCHMARKS.get("crc-boiling-point")
    assert BENCHMARKS.names() == ("crc-boiling-points", "crc-logp", "crc-melting-points")


def test_loading_runs_neither_rdkit_nor_chemicals_and_takes_under_half_a_second() -> None:
    code = (
        "import sys, time; from molaudit.engine.benchmarks import BENCHMARKS; start = time.process_time();"
        "BENCHMARKS.get('crc-boiling-points').load(); print(time.process_time() - start);"
        "print(sorted({'rdkit', 'chemicals', 'pandas', 'duckdb'} & set(sys.modules)))"
    )
    seconds, loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")[:2]
    assert float(seconds) < 0.5
    assert loaded == "[]"


def test_a_second_load_is_free() -> None:
    BENCHMARKS.get("crc-logp").load()
    start = time.thread_time()
    BENCHMARKS.get("crc-logp").load()
    assert time.thread_time() - start < 0.01


def test_a_package_without_the_table_is_named(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_chemicals, "_package", lambda: tmp_path)
    _chemicals._labels.cache_clear()
    with pytest.raises(TableError, match="CRC logP table"):
        BENCHMARKS.get("crc-logp").load()


def test_names_and_structures_that_occur_twice_are_reported(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Environment").mkdir()
    (tmp_path / "Environment" / "CRC logP table.tsv").write_text(
        "CAS\tName \tlogP\n1-1-1\tX\t0.10\n2-2-2\tX\t2\n3-3-3\tY\t3.5\n4-4-4\tno structure\t1\n"
        "5-5-5\tno value\t\n"
    )
    (tmp_path / "Identifiers").mkdir()
    for table in _chemicals._STRUCTURES:
        (tmp_path / "Identifiers" / table).write_text("")
    (tmp_path / "Identifiers" / _chemicals._STRUCTURES[0]).write_text(
        "".join(f"9\t{cas}\tC\t1\t{smiles}\tinchi\n" for cas, smiles in
                [("1-1-1", "C"), ("2-2-2", "CC"), ("3-3-3", "CC"), ("5-5-5", "CCC")])
    )  # fmt: skip
    monkeypatch.setattr(_chemicals, "_package", lambda: tmp_path)
    _chemicals._labels.cache_clear()
    benchmark = BENCHMARKS.get("crc-logp").load()
    _chemicals._labels.cache_clear()
    assert benchmark.frame.rows() == [
        ("X [1-1-1]", "C", "0.10"),
        ("X [2-2-2]", "CC", "2"),
        ("Y", "CC", "3.5"),
    ]
    assert benchmark.duplicates == ("X [1-1-1]", "X [2-2-2]", "Y")
    assert benchmark.without_structure == 1
