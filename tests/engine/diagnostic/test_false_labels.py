"""False labels: the worked cases, brute force, and every constraint checked over all pairs by other code."""

from __future__ import annotations

import csv
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem, DataStructs, rdBase
from rdkit.Chem import rdFingerprintGenerator
from shared_data import DATA, needs_data
from shared_tasks import built

from molaudit.engine.diagnostic.false_labels import (
    false_reactants,
    false_sets,
    false_yield,
    inverted,
    shown_yield,
)

GRID = [Fraction(tenths, 10) for tenths in range(50, 951)]


def by_trying_all(source: str, target: str) -> str | None:
    """The rule as it is written, over the whole grid, in fractions."""
    s, t = Fraction(source), Fraction(target)
    allowed = [x for x in GRID if abs(x - s) >= 25 and abs(x - t) >= 25]
    if not allowed:
        return None
    best = min(allowed, key=lambda x: (abs(x - s), -min(x - 5, 95 - x), x))
    return f"{float(best):.1f}"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("50", "50", "25.0"),
        ("20", "22", "47.0"),
        ("25", "75", "50.0"),
        ("29", "71", None),
        ("60", "30", "85.0"),
    ],
)
def test_worked_cases_of_false_yields(source: str, target: str, expected: str | None) -> None:
    assert false_yield(source, target) == expected


YIELDS = st.one_of(
    st.integers(0, 1000).map(lambda tenths: f"{tenths / 10:.1f}"),
    st.integers(0, 10**9).map(lambda n: f"{n / 10**7:.7f}"),
)


@given(YIELDS, YIELDS)
def test_false_yield_is_the_one_that_trying_all_finds(source: str, target: str) -> None:
    assert false_yield(source, target) == by_trying_all(source, target)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("26.8886154", "26.9"), ("0.0", "0.0"), ("46.544616600000005", "46.5"), ("50", "50.0"), ("0.25", "0.2")],
)
def test_yield_is_shown_with_one_decimal(text: str, shown: str) -> None:
    assert shown_yield(text) == shown


def test_binary_label_is_inverted() -> None:
    assert [inverted(label) for label in "01"] == ["1", "0"]


def test_false_set_is_disjoint_and_of_equal_size_where_one_exists() -> None:
    sources = [frozenset("ab"), frozenset("cd"), frozenset("e"), frozenset("fgh")]
    targets = [frozenset("c"), frozenset("e"), frozenset("cd"), frozenset("a")]
    found = false_sets(sources, targets, np.random.default_rng(0))
    # The first may not have cd for its target's c; of e (1) and fgh (3), both one off, the smaller is taken.
    assert found == [frozenset("e"), frozenset("ab"), frozenset("ab"), frozenset("cd")]


def test_false_set_is_drawn_uniformly_among_those_of_its_size() -> None:
    sources = [frozenset("a"), frozenset("b"), frozenset("c"), frozenset("d"), frozenset("d")]
    targets = [frozenset("a")] * 5
    rng = np.random.default_rng(1)
    counts = {"b": 0, "c": 0, "d": 0}
    for _ in range(3000):
        (label,) = false_sets(sources, targets, rng)[0] or ()
        counts[label] += 1
    # Three standard errors of a share of a third in 3,000 draws.
    assert all(abs(count / 3000 - 1 / 3) < 3 * (2 / 9 / 3000) ** 0.5 for count in counts.values())


def test_no_disjoint_set_is_no_false_label() -> None:
    assert (
        false_sets([frozenset("a"), frozenset("ab")], [frozenset("b")] * 2, np.random.default_rng(0))
        == [None] * 2
    )


def test_false_reactants_are_the_most_similar_that_are_allowed_and_the_first_of_equals() -> None:
    to_source = np.array([1.0, 0.30, 0.31, 0.2, 0.30, 0.29])
    to_target = np.array([0.1, 0.30, 0.10, 0.1, 0.10, 0.10])
    everyone = np.ones(6, dtype=np.bool_)
    assert false_reactants(to_source, to_target, everyone) == 1
    assert false_reactants(to_source, to_target, np.array([True, False, True, True, True, True])) == 4
    assert false_reactants(to_source, to_target, ~everyone) is None


@needs_data
def test_every_false_yield_keeps_its_distance_from_both() -> None:
    pairs = built("yield").pairs
    for row in pairs.iter_rows(named=True):
        assert row["false_label"] == by_trying_all(row["source_label"], row["target_label"])


@needs_data
@pytest.mark.parametrize("kind", ["structural-odor", "chirality-odor"])
def test_every_false_set_is_anothers_disjoint_and_as_long_as_can_be(kind: str) -> None:
    pairs = built(kind).pairs
    sets = [set(text.split(";")) for text in pairs["source_label"]]
    for place, row in enumerate(pairs.iter_rows(named=True)):
        false, target = set(row["false_label"].split(";")), set(row["target_label"].split(";"))
        assert not false & (sets[place] | target)
        assert any(false == one for other, one in enumerate(sets) if other != place)
        lengths = [len(one) for one in sets if not one & (sets[place] | target)]
        assert abs(len(false) - len(sets[place])) == min(abs(n - len(sets[place])) for n in lengths)


@needs_data
def test_every_false_reactant_set_is_of_another_class_and_far_from_both() -> None:
    with (DATA / "tasks" / "uspto50k_test.csv").open() as stream:
        records = list(csv.DictReader(stream))
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)

    def reactants(text: str) -> str:
        molecule = Chem.MolFromSmiles(text.split(">>", maxsplit=1)[0])
        for atom in molecule.GetAtoms():
            atom.SetAtomMapNum(0)
        again = Chem.MolToSmiles(Chem.MolFromSmiles(Chem.MolToSmiles(molecule)))
        return ".".join(sorted(again.split(".")))

    with rdBase.BlockLogs():
        classes: dict[str, set[str]] = {}
        for row in records:
            classes.setdefault(reactants(row["rxn_smiles"]), set()).add(row["class"])

        def similarity(one: str, other: str) -> float:
            return float(
                DataStructs.TanimotoSimilarity(
                    *(generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in (one, other))
                )
            )

        for row in built("retrosynthesis").pairs.iter_rows(named=True):
            false = row["false_label"]
            taken = {records[row[f"{end}_record"] - 1]["class"] for end in ("source", "target")}
            assert classes[false] - taken
            assert similarity(false, row["source_label"]) <= 0.3
            assert similarity(false, row["target_label"]) <= 0.3
            alike = similarity(row["source_label"], row["target_label"])
            assert (alike >= 0.5) == (row["group"] == "consistent")
            assert row["target"] not in row["source_label"].split(".")
