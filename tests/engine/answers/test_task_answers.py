"""Replies of the diagnostic, kind by kind: what is read, what is not, and that nothing raises."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from molaudit.engine.answers.binary import read_binary
from molaudit.engine.answers.percent import read_percent
from molaudit.engine.answers.rankings import read_ranking
from molaudit.engine.answers.sets import read_set
from molaudit.engine.answers.structures import read_reactants, read_structure

READERS = [read_binary, read_set, read_reactants, read_structure, read_percent, read_ranking]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", "1"),
        ("0", "0"),
        ("Active", "1"),
        ("inactive.", "0"),
        ("Yes", "1"),
        ("No.", "0"),
        ("**Answer: Active**", "1"),
        ("The answer is: not active", "0"),
        ("not inactive", "1"),
        ('{"answer": 1}', "1"),
        ('{"active": false}', "0"),
        ('```json\n{"label": "inactive"}\n```', "0"),
        ("<answer>0</answer>", "0"),
        ("\\boxed{1}", "1"),
        ("Label: 1 (active)", "1"),
        ("Adding 1 fluorine atom makes it inactive.", "0"),
        ("It shows no inhibitory activity.", "0"),
        ("The compound is a non-inhibitor", "0"),
        (
            "The source is active. The edit keeps the binding. Therefore the molecule is predicted to be active.",
            "1",
        ),
        ("The source is active, but the edit abolishes inhibition.\nPrediction: inactive", "0"),
        ("Answer: active\nWait, on reflection:\nAnswer: inactive", "0"),
        ("<think>It could be inactive.</think>Active", "1"),
        ("Active\n\nQuestion: next one?\nInactive", "1"),
    ],
)
def test_binary_reply_is_read(text: str, value: str) -> None:
    found = read_binary(text)
    assert (found.kind, found.value) == ("answer", value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("Likely active", "1"), ("It is unlikely to be active.", "0"), ("Answer: probably inactive", "0")],
)
def test_hedged_binary_reply_counts_with_a_flag(text: str, value: str) -> None:
    found = read_binary(text)
    assert (found.value, "hedged" in found.flags) == (value, True)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I cannot determine whether it is active.", "refusal"),
        ("Final answer: cannot say", "refusal"),
        ("No, it is active", "ambiguous"),
        ("It may be active, but it may be inactive.", "ambiguous"),
        ("0.5", "none"),
        ("Ethanol dissolves well.", "none"),
        ("", "empty"),
        (None, "empty"),
        ("<think>active", "truncated"),
    ],
)
def test_binary_reply_without_one_answer_has_no_value(text: str | None, kind: str) -> None:
    assert (read_binary(text).kind, read_binary(text).value) == (kind, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["Green", "sweet"]', "green sweet"),
        ("green, sweet", "green sweet"),
        ("Green and sweet.", "green sweet"),
        ("- green\n- sweet\n", "green sweet"),
        ("The odor is likely:\n1. **Green**: from the aldehyde\n2. **Sweet** (vanilla)", "green sweet"),
        ("Answer: green; sweet", "green sweet"),
        ('```json\n["green", "sweet"]\n```', "green sweet"),
        ('{"descriptors": ["green"], "confidence": 0.5}', "green"),
        ('["green, sweet"]', "green sweet"),
        ('Source: ["woody"]\nAnswer: ["green"]', "green"),
        ("Green, green , GREEN", "green"),
        ("The descriptors are green, sweet and fruity.", "green sweet fruity"),
        ('<think>["woody"]</think>["green"]', "green"),
        ("none", ""),
        ("[]", ""),
        ("No odour.", ""),
        ('{"descriptors": []}', ""),
        ("odorless", "odorless"),
    ],
)
def test_set_of_descriptors_is_read(text: str, value: str) -> None:
    found = read_set(text)
    assert (found.kind, found.value) == ("answer", frozenset(value.split()))


def test_descriptor_of_several_words_stays_whole() -> None:
    assert read_set('["black currant", "Citrus Fruit"]').value == {"black currant", "citrus fruit"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I cannot predict this.", "refusal"),
        ("The molecule would smell of many things that depend on its concentration.", "none"),
        ("[1, 2]", "none"),
        ("", "empty"),
        ("<think>green, sweet", "truncated"),
    ],
)
def test_reply_without_descriptors_has_no_value(text: str, kind: str) -> None:
    assert (read_set(text).kind, read_set(text).value) == (kind, None)


@pytest.mark.parametrize(
    "text",
    [
        "CCO.CN",
        "CN.OCC",
        "[CH3:1][CH2:2][OH:3].[NH2:4][CH3:5]",
        "Reactants: CCO + CN",
        "```\nCCO.CN\n```",
        '["CCO", "CN"]',
        '{"reactants": ["CN", "CCO"]}',
        "CCO\nCN",
        "1. CCO\n2. CN",
        "The reactants are CCO and CN.",
        "Reactants: CCO (ethanol), CN (methylamine)",
        "**CCO.CN**",
        "`CCO` and `CN`",
        "Answer: CCO.CN>>CCNC",
        "<think>maybe CCCl</think>\nAnswer: CCO.CN",
    ],
)
def test_reactants_are_read_in_any_writing(text: str) -> None:
    assert read_reactants(text).value == "CCO.CN"


@pytest.mark.parametrize(
    "text", ["Answer: CCO.C(", "I think ethanol and methylamine.", "I cannot answer.", "", "CCO, ethanal"]
)
def test_set_with_a_part_that_is_no_structure_is_not_read(text: str) -> None:
    assert read_reactants(text).value is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("OCC", "CCO"),
        ("SMILES: OCC", "CCO"),
        ("The SMILES is `OCC`", "CCO"),
        ("```smiles\nOCC\n```", "CCO"),
        ('{"smiles": "OCC"}', "CCO"),
        ("Answer: OCC (ethanol)", "CCO"),
        ("<answer>[CH3:1]CO</answer>", "CCO"),
        ("O[C@@H](C)F", "C[C@H](O)F"),
        ("In this case the target is CC(C)c1ccccc1.", "CC(C)c1ccccc1"),
        ("\\boxed{\\text{CCO}}", "CCO"),
        ("Not sure", None),
        ('["CCO", "CN"]', None),
    ],
)
def test_structure_is_read(text: str, value: str | None) -> None:
    assert read_structure(text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("45", "45"),
        ("45%", "45"),
        ("about 45 %", "45"),
        ("Yield: 45.2%", "45.2"),
        ("The yield would be 63 percent.", "63"),
        ('{"yield": 12.5}', "12.5"),
        ("0", "0"),
        ("100 %", "100"),
        ("120", None),
        ("-3", None),
        ("45-50%", None),
        ("I cannot say", None),
        ("", None),
    ],
)
def test_percentage_is_read(text: str, value: str | None) -> None:
    found = read_percent(text)
    assert found.value == (None if value is None else Decimal(value))
    assert (found.kind == "answer") == (value is not None)


def test_value_below_one_is_flagged_and_kept() -> None:
    assert (read_percent("0.45").value, "below-one" in read_percent("0.45").flags) == (Decimal("0.45"), True)
    assert "below-one" not in read_percent("0.45 %").flags
    assert "out-of-range" in read_percent("120").flags


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[3, 1, 2]", "3 1 2"),
        ('["m3", "m1"]', "m3 m1"),
        ("1. 12\n2. 7 (good)\n3. #5", "12 7 5"),
        ("12, 7, 5", "12 7 5"),
        ("12 > 7 > 5", "12 7 5"),
        ("Ranking: 12, 7, 5", "12 7 5"),
        ('{"ranking": [{"id": 3, "score": 1}, {"id": 4}]}', "3 4"),
        ("1. **CCO** - best\n2. CCN", "CCO CCN"),
        ("Answer: [3, 3, 99]", "3 3 99"),
    ],
)
def test_ranking_keeps_every_place(text: str, value: str) -> None:
    assert read_ranking(text).value == tuple(value.split())


@pytest.mark.parametrize("text", ["[]", "I cannot rank them", "", "none of these"])
def test_no_ranking_is_no_answer(text: str) -> None:
    assert read_ranking(text).value is None


PIECES = [
    "Answer:",
    "active",
    "not",
    "CCO",
    "[",
    "]",
    "{",
    "}",
    '"',
    "`",
    "```",
    "\n",
    "1.",
    "<answer>",
    "\\boxed{",
    ">",
    ",",
    " ",
]


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_no_reply_makes_a_reader_fail_and_only_answers_have_values(text: str) -> None:
    for reader in READERS:
        found = reader(text)
        assert (found.value is None) == (found.kind != "answer")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "piece", ["[", "{", "active not ", "CCO.", "- green\n", '{"answer": ', "```", "(", "so "]
)
def test_long_replies_are_read_in_reasonable_time(reader: object, piece: str) -> None:
    begin = time.process_time()
    reader(piece * (400_000 // len(piece)))  # type: ignore[operator]
    # The slowest takes a third of a second; a reader that is quadratic takes minutes.
    assert time.process_time() - begin < 10
