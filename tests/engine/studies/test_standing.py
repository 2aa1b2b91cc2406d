"""Whether a flag stands, case by case of METHOD 1.4."""

from __future__ import annotations

from typing import Any

import pytest

from molaudit.engine.studies.standing import stands

STRONG = {
    "q12": 0.01,
    "q23": 0.5,
    "p12_matched": 0.01,
    "p23_matched": 0.01,
    "p12_skill": 0.01,
    "p23_skill": 0.01,
    "p_core": 0.3,
    "p_near": 0.01,
}


def judged(**changed: Any) -> bool | None:
    cautions = dict.fromkeys(("few_answers", "resolution", "lattice"), False)
    row = STRONG | {name: value for name, value in changed.items() if name not in cautions}
    cautions |= {name: value for name, value in changed.items() if name in cautions}
    return stands(row, **cautions, alpha=0.05)


def test_nothing_is_said_of_what_is_not_flagged() -> None:
    assert judged(q12=0.05) is None
    assert judged(q12=None, q23=None) is None


def test_a_flag_stands_that_digits_skill_and_neighbours_do_not_explain() -> None:
    assert judged() is True
    assert judged(lattice=True) is True
    assert judged(p_near=None) is True


@pytest.mark.parametrize(
    "changed",
    [
        {"p12_matched": 0.05},
        {"p12_matched": None},
        {"p12_skill": 0.05},
        {"p12_skill": None},
        {"p_near": 0.05},
        {"p_near": None, "lattice": True},
        {"resolution": True},
        {"few_answers": True},
    ],
)
def test_any_honest_explanation_takes_it_away(changed: dict[str, Any]) -> None:
    assert judged(**changed) is False


def test_only_a_called_rung_counts_and_both_tests_must_speak_of_the_same() -> None:
    assert judged(p12_skill=0.2) is False, "R23 is not called"
    assert judged(p12_skill=0.2, q23=0.01) is True
    assert judged(p12_skill=0.2, q23=0.01, p23_matched=0.2) is False


def test_exact_hits_that_are_not_next_door_stand_whatever_else() -> None:
    everything = {"p12_matched": 0.9, "p12_skill": 0.9, "p_near": None, "resolution": True, "lattice": True}
    assert judged(p_core=0.04, **everything) is True
    assert judged(p_core=0.05, **everything) is False
    assert judged(p_core=0.001, few_answers=True) is False
