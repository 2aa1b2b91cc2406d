"""What unit, names, markers and neighbours make of a number; figures, candidates, and real replies."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest
from shared_data import DATA, needs

from molaudit.engine.answers.labels import read_labels
from molaudit.engine.answers.numbers import parse_column, parse_number

# reply, declared unit, names, digits or kind, flags that must be there
IN_CONTEXT: list[tuple[str, str | None, tuple[str, ...], str, set[str]]] = [
    ("211 \u00b0C", "degC", (), "211", set()),
    ("211 \u00b0C", "\u00b0C", (), "211", set()),
    ("It boils at 211 \u00b0C.", "degC", (), "211", set()),
    ("211 \u00b0C at 760 mmHg", "degC", (), "211", set()),
    ("Normal boiling point: 100 \u00b0C at 1 atm", "degC", (), "100", set()),
    ("210.9 \u00b0C (411.6 \u00b0F, 484.0 K)", "degC", (), "210.9", {"others"}),
    ("484.05 K", "degC", (), "484.05", {"unit-mismatch"}),
    ("-3.05 at 298.15 K", "kcal/mol", (), "-3.05", set()),
    ("298.15 K: -3.05 kcal/mol", "kcal/mol", (), "-3.05", set()),
    ("The melting point is 122 \u00b0C.", "log mol/L", (), "none", set()),
    ("12.8 kJ mol\u207b\u00b9", "kcal/mol", (), "12.8", {"unit-mismatch"}),
    ("-12.8 kJ/mol (-3.05 kcal/mol)", "kcal/mol", (), "-3.05", {"others"}),
    ("-3.05 kcal/mol (-12.8 kJ/mol)", None, (), "ambiguous", set()),
    ("Answer = -3.2 kcal/mol = -13.4 kJ/mol", "kcal/mol", (), "-3.2", {"others"}),
    ("Answer = -3.2 kcal/mol = -13.4 kJ/mol", None, (), "ambiguous", set()),
    ("-3.05 kcal mol\u207b\u00b9", "kcal/mol", (), "-3.05", set()),
    ("-3.05 kcal/mol", "kcal mol^-1", (), "-3.05", set()),
    ("-3.05 mol/L", "log mol/L", (), "-3.05", {"log-unit"}),
    ("-3.05 log mol/L", "log mol/L", (), "-3.05", set()),
    ("20%", None, (), "20", {"percent"}),
    ("20%", "%", (), "20", {"percent"}),
    ("20%", "kcal/mol", (), "20", {"percent", "unit-mismatch"}),
    ('{"value": -3.05, "unit": "kJ/mol"}', "kcal/mol", (), "-3.05", {"unit-mismatch"}),
    ("logP = 2.1, logS = -3.05", None, (), "ambiguous", set()),
    ("logP = 2.1, logS = -3.05", None, ("logS",), "-3.05", set()),
    ("logP: 2.1\nlogS: -3.05", None, ("logS", "log S"), "-3.05", set()),
    ("The logP is 2.1.", None, ("logS",), "none", set()),
    ("The logP is 2.1.", None, ("logP",), "2.1", set()),
    ("The pIC50 is 7.25 (IC50 = 56 nM).", None, ("pIC50",), "7.25", {"others"}),
    ("IC50 = 63 nM, so pIC50 = 7.2", None, (), "ambiguous", set()),
    ('{"smiles": "C1CC1", "logS": -1.64, "n": 8}', None, ("logS",), "-1.64", set()),
    ('{"predicted_logP": 2.1, "predicted_logS": -3.05}', None, (), "ambiguous", set()),
    ('{"predicted_logP": 2.1, "logS": -3.05}', None, ("logS",), "-3.05", set()),
    ('{"answer": -3.05, "value": 7}', None, (), "-3.05", set()),
    ('{"value": 7, "result": 7}', None, (), "7", set()),
    ("pIC50 of 7.2 (nM range)", "uM", (), "7.2", set()),
    ("3 (n = 4)", None, (), "ambiguous", set()),
    ("\u22123.1... wait, actually \u22122.9", None, (), "ambiguous", set()),
    ("-3.2\n\nActually, -3.5", None, (), "ambiguous", {"revised"}),
    ("Answer: -3.1.\nWait, it is -2.9", None, (), "ambiguous", {"revised"}),
    ("The answer is not 5.", None, (), "ambiguous", set()),
    ("The answer is based on logP 2.1. It comes to -3.05", None, (), "ambiguous", set()),
    ("The estimated logP is 2.1. So it may be at -3.05", None, (), "ambiguous", set()),
    ("It has **3.5** and then -3.05", None, (), "ambiguous", set()),
    ("minus 3.05", None, (), "ambiguous", {"worded-sign"}),
    ("--3.05", None, (), "ambiguous", {"odd-sign"}),
    ("1\u00bd", None, (), "ambiguous", {"irregular"}),
    ("\u00b13.05", None, (), "none", set()),
    (",5", None, (), "ambiguous", {"decimal-comma"}),
    ("1.5(2)e-3", None, (), "1.5e-3", {"plus-minus", "approximate"}),
    ("My answer: -3.05 (\u00b10.3)", None, (), "-3.05", {"plus-minus", "approximate"}),
    ("1,234", None, (), "1234", {"thousands", "one-comma"}),
    ("1.2d-5", None, (), "1.2e-5", {"fortran"}),
    ("- 3.05", None, (), "-3.05", {"spaced-sign"}),
    ("[ANSWER]-3.05", None, (), "-3.05", {"unclosed"}),
    ("\\boxed{-3.05", None, (), "-3.05", {"unclosed"}),
    ("First \\boxed{5}. Correction: \\boxed{7}.", None, (), "7", {"several"}),
    ("I'd estimate about 7.2.\n\n7.2", None, (), "7.2", set()),
]


@pytest.mark.parametrize(
    ("reply", "unit", "names", "expected", "flags"),
    [pytest.param(*row, id=f"context-{index}") for index, row in enumerate(IN_CONTEXT)],
)
def test_unit_and_names_of_the_property_decide(
    reply: str, unit: str | None, names: tuple[str, ...], expected: str, flags: set[str]
) -> None:
    answer = parse_number(reply, unit, names)
    assert (answer.digits if answer.kind == "point" else answer.kind) == expected, answer
    assert flags <= set(answer.flags), answer
    if not flags:
        assert not {"unit-mismatch", "log-unit"} & set(answer.flags), answer


def test_the_text_is_the_number_as_written() -> None:
    assert parse_number("Answer: \u22123.10 kcal/mol").text == "\u22123.10"
    assert parse_number("\u22121 234.50").text == "\u22121 234.50"
    assert parse_number("1\u2009234.50").text == "1\u2009234.50"
    assert parse_number("1.20 \u00d7 10\u207b\u2075").text == "1.20 \u00d7 10\u207b\u2075"


@pytest.mark.parametrize(
    ("digits", "figures", "stripped"),
    [
        ("2.50", 3, 2),
        ("5000", 1, 1),
        ("5000.0", 5, 1),
        ("0.10", 2, 1),
        ("1.20e-5", 3, 2),
        ("120e3", 2, 2),
        ("0.00", 0, 0),
        ("-0.0450", 3, 2),
        ("10", 1, 1),
        ("66.0", 3, 2),
    ],
)
def test_figures_count_as_the_method_says(digits: str, figures: int, stripped: int) -> None:
    answer = parse_number(digits)
    assert (answer.figures, answer.stripped) == (figures, stripped)


def test_candidates_keep_their_order() -> None:
    assert parse_number("First \\boxed{5}. Correction: \\boxed{7}.").candidates == ("5", "7")
    assert parse_number("[ANSWER]2.0[/ANSWER] hmm [ANSWER]3.0[/ANSWER]").candidates == ("2.0", "3.0")
    assert parse_number("-3.05, -2.9").candidates == ("-3.05", "-2.9")


def test_ends_of_ranges_and_bounds_are_kept() -> None:
    assert (parse_number("-3.1 to -2.9").low, parse_number("-3.1 to -2.9").high) == (
        Decimal("-3.1"),
        Decimal("-2.9"),
    )
    assert (parse_number("no less than 5").low, parse_number("no more than 5").high) == (
        Decimal(5),
        Decimal(5),
    )
    assert (parse_number(">100").low, parse_number(">100").high) == (Decimal(100), None)
    assert (parse_number("\u2264 -2").low, parse_number("\u2264 -2").high) == (None, Decimal(-2))
    assert parse_number("3.05\u00b10.2").digits == "3.05"


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("5", "25"),
        ("-5", "5"),
        ("3.14", "33.14"),
        ("0.123456", "0.123457"),
        ("-3.05000001", "-3.05"),
        ("29.00", "29"),
    ],
)
def test_neighbours_are_not_the_same_text(gold: str, reply: str) -> None:
    assert parse_number(reply).digits != gold
    assert gold not in parse_number(reply).candidates


def test_rules_tell_where_the_number_stood() -> None:
    said = {
        "-3.05": "lone",
        "[ANSWER]-3.05[/ANSWER]": "tag",
        "\\boxed{-3.05}": "box",
        '{"answer": -3.05}': "json",
        "Answer: -3.05": "answer-line",
        "I estimate -3.05": "conclusion",
        "**-3.05**": "bold",
        "2.1 and 4.0 and\n-3.05": "own-line",
    }
    assert {reply: parse_number(reply).rule for reply in said} == said
    assert parse_number("logS = -3.05 and logP = 2.0", names=("logS",)).rule == "name"


REPLIES = DATA / "replies"
needs_replies = needs(REPLIES)


@needs_replies
@pytest.mark.parametrize(
    ("name", "column"), [("freesolv_opus5_first_half", "answer_text"), ("boilingpoint_opus5_replies", "text")]
)
def test_every_real_reply_is_a_point_with_its_digits(name: str, column: str) -> None:
    frame = pl.read_csv(REPLIES / f"{name}.csv", infer_schema=False)
    parsed = parse_column(frame[column])
    assert parsed["kind"].to_list() == ["point"] * frame.height
    # Four of the replies are bold.
    assert parsed["text"].to_list() == frame[column].str.strip_chars("*").to_list()
    if "prediction" in frame.columns:
        assert parsed["value"].to_list() == [float(text) for text in frame["prediction"]]


@needs_replies
@pytest.mark.parametrize(
    ("name", "column", "scorable", "agree"),
    [
        ("freesolv_opus5_first_half", "answer_text", 194, (148, 96, 79)),
        ("boilingpoint_opus5_replies", "text", 41, (41, 38, 33)),
    ],
)
def test_real_replies_give_the_published_agreement(
    name: str, column: str, scorable: int, agree: tuple[int, int, int]
) -> None:
    frame = pl.read_csv(REPLIES / f"{name}.csv", infer_schema=False)
    answers = parse_column(frame[column])["value"]
    labels = read_labels(frame["truth"])
    pairs = [(p, y) for p, y, k in zip(answers, labels["value"], labels["stripped"], strict=True) if k >= 3]
    assert len(pairs) == scorable
    nested = [[f"{p:.{k}e}" == f"{y:.{k}e}" for k in range(3)] for p, y in pairs]
    assert tuple(sum(all(row[: k + 1]) for row in nested) for k in range(3)) == agree
