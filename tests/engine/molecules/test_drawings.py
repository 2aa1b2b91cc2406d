"""Drawings are SVG with three panels, and fragments have names."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from molaudit.engine.molecules.drawings import component_drawing, drawing
from molaudit.engine.molecules.edits import Edit
from molaudit.engine.molecules.fragment_names import atom_word, fragment_name
from molaudit.engine.molecules.locating import located


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("COc1ccccc1", "Oc1ccccc1"),
        ("Cn1cccc1", "c1cc[nH]c1"),
        ("C=CCCO", "CCCCO"),
        ("C[C@H](O)F", "C[C@@H](O)F"),
        ("CC(C)=O", "CC(C)=S"),
    ],
)
def test_every_kind_of_edit_is_drawn_with_its_changed_atoms_marked(source: str, target: str) -> None:
    edit = located(source, target, 4)
    assert isinstance(edit, Edit)
    text = drawing(edit)
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    # Marked atoms are drawn on filled ellipses, bonds on filled polygons; a drawing without marks has neither.
    assert "<ellipse" in text
    assert "<ellipse" not in (component_drawing(source, target, "ligand") or "")


def test_component_without_a_structure_is_not_drawn() -> None:
    assert component_drawing("", "", "additive") is None
    assert "<svg" in (component_drawing("", "CCO", "additive") or "")


@pytest.mark.parametrize(
    ("smiles", "name"),
    [
        ("*[H]", "hydrogen atom"), ("*C", "methyl group"), ("*C(C)=O", "acetyl group"),
        ("*[2H]", "deuterium atom"), ("*CC(C)O", "group of formula C3H7O"), ("*OP(=O)(O)O", "group of formula H2O4P"),
    ],
)  # fmt: skip
def test_fragment_is_named_or_called_by_its_formula(smiles: str, name: str) -> None:
    assert fragment_name(smiles) == name


def test_site_is_said_in_words() -> None:
    assert atom_word("C[NH:1]c1ccccc1", 1) == "nitrogen atom"
    assert atom_word("Cc1cc[cH:3]cc1", 3) == "aromatic carbon atom"
