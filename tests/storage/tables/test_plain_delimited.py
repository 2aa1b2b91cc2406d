"""The quick reader of plain tables gives what the careful one gives, or leaves the table to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from molaudit.storage.errors import TableError
from molaudit.storage.tables import delimited, plain_delimited
from molaudit.storage.tables.columns import Columns

ALL = Columns(required=("a",), everything=True)

FIELDS = st.text(
    st.sampled_from(["a", "7", ".", "-", " ", "\u00e9", "\u2028", "\x0b", "\x85", "#", "'", "\\"]), max_size=4
)
ODD = st.sampled_from(['"', "\r", "\0", ",", "\n", '"x,y"', "\n\n", ",,", "\r\n", ' "'])


def read(data: bytes, worth_from: int) -> object:
    """What comes of a table, or the message why nothing does; ``worth_from`` 0 lets the quick reader try."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_delimited, "_WORTH_FROM", worth_from)
        try:
            parsed = delimited.read(data, ",", ALL, "t.csv")
        except TableError as error:
            return str(error)
    assert parsed.given is not None
    return parsed.given.rows(), parsed.rows.to_list(), parsed.blank


def both(data: bytes) -> object:
    quick = read(data, 0)
    assert quick == read(data, 10**9)
    return quick


@given(st.lists(st.lists(FIELDS, min_size=3, max_size=3), max_size=6), st.sampled_from(["", "\n"]))
def test_plain_tables_read_as_by_the_careful_reader(rows: list[list[str]], end: str) -> None:
    both("\n".join(["a,b,c", *(",".join(row) for row in rows)]).encode() + end.encode())


@given(st.lists(st.one_of(FIELDS, ODD, st.just(",")), max_size=14))
def test_whatever_is_not_plain_reads_as_by_the_careful_reader_too(pieces: list[str]) -> None:
    both(("a,b,c\n" + "".join(pieces)).encode())


def test_a_plain_table_is_taken_by_the_quick_reader() -> None:
    data = b"a,b,c\n1,,3\n04, x ,-0\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_delimited, "_WORTH_FROM", 0)
        found = plain_delimited.columns(data, ",", 3)
    assert found is not None
    assert [column.to_list() for column in found] == [["1", "04"], ["", " x "], ["3", "-0"]]
    assert both(data) == ([("1", "", "3"), ("04", " x ", "-0")], [2, 3], 0)


@pytest.mark.parametrize(
    "body",
    [
        *("1,2\n", "1,2,3,4\n", "1,2\n1,2,3,4\n", "1,2,3,4\n1,2\n", "\n", "1,2,3\n\n1,2,3\n"),
        *(",,\n", " , , \n", '"1",2,3\n', "1,2,3\r\n", ""),
    ],
)
def test_lines_of_another_width_blank_ones_and_quotes_are_left_to_the_careful_reader(body: str) -> None:
    data = f"a,b,c\n{body}".encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_delimited, "_WORTH_FROM", 0)
        assert plain_delimited.columns(data, ",", 3) is None
    both(data)
