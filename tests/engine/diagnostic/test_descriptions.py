"""Edits in words and back: our own words exactly, a paraphrase only where nothing is in doubt."""

from __future__ import annotations

import pytest

from molaudit.engine.diagnostic import formulations
from molaudit.engine.diagnostic.descriptions import STYLES, describe, read, recover, same
from molaudit.engine.diagnostic.formulations import Component
from molaudit.engine.diagnostic.registry import tasks
from molaudit.engine.molecules.edits import ENANTIOMER, SATURATION, SINGLE_SITE, STATED, SUBSTRUCTURE, Edit

METHYL = Edit(SINGLE_SITE, "[CH3:2][O:1]c1ccccc1", "*C", "*[H]")
FLUORINE = Edit(SINGLE_SITE, "Cc1cc[cH:1]cc1", "*[H]", "*F")
EDITS = [
    METHYL,
    FLUORINE,
    Edit(SINGLE_SITE, "CC(=O)[NH:1][CH2:2]C(=O)O", "*CC(=O)O", "*C(C)(C)C"),
    Edit(SATURATION, "C[CH:1]=[CH:2]CO", "C=C", "CC"),
    Edit(ENANTIOMER, "C[C@H:1](O)F"),
    Edit(ENANTIOMER, "C[C@H:1](O)[C@@H:2](F)Cl"),
    Edit(SUBSTRUCTURE, "C[C:1](C)=[O:2]", "2", "[1*]=S"),
    Edit(SUBSTRUCTURE, "Cc1cc[cH:1][c:2]([OH:3])c1", "3", "[1*]F.[2*]N"),
    Edit(SUBSTRUCTURE, "CC[O:1][CH3:2]", "2", ""),
]
SOURCE = {
    "aryl halide": Component("1-bromo-4-(trifluoromethyl)benzene", "FC(F)(F)c1ccc(Br)cc1"),
    "ligand": Component("XPhos (large)", "CC(C)C"),
    "base": Component("MTBD", "CN1CCCN2CCCN=C12"),
    "additive": Component("none"),
}


@pytest.mark.parametrize("style", [style for style in STYLES if style != "yield/1"])
@pytest.mark.parametrize("edit", EDITS)
def test_words_read_back_to_the_edit(edit: Edit, style: str) -> None:
    assert same(read(describe(edit, style), style), edit)


@pytest.mark.parametrize("kind", ["ligand", "additive"])
@pytest.mark.parametrize(
    "new", [Component("AdBrettPhos", "CC(C)(C)P"), Component("none"), Component("A (b) by C")]
)
def test_replaced_component_reads_back(kind: str, new: Component) -> None:
    if new == SOURCE[kind]:
        return
    edit = formulations.replacement(SOURCE, kind, new)
    assert same(read(describe(edit, "yield/1"), "yield/1"), edit)
    assert formulations.execute(edit) == formulations.written({**SOURCE, kind: new})


def test_every_task_has_a_style_of_its_own() -> None:
    assert {style.partition("/")[0] for style in STYLES} == set(tasks())
    words = [describe(METHYL, style) for style in STYLES if style != "yield/1"]
    assert len(set(words)) > 3


def test_words_of_one_edit_as_they_are() -> None:
    """A changed template needs a new version of its style: this text must not change under version 1."""
    assert describe(METHYL, "bace/1") == (
        "In the source inhibitor candidate, written with atom map numbers as [CH3:2][O:1]c1ccccc1, atom 1 (oxygen "
        "atom) is the site of the change. There, replace the methyl group (*C), whose first atom is atom 2, by a "
        "hydrogen atom (*[H]). All other atoms, bonds and configurations stay as they are."
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("methyl group", "ethyl group"),
        ("oxygen atom", "carbon atom"),
        ("(*C)", "(*CC)"),
        ("by a hydrogen atom (*[H])", "by a hydrogen atom (*F)"),
        (", whose first atom is atom 2,", ""),
        ("atom 1", "atom 2"),
        ("stay as they are.", "stay as they are"),
        ("[CH3:2]", "C"),
        ("[CH3:2][O:1]c1ccccc1", "not-a-SMILES"),
    ],
)
def test_words_with_anything_changed_are_not_read(old: str, new: str) -> None:
    text = describe(METHYL, "bace/1")
    assert old in text
    assert not same(read(text.replace(old, new), "bace/1"), METHYL)


def test_what_a_user_stated_is_repeated() -> None:
    assert describe(Edit(STATED, "", "", "halve the dose"), "pairs/1") == "halve the dose"
    assert read("halve the dose", "pairs/1") is None


FAITHFUL = [
    "Take [CH3:2][O:1]c1ccccc1 and replace the methyl group (*C) on atom 1 by hydrogen (*[H]).",
    "Starting from [CH3:2][O:1]c1ccccc1, the methyl (*C) at the oxygen is exchanged for a hydrogen (*[H]).",
    "In [CH3:2][O:1]c1ccccc1 remove the methyl group (*C), then attach a hydrogen atom (*[H]) in its place.",
    "[CH3:2][O:1]c1ccccc1 gets a hydrogen atom (*[H]) in place of its methyl group (*C).",
]
UNFAITHFUL = [
    "Take [CH3:2][O:1]c1ccccc1 and replace the hydrogen (*[H]) on atom 1 by methyl (*C).",
    "Take [CH3:2][O:1]c1ccccc1 and replace the methyl group by hydrogen (*[H]).",
    "Take [CH3:2][O:1]c1ccccc1 and replace the methyl group (*C) by ethyl (*CC).",
    "Take [CH3:2][O:1]c1ccccc1, replace (*C) by (*[H]) and also add a fluorine (*F).",
    "Take COc1ccccc1 and replace the methyl group (*C) by hydrogen (*[H]).",
    "Take [CH3:2][O:1]c1ccccc1C and replace the methyl group (*C) by hydrogen (*[H]).",
    "[CH3:2][O:1]c1ccccc1 has a methyl group (*C) and a hydrogen (*[H]).",
    "",
]


@pytest.mark.parametrize("text", FAITHFUL)
def test_faithful_paraphrase_is_kept(text: str) -> None:
    assert recover(text, "bace/1", METHYL)


@pytest.mark.parametrize("text", UNFAITHFUL)
def test_paraphrase_in_doubt_is_refused(text: str) -> None:
    assert not recover(text, "bace/1", METHYL)


def test_other_kinds_are_paraphrased_with_their_action_named() -> None:
    saturated, mirrored = EDITS[3], EDITS[5]
    assert recover("Please saturate the C=C between atoms 1 and 2 in C[CH:1]=[CH:2]CO.", "bace/1", saturated)
    assert not recover("Do not saturate the C=C in C[CH:1]=[CH:2]CO.", "bace/1", saturated)
    assert recover("Invert all stereocentres of C[C@H:1](O)[C@@H:2](F)Cl.", "bace/1", mirrored)
    assert not recover("Invert a stereocentre of C[C@H:1](O)[C@@H:2](F)Cl.", "bace/1", mirrored)
    assert not recover("anything", "bace/1", EDITS[6])


@pytest.mark.parametrize(
    "components",
    [
        {"ligand": Component("a | b")},
        {"ligand": Component("a = b")},
        {"li: gand": Component("a")},
        {"x": Component("a\nb")},
    ],
)
def test_name_that_could_not_be_read_back_is_refused(components: dict[str, Component]) -> None:
    with pytest.raises(ValueError, match="must not hold"):
        formulations.written(components)


def test_formulation_reads_back_and_other_text_does_not() -> None:
    assert formulations.read(formulations.written(SOURCE)) == SOURCE
    for text in ("CCO", "", "ligand:", "a: b | a: c"):
        assert formulations.read(text) is None
