"""Structures: one canonical text a molecule, and nothing from text that is no SMILES."""

from __future__ import annotations

import pytest

from molaudit.engine.molecules.structures import canonical_smiles, is_formula, without_stereo


@pytest.mark.parametrize(
    "text",
    [
        "CO₂",
        "CS₂",
        "CCO\u200b",
        "\u200bCCO",
        "СО",
        "C=O →",
        "CC O",
        "CCO\n",
        "",
        "ethanol",
        "mol12",
        "BACE_1",
        "C1CC",
        "é",
    ],
)
def test_what_is_no_smiles_has_no_structure(text: str) -> None:
    assert canonical_smiles([text]) == {}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("[CH3:1][CH2:2][OH:3]", "CCO"),
        ("[H:1]O", "O"),
        ("[C:1][H]", "[CH]"),
        # A centre that only the maps made is none.
        ("[CH3:1][C@H:2]([CH3:3])O", "CC(C)O"),
        ("C[C@@:7]([CH3:1])(O)[H]", "CC(C)O"),
        ("[CH3:1]/[CH:2]=[C:3](/[CH3:4])[CH3:5]", "CC=C(C)C"),
        # One that is there without them stays.
        ("[CH3:1][C@H:2](F)Cl", "C[C@H](F)Cl"),
        ("[13CH3:2]O", "[13CH3]O"),
    ],
)
def test_atom_maps_are_no_part_of_a_structure(text: str, other: str) -> None:
    found = canonical_smiles([text, other])
    assert found[text] == found[other]


def test_mirror_images_differ_and_meet_without_their_centres() -> None:
    one, other = canonical_smiles(["C[C@H](F)Cl", "C[C@@H](F)Cl"]).values()
    assert one != other
    assert set(without_stereo([one, other]).values()) == {"CC(F)Cl"}


@pytest.mark.parametrize("text", ["CO", "NO", "HF", "NaCl", "C2H6O", "H2O", "OCS", "CCl4", "Cl2", "C", "N2O"])
def test_element_symbols_once_each_are_a_formula(text: str) -> None:
    assert is_formula(text)


@pytest.mark.parametrize("text", ["CCO", "c1ccccc1", "C=O", "OCCO", "water", "Xy", "", "CO₂", "[CO]", "2CO"])
def test_other_text_is_no_formula(text: str) -> None:
    assert not is_formula(text)
