"""Labels as text: the grammar, the cleaning, and the counts that the published tables were made from."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA, needs

from molaudit.engine.answers.labels import SCHEMA, clean_digits, read_labels
from molaudit.engine.errors import InputError
from molaudit.storage.tables.checks import plain_number, stripped

BENCHMARKS = DATA / "benchmarks"
needs_benchmarks = needs(BENCHMARKS)

BY_HAND = [
    # text, digits, stripped, written
    ("-3.10", "-3.10", 2, 3),
    ("2.50", "2.50", 2, 3),
    ("5000", "5000", 1, 1),
    ("5000.0", "5000.0", 1, 5),
    ("0.10", "0.10", 1, 2),
    ("0.0100", "0.0100", 1, 3),
    ("100.", "100", 1, 1),
    (".50", "0.50", 1, 2),
    ("+7", "7", 1, 1),
    ("\u22123.10", "-3.10", 2, 3),
    (" 1.20e-5 ", "1.20e-5", 2, 3),
    ("1E+3", "1e3", 1, 1),
    # leading zeros of an exponent, however many
    ("1e0000005", "1e5", 1, 1),
    ("1.20e-00000000000000005", "1.20e-5", 2, 3),
    ("1.2e\u22125", "1.2e-5", 2, 2),
    ("1234567890123e0000005", "123456789012000000", 12, 12),
    ("0012.30", "12.30", 3, 4),
    ("-2.1799999999999997", "-2.18", 3, 3),
    ("-0.39999999999999997", "-0.4", 1, 1),
    ("-3.8599998999999996", "-3.8599999", 8, 8),
    ("-6.2199998", "-6.2199998", 8, 8),
    ("0.0001234567890123456", "0.000123456789012", 12, 12),
    ("123456789012", "123456789012", 12, 12),
    ("1234567890123", "1234567890120", 12, 12),
    ("2.50000000000000", "2.5", 2, 2),
    ("9.99999999999999", "10", 1, 1),
    # a tie at the twelfth figure goes to the even digit
    ("1.000000000025", "1.00000000002", 12, 12),
    ("1.000000000035", "1.00000000004", 12, 12),
]

PROBLEMS = [
    ("", "missing"),
    ("  ", "missing"),
    (None, "missing"),
    ("nan", "not finite"),
    ("-inf", "not finite"),
    ("1e400", "not finite"),
    ("1e9999999", "not finite"),
    ("1e99999999999999999999", "not finite"),
    ("1234567890123456e99999999999999999999", "not finite"),
    ("0", "zero"),
    ("0.00", "zero"),
    ("-0.0e5", "zero"),
    ("1e-400", "zero"),
    ("1e-99999999999999999999", "zero"),
    ("1234567890123456e-99999999999999999999", "zero"),
    ("1,2", "not a number"),
    ("1,234.5", "not a number"),
    ("3.05 kcal/mol", "not a number"),
    (">100", "not a number"),
    ("-", "not a number"),
    (".", "not a number"),
    ("e5", "not a number"),
    ("1e", "not a number"),
    ("1.2.3", "not a number"),
    ("--3", "not a number"),
    ("0x10", "not a number"),
    ("1_000", "not a number"),
]


@pytest.mark.parametrize(("text", "digits", "stripped", "written"), BY_HAND)
def test_a_label_keeps_its_written_figures(text: str, digits: str, stripped: int, written: int) -> None:
    row = read_labels(pl.Series([text])).row(0, named=True)
    expected = {"digits": digits, "stripped": stripped, "written": written, "problem": None}
    assert {name: row[name] for name in expected} == expected
    assert row["value"] == float(digits)


@pytest.mark.parametrize(("text", "problem"), PROBLEMS)
def test_what_is_no_label_says_why(text: str | None, problem: str) -> None:
    row = read_labels(pl.Series([text], dtype=pl.String)).row(0, named=True)
    assert row["problem"] == problem
    assert (row["stripped"], row["written"]) == (0, 0)
    assert row["value"] == (0.0 if problem == "zero" else None)


def test_rows_come_back_in_order_with_repeats() -> None:
    texts = ["2.0", None, "x", "2.0", "-1.5", None]
    read = read_labels(pl.Series(texts))
    assert read.schema == SCHEMA
    assert read["text"].to_list() == texts
    assert read["value"].to_list() == [2.0, None, None, 2.0, -1.5, None]


def test_an_empty_column_is_an_empty_table() -> None:
    assert read_labels(pl.Series([], dtype=pl.String)).schema == SCHEMA
    assert read_labels(pl.Series([None, None]))["problem"].to_list() == ["missing", "missing"]


def test_a_number_column_is_refused_for_its_lost_zeros() -> None:
    with pytest.raises(InputError, match="trailing zeros"):
        read_labels(pl.Series([1.5]))


@settings(deadline=None, max_examples=200)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-99999, max_value=99999))
def test_value_is_the_nearest_double_of_the_text(number: Decimal) -> None:
    text = str(number)
    row = read_labels(pl.Series([text])).row(0, named=True)
    assert row["value"] == float(text)
    assert row["digits"] == ("-" if text.startswith("-") else "") + format(abs(number), "f")


@settings(deadline=None, max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_cleaning_a_float_is_rounding_it_to_twelve_figures(number: float) -> None:
    text = repr(number)
    cleaned = clean_digits(text)
    exact = Decimal(text)
    if len(exact.as_tuple().digits) <= 12:
        assert cleaned == text
    else:
        assert Decimal(cleaned) == Decimal(format(exact, ".11e"))
        mantissa = cleaned.partition("e")[0]
        assert "." not in mantissa or not mantissa.endswith("0")


pieces = st.sampled_from(
    ["+", "-", "\u2212", "0", "00", "1", "25", ".", "e", "E", "e-", "e0000", "999", ",", "_", " "]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(st.lists(pieces, max_size=8).map("".join), min_size=1, max_size=20))
def test_what_a_table_accepts_is_a_label_and_nothing_else_is(texts: list[str]) -> None:
    """The table reader counts what it leaves out; a second grammar behind it would lose labels uncounted."""
    frame = pl.DataFrame({"label": texts}).with_columns(stripped("label"))
    accepted = frame.select(plain_number("label").cast(pl.Float64))["label"]
    read = read_labels(frame["label"])["value"]
    assert read.is_null().to_list() == accepted.is_null().to_list()
    # Digits beyond the twelfth are rounded off, so the two doubles may differ there.
    both = pl.DataFrame({"read": read, "accepted": accepted}).drop_nulls()
    assert both.filter(
        (pl.col("read") - pl.col("accepted")).abs() > 1e-11 * pl.col("accepted").abs()
    ).is_empty()


@needs_benchmarks
def test_freesolv_keeps_553_labels_as_written_and_486_stripped() -> None:
    read = _read("freesolv")
    assert (read["written"] >= 3).sum() == 553
    assert (read["stripped"] >= 3).sum() == 486


@needs_benchmarks
@pytest.mark.parametrize(
    "name",
    [
        "bace",
        "boilingpoint",
        "caco2",
        "esol",
        "freesolv_sampl",
        "ld50",
        "lipophilicity",
        "qm7",
        "qm8",
        "antiviral",
    ],
)
def test_labels_with_three_figures_are_as_many_as_published(name: str) -> None:
    published = pl.read_csv(
        DATA / "published" / "recall" / "label_floor.csv", schema_overrides={"n_label": pl.Int64}
    )
    expected = dict(zip(published["dataset"], published["n_label"], strict=True))[name.removesuffix("_sampl")]
    assert (_read(name)["stripped"] >= 3).sum() == expected


@needs_benchmarks
def test_the_other_edition_of_aqsoldb_has_two_labels_more() -> None:
    assert (_read("aqsoldb")["stripped"] >= 3).sum() == 9391


@needs_benchmarks
@pytest.mark.parametrize("name", ["caco2", "aqsoldb", "freesolv"])
def test_figures_agree_with_decimal_arithmetic(name: str) -> None:
    read = _read(name).filter(pl.col("problem").is_null())
    for row in read.iter_rows(named=True):
        exact = Decimal(row["text"])
        if len(exact.as_tuple().digits) > 12:
            exact = Decimal(format(exact, ".11e")).normalize()
        assert row["value"] == float(exact)
        assert row["stripped"] == len(exact.normalize().as_tuple().digits)
        if exact.as_tuple().exponent < 0:
            assert row["written"] == len(exact.as_tuple().digits)


def _read(name: str) -> pl.DataFrame:
    return read_labels(pl.read_csv(BENCHMARKS / f"{name}.csv", infer_schema=False)["label"])
