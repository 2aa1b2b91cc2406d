"""A user's own pairs: structures and formulations, edits given, in words or to be found."""

from __future__ import annotations

from types import MappingProxyType

import polars as pl
import pytest

from molaudit.engine.diagnostic import (
    bace,
    chirality_odor,
    pairs,
    reaction_yield,
    retrosynthesis,
    structural_odor,
)
from molaudit.engine.diagnostic.building import Order, TaskPairs
from molaudit.engine.diagnostic.descriptions import describe
from molaudit.engine.diagnostic.odor_tables import descriptors, jaccard
from molaudit.engine.errors import InputError
from molaudit.engine.molecules.edits import SINGLE_SITE, Edit
from molaudit.storage.tables import reading as tables


def order(name: str = "mine", **more: object) -> Order:
    return Order(
        name, 1, draw="all", thresholds=MappingProxyType(dict(pairs.DEFAULTS)), options=MappingProxyType(more)
    )  # type: ignore[arg-type]


def build(rows: list[dict[str, str]], labels: str) -> TaskPairs:
    frame = tables.from_frame(pl.DataFrame(rows), pairs.COLUMNS).frame
    return pairs.build([frame], order(labels=labels))


def steps(built: TaskPairs) -> dict[str, int]:
    return dict(zip(built.funnel["step"], built.funnel["count"], strict=True))


WORDS = describe(Edit(SINGLE_SITE, "[CH3:2][O:1]c1ccccc1", "*C", "*[H]"), "pairs/1")


def test_edits_are_found_done_or_taken_as_stated() -> None:
    row = {
        "source": "COc1ccccc1",
        "target": "Oc1ccccc1",
        "source_label": "sweet",
        "target_label": "medicinal",
    }
    built = build(
        [
            row | {"edit": ""},
            row | {"edit": WORDS},
            row | {"edit": "cleave the ether"},
            row | {"edit": "", "source": "CC(C)=O", "target": "CC(C)=S"},
        ],
        "set",
    ).pairs
    assert built["edit"].to_list() == ["single-site", "single-site", "stated", "substructure"]
    assert built["verified"].to_list() == [True, True, False, True]
    assert built["description"].to_list()[1:3] == [WORDS, "cleave the ether"]
    assert built["sample"].to_list() == ["mine-1", "mine-2", "mine-3", "mine-4"]
    assert built["cluster"].to_list() == [1, 1, 1, 2]


def test_pairs_that_cannot_be_used_are_counted_with_their_reason() -> None:
    row = {"source": "COc1ccccc1", "target": "Oc1ccccc1", "source_label": "1", "target_label": "0"}
    built = build(
        [
            row | {"edit": ""},
            row | {"edit": WORDS, "target": "Nc1ccccc1"},
            row | {"edit": "", "target": "O(C)c1ccccc1"},
            row | {"edit": "", "target": "CCCC"},
            row | {"edit": "", "target": "a blend of oils"},
            row | {"edit": "", "target": ""},
        ],
        "binary",
    )
    assert (steps(built)["records"], steps(built)["targets"], steps(built)["verified"]) == (6, 1, 1)
    assert sorted(built.notes) == [
        "1 pairs left out: neither structures nor formulations, and no edit given",
        "1 pairs left out: no edit that can be done gives the target",
        "1 pairs left out: no source or no target",
        "1 pairs left out: source and target are the same",
        "1 pairs left out: the edit, when done: another canonical SMILES",
    ]


@pytest.mark.parametrize(
    ("labels", "source", "target", "group", "false"),
    [
        ("binary", "1", "1", "consistent", "0"),
        ("binary", "0", "1", "inconsistent", "1"),
        ("set", "Green; sweet", "sweet", "consistent", None),
        ("set", "green", "sweet", "inconsistent", None),
        ("percent", "50", "65", "consistent", "25.0"),
        ("percent", "50", "65.1", "inconsistent", "25.0"),
        ("reactants", "CCO.CN", "OCC.CN", "consistent", None),
        ("reactants", "CCO.CN", "c1ccccc1Br", "inconsistent", None),
    ],
)
def test_groups_and_false_labels_follow_the_kind_of_label(
    labels: str, source: str, target: str, group: str, false: str | None
) -> None:
    row = {"source": "CCOC", "target": "CCOCC", "source_label": source, "target_label": target}
    built = build([row], labels).pairs
    assert built["group"].to_list() == [group]
    assert built["false_label"].to_list() == [false]


def test_false_sets_and_reactants_come_from_other_rows() -> None:
    row = {"source": "CCOC", "target": "CCOCC"}
    sets = [{"source_label": a, "target_label": b} for a, b in (("green", "sweet"), ("woody", "sweet"))]
    assert build([row | one for one in sets], "set").pairs["false_label"].to_list() == ["woody", "green"]
    reactants = [
        {"source_label": a, "target_label": a, "class": c} for a, c in (("CCO", "1"), ("c1ccccc1Br", "2"))
    ]
    made = build([row | one for one in reactants], "reactants").pairs["false_label"].to_list()
    assert made == ["Brc1ccccc1", "CCO"]
    same_class = [one | {"class": "1"} for one in reactants]
    assert build([row | one for one in same_class], "reactants").pairs["false_label"].to_list() == [
        None,
        None,
    ]


def test_what_the_user_states_is_used() -> None:
    row = {
        "source": "CCOC", "target": "CCOCC", "source_label": "green", "target_label": "sweet",
        "sample": "first", "group": "consistent", "false_label": "Smoky",
    }  # fmt: skip
    built = build([row], "set").pairs
    assert built["sample"].to_list() == ["first"]
    assert built["group"].to_list() == ["consistent"]
    assert built["false_label"].to_list() == ["smoky"]


def test_formulations_that_differ_in_one_component_are_pairs() -> None:
    row = {"source_label": "20", "target_label": "22"}
    built = build(
        [
            row | {"source": "base: KOH | solvent: water = O", "target": "base: NaOH | solvent: water = O"},
            row | {"source": "base: KOH | solvent: water", "target": "base: NaOH | solvent: ethanol"},
            row | {"source": "base: KOH", "target": "acid: HCl"},
        ],
        "percent",
    )
    assert built.pairs["edit_added"].to_list() == ["base: NaOH"]
    assert built.pairs["false_label"].to_list() == ["47.0"]
    assert len(built.notes) == 2


@pytest.mark.parametrize(
    ("labels", "change", "message"),
    [
        ("binary", {"source_label": "yes"}, "row 1: source_label = 'yes'; allowed: 0 and 1"),
        ("percent", {"target_label": "101"}, "target_label = '101'; allowed: a number from 0 to 100"),
        ("percent", {"target_label": "nan"}, "allowed: a number from 0 to 100"),
        ("set", {"source_label": " ; "}, "source_label is empty"),
        ("reactants", {"source_label": "C("}, "dotted SMILES"),
        ("binary", {"group": "mixed"}, "group = 'mixed'; allowed: consistent, inconsistent"),
        ("binary", {"false_label": "1"}, "is the source's true label"),
        ("numbers", {}, "labels = 'numbers'; allowed: binary, set, reactants, percent"),
    ],
)
def test_bad_value_is_told_with_its_row(labels: str, change: dict[str, str], message: str) -> None:
    row = {"source": "CCOC", "target": "CCOCC", "source_label": "1", "target_label": "0"} | change
    with pytest.raises(InputError, match=message):
        build([row], labels)


def test_sample_names_must_differ() -> None:
    row = {"source": "CCOC", "target": "CCOCC", "source_label": "1", "target_label": "0", "sample": "x"}
    with pytest.raises(InputError, match="sample = 'x' stands in several rows"):
        build([row, row], "binary")


def small(module: object, rows: list[dict[str, str]], **thresholds: float) -> TaskPairs:
    frame = tables.from_frame(pl.DataFrame(rows), module.COLUMNS).frame  # type: ignore[attr-defined]
    limits = {**module.DEFAULTS, **thresholds}  # type: ignore[attr-defined]
    return module.build([frame], Order("t", 1, draw="all", thresholds=MappingProxyType(limits)))  # type: ignore[attr-defined, no-any-return]


def test_task_without_any_pair_has_an_empty_table() -> None:
    built = small(bace, [{"smiles": "CCO", "class": "1"}, {"smiles": "c1ccccc1", "class": "0"}])
    assert built.pairs.height == 0
    assert steps(built)["kept"] == 2
    odor = [{"smiles": "CCO", "descriptors": "sweet"}]
    assert small(structural_odor, odor).pairs.height == 0
    assert small(chirality_odor, odor).pairs.height == 0


def test_binary_task_on_a_small_table() -> None:
    rows = [
        {"smiles": "CCCCCCCCc1ccccc1O", "class": "1"},
        {"smiles": "CCCCCCCCc1ccccc1N", "class": "0"},
        {"smiles": "not SMILES", "class": "0"},
        {"smiles": "CC.C", "class": "0"},
        {"smiles": "CCCCCCCCc1ccccc1O", "class": "0"},
    ]
    built = small(bace, rows, tanimoto=0.6)
    assert [steps(built)[step] for step in ("records", "invalid", "multi_component", "duplicate", "kept")] == [
        5, 1, 1, 1, 2,
    ]  # fmt: skip
    # The first of two equal structures gives the label.
    assert built.pairs.select("source_label", "target_label", "false_label").rows() == [
        ("0", "1", "1"), ("1", "0", "0"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="row 1: class = 'active'; allowed: 0 and 1"):
        small(bace, [{"smiles": "CC", "class": "active"}])


def test_target_among_the_sources_reactants_is_dropped() -> None:
    rows = [
        {"class": "6", "rxn_smiles": "CS(=O)(=O)Cl.CC(CO)NC(=O)OC(C)(C)C>>CC(COS(C)(=O)=O)NC(=O)OC(C)(C)C"},
        {"class": "7", "rxn_smiles": "CC(C(=O)O)NC(=O)OC(C)(C)C>>CC(CO)NC(=O)OC(C)(C)C"},
    ]
    built = small(retrosynthesis, rows)
    assert (steps(built)["targets"], steps(built)["dropped"]) == (2, 1)
    assert built.pairs["target"].to_list() == ["CC(COS(C)(=O)=O)NC(=O)OC(C)(C)C"]


def test_incomplete_additive_and_missing_halide_are_left_out() -> None:
    rows = [
        {
            "aryl_halide": halide, "ligand": ligand, "base": "b", "additive": additive, "yield": str(10 * at),
            "aryl_halide_smiles": "", "ligand_smiles": "", "base_smiles": "", "additive_smiles": "",
        }
        for at, (halide, ligand, additive) in enumerate(
            [("h", "l", "a"), ("h", "m", "a"), ("h", "l", ""), ("h", "m", ""), ("h", "l", "rare"), ("", "l", "a")]
        )
    ]  # fmt: skip
    built = small(reaction_yield, rows)
    assert [steps(built)[step] for step in ("records", "with_halide", "grid", "pairs")] == [6, 5, 4, 4]
    rows[0]["yield"] = "high"
    with pytest.raises(InputError, match="row 1: yield = 'high'"):
        small(reaction_yield, rows)


def test_descriptors_are_lower_case_and_split_at_commas_and_semicolons_only() -> None:
    assert descriptors("Green; sweet , green;black currant;;") == {"green", "sweet", "black currant"}
    assert descriptors("rose-like;floral", {"rose-like": "rose"}) == {"rose", "floral"}
    assert descriptors("") == frozenset()
    assert jaccard(frozenset("ab"), frozenset("bc")) == 1 / 3
    assert jaccard(frozenset(), frozenset()) == 1
