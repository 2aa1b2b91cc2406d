"""An edit is refused with a reason where it cannot be done or does not do what it should."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rdkit import Chem

from molaudit.engine.molecules.edits import ENANTIOMER, SATURATION, SINGLE_SITE, STATED, SUBSTRUCTURE, Edit
from molaudit.engine.molecules.enantiomers import enantiomer_edits, enantiomer_pairs
from molaudit.engine.molecules.execution import EditRefused, execute, verify
from molaudit.engine.molecules.identity import identity, same_structure, settled_smiles
from molaudit.engine.molecules.locating import NO_EDIT, located
from molaudit.engine.molecules.saturation import saturation_pairs, saturations


def canonical(smiles: str) -> str:
    return str(Chem.MolToSmiles(Chem.MolFromSmiles(smiles)))


ANISOLE = Edit(SINGLE_SITE, "[CH3:2][O:1]c1ccccc1", "*C", "*[H]")


def test_edit_by_hand_is_done() -> None:
    assert execute(ANISOLE) == "Oc1ccccc1"
    assert verify(ANISOLE, "COc1ccccc1", "Oc1ccccc1") is None


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (replace(ANISOLE, removed="*CC"), "does not carry the fragment"),
        (replace(ANISOLE, core="*c1ccccc1"), "not the core"),
        (replace(ANISOLE, mapped="[CH3:1]Oc1cccc[cH:2]1"), "acyclic single bond"),
        (replace(ANISOLE, mapped="COc1ccccc1"), "no atom has the map number 1"),
        (replace(ANISOLE, mapped="[CH3:1][O:1]c1ccccc1"), "occurs twice"),
        (replace(ANISOLE, mapped="CO("), "no valid structure"),
        (replace(ANISOLE, added="CC"), "not one free end"),
        (replace(ANISOLE, added="*CC*"), "not one free end"),
        (replace(ANISOLE, added="*C(C)(C)(C)C"), "not one free end"),
        (Edit(SINGLE_SITE, "C[C:1](C)(C)C", "*[H]", "*F"), "no hydrogen atom"),
        (Edit(SATURATION, "C[CH2:1][CH3:2]", "C=C", "CC"), "double bond"),
        (Edit(SATURATION, "[CH3:1][OH:2]", "C=C", "CC"), "double bond"),
        (Edit(SATURATION, "C[CH:1]=[O:2]", "C=C", "CC"), "both carbon"),
        (Edit(ENANTIOMER, "CC(O)F"), "no atom is named"),
        (Edit(ENANTIOMER, "C[CH:1](O)F"), "no configuration"),
        (Edit(SUBSTRUCTURE, "C[CH2:1]O", "7", ""), "not in the source"),
        (Edit(STATED, "", "", "make it smell of roses"), "words alone"),
    ],
)
def test_edit_that_cannot_be_done_is_refused_with_its_reason(edit: Edit, reason: str) -> None:
    with pytest.raises(EditRefused, match=reason):
        execute(edit)


def test_edit_of_another_source_is_refused() -> None:
    assert verify(ANISOLE, "CCOc1ccccc1", "Oc1ccccc1") == "the atom maps change the source"


def test_edit_to_another_target_is_refused() -> None:
    assert verify(ANISOLE, "COc1ccccc1", "Nc1ccccc1") == "another canonical SMILES"


def test_tautomers_of_one_inchi_are_two_structures() -> None:
    # InChI merges mobile hydrogen atoms; canonical SMILES do not.
    one, other = "Cc1c[nH]cn1", "Cc1cnc[nH]1"
    assert identity(one)[1] == identity(other)[1] != ""
    assert not same_structure(one, other)


def test_map_numbers_leave_no_false_centre() -> None:
    assert settled_smiles("C[C@H:1]([CH3:2])C") == "CC(C)C"


def test_saturation_leaves_new_centres_open_and_old_ones_as_they_are() -> None:
    made = saturations("C/C(=C\\C)[C@@H](O)F")
    assert list(made) == [canonical("CC(CC)[C@@H](O)F")]
    edit = made[canonical("CC(CC)[C@@H](O)F")]
    assert execute(edit) == canonical("CC(CC)[C@@H](O)F")


def test_aromatic_and_carbonyl_bonds_are_not_saturated() -> None:
    assert saturations("O=Cc1ccccc1") == {}
    assert set(saturations("C=CC=C")) == {"C=CCC"}
    assert set(saturations("C1=CCCCC1")) == {"C1CCCCC1"}


def test_saturated_one_is_the_target_whatever_the_order_of_the_pair() -> None:
    for smiles in (["CCC", "C=CC"], ["C=CC", "CCC"]):
        found, refused = saturation_pairs(smiles, [(0, 1)])
        assert [(smiles[s], smiles[t]) for s, t, _ in found] == [("C=CC", "CCC")]
        assert not refused


ENANTIOMERS = [
    ("CC[C@@H](C)C(=O)O", "CC[C@H](C)C(=O)O"),
    ("CC(C)[C@@H]1CC[C@@H](C)C[C@H]1O", "CC(C)[C@H]1CC[C@H](C)C[C@@H]1O"),
    ("C[C@H](O)/C=C/C", "C[C@@H](O)/C=C/C"),
]


@pytest.mark.parametrize(("one", "other"), ENANTIOMERS)
def test_mirror_images_are_found_and_made_of_each_other(one: str, other: str) -> None:
    smiles = [canonical(one), "CCO", canonical(other)]
    ((i, j, forth, back),) = enantiomer_pairs(smiles)
    assert (i, j) == (0, 2)
    assert execute(forth) == smiles[2]
    assert execute(back) == smiles[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CC(O)F", "CC(O)F"),
        ("C[C@H](O)C(C)F", "C[C@@H](O)C(C)F"),
        ("C[C@H](O)[C@H](F)Cl", "C[C@@H](O)[C@H](F)Cl"),
        ("C[C@H](O)[C@@H](C)O", "C[C@@H](O)[C@H](C)O"),
        ("C[C@H](O)/C=C/C", "C[C@@H](O)/C=C\\C"),
        ("C[C@H](O)F", "C[C@@H](O)Cl"),
    ],
    ids=["no centre", "open centre", "diastereomer", "meso", "other double bond", "other atom"],
)
def test_what_is_no_strict_enantiomer_is_not_paired(one: str, other: str) -> None:
    assert enantiomer_edits(canonical(one), canonical(other)) is None
    assert enantiomer_pairs([canonical(one), canonical(other)]) == []


LOCATED = [
    ("CC(=O)C", "CC(=S)C"),
    ("CC(C)(O)c1ccccc1", "FC(F)(F)c1ccccc1"),
    ("C[C@H](F)CCC(=O)c1ccccc1", "C[C@H](Cl)CCC(=S)c1ccccc1"),
    ("C[C@H](O)c1ccc(O)cc1", "C[C@](F)(O)c1ccc(N)cc1"),
    ("C[C@](F)(O)c1ccc(N)cc1", "C[C@H](O)c1ccc(O)cc1"),
    ("C1CCCCC1", "C1CCNCC1"),
    ("c1ccc2[nH]ccc2c1", "C1=Cc2ccccc2C1"),
    ("CN(C)CCCCc1ccncc1", "CN(CC=C)CCCCc1ccncc1Cl"),
]


@pytest.mark.parametrize(("source", "target"), LOCATED)
def test_change_at_several_places_is_found_by_what_stays(source: str, target: str) -> None:
    edit = located(canonical(source), canonical(target), 4)
    assert isinstance(edit, Edit)
    assert edit.kind == SUBSTRUCTURE
    assert execute(edit) == canonical(target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("C[C@H](F)CCC(=O)c1ccccc1", "C[C@@H](Cl)CCC(=S)c1ccccc1"),
        ("C[C@@H]1CC[C@H](O)CC1", "C[C@@H]1CC[C@@H](F)CC1"),
        ("CCCC", "c1ccccc1"),
    ],
    ids=["inverted centre", "inverted ring centre", "nothing in common"],
)
def test_what_an_exchange_cannot_give_is_refused_and_not_guessed(source: str, target: str) -> None:
    assert located(canonical(source), canonical(target), 4) == NO_EDIT


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        ("COc1ccccc1", "Oc1ccccc1", SINGLE_SITE),
        ("C=CCCO", "CCCCO", SATURATION),
        ("C[C@H](O)F", "C[C@@H](O)F", ENANTIOMER),
    ],
)
def test_narrowest_kind_of_edit_is_taken(source: str, target: str, kind: str) -> None:
    edit = located(canonical(source), canonical(target), 4)
    assert isinstance(edit, Edit)
    assert edit.kind == kind
