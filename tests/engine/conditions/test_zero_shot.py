"""The wording of the zero-shot question is part of every cache key: it changes on purpose or not at all."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from molaudit.engine.conditions.zero_shot import fields, zero_shot

SYSTEM = (
    "You report measured properties of chemical compounds. Always commit to one number: "
    "if you are unsure, give your best estimate."
)

ETHANOL = """\
Property: normal boiling point
Unit: °C
SMILES: CCO

Give the measured value to three significant figures, in the unit stated. \
Reply with one line and nothing else, the number without its unit:
Answer: <number>"""

BY_NAME = """\
Property: logP
Unit: none (a plain number)
SMILES: CCO
Name: ethanol

Give the measured value to three significant figures, in the unit stated. \
Reply with one line and nothing else, the number without its unit:
Answer: <number>"""


def test_the_question_is_this_text_to_the_letter() -> None:
    assert zero_shot("normal boiling point", "°C", "ethanol", "CCO") == (SYSTEM, ETHANOL)
    assert zero_shot("logP", "", "ethanol", "CCO", name=True) == (SYSTEM, BY_NAME)


def test_the_name_is_told_only_when_asked_for_or_when_there_is_no_structure() -> None:
    assert "ethanol" not in zero_shot("logP", "", "ethanol", "CCO")[1]
    assert "Name: ethanol\n" in zero_shot("logP", "", "ethanol", None)[1]
    assert "SMILES" not in zero_shot("logP", "", "ethanol", None)[1]


@pytest.mark.parametrize("bad", ["", "  ", "CCO\nSMILES: CCN", "CCO\r", "CC\u2028O"])
def test_a_part_that_is_not_one_line_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="SMILES must be one line"):
        zero_shot("logP", "", "ethanol", bad)


one_line = st.text(min_size=1).filter(lambda text: text.strip() and len(text.splitlines()) == 1)
one_line = one_line.filter(lambda text: text == text.splitlines()[0])


@given(one_line, one_line, one_line, one_line, st.booleans())
@settings(deadline=None, max_examples=200)
def test_fields_reads_back_what_was_asked(
    property: str, unit: str, molecule: str, smiles: str, name: bool
) -> None:
    found = fields(zero_shot(property, unit, molecule, smiles, name=name)[1])
    expected = {"Property": property, "Unit": unit, "SMILES": smiles}
    assert found == ({**expected, "Name": molecule} if name else expected)


def test_examples_before_the_question_do_not_hide_it() -> None:
    examples = "SMILES: C\nAnswer: -161\n\nSMILES: CC\nAnswer: -88.6\n\n"
    assert fields(examples + ETHANOL)["SMILES"] == "CCO"
    assert fields("no fields at all") == {}
