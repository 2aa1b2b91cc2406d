"""Structures of a table: what is kept, and why the rest is not."""

from __future__ import annotations

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator

from molaudit.engine.molecules.reactants import reactant_set, reaction_sides, similarities
from molaudit.engine.molecules.standard import distinct_structures


def test_first_of_equal_structures_is_kept_and_every_record_leads_to_it() -> None:
    found = distinct_structures(["OCC", "c1ccccc1", "CCO", "C1=CC=CC=C1", "CCN"])
    assert found.smiles == ("CCO", "c1ccccc1", "CCN")
    assert found.records.tolist() == [0, 1, 4]
    assert found.of_record.tolist() == [0, 1, 0, 1, 2]
    assert found.dropped == {"invalid": 0, "multi_component": 0, "duplicate": 2}


def test_stereoisomers_are_different_structures() -> None:
    assert len(distinct_structures(["C[C@H](O)F", "C[C@@H](O)F", "CC(O)F"])) == 3


def test_salts_are_left_out_and_not_mended() -> None:
    found = distinct_structures(["CC(=O)[O-].[Na+]", "CC(=O)O"])
    assert found.smiles == ("CC(=O)O",)
    assert found.dropped["multi_component"] == 1
    assert len(distinct_structures(["CC(=O)[O-].[Na+]"], single=False)) == 1


def test_dot_that_a_ring_bond_spans_is_one_component() -> None:
    assert distinct_structures(["C1.C1"]).smiles == ("CC",)


def test_invalid_records_are_counted_by_what_is_wrong_with_them() -> None:
    texts = ["C[Al](C)(C)(C)(C)(C)(C)C", "C(C", "", None, "C C", "c1cccc1", "CC"]
    found = distinct_structures(texts)
    assert found.smiles == ("CC",)
    assert found.dropped["invalid"] == 6
    assert found.why_invalid == {
        "empty": 2, "valence of Al": 1, "not SMILES": 1, "white space inside": 1, "aromaticity": 1,
    }  # fmt: skip


def test_bits_are_the_fingerprint_and_heavy_atoms_are_no_hydrogens() -> None:
    smiles = ["c1ccccc1C[C@H](N)C(=O)O", "[2H]C([2H])([2H])O"]
    found = distinct_structures(smiles)
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    for text, row in zip(smiles, found.bits, strict=True):
        expected = generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(text))
        ours = np.unpackbits(row.view(np.uint8), bitorder="little")
        assert ours.tolist() == expected.tolist()
    assert found.heavy.tolist() == [12, 2]


def test_reaction_is_read_without_maps_and_agents() -> None:
    text = "[CH3:1][C:2](=[O:3])O.[NH2:4][CH3:5]>CCN(CC)CC>[CH3:1][C:2](=[O:3])[NH:4][CH3:5]"
    assert reaction_sides(text) == ("CC(=O)O.CN", "CNC(C)=O")


def test_reaction_without_a_side_is_none() -> None:
    for text in ("", "CC>>", ">>CC", "CC", "CC>>C(", "C(>>CC", "CC>CC"):
        assert reaction_sides(text) is None


def test_reactant_set_does_not_depend_on_order_or_writing() -> None:
    assert reactant_set("OCC.[NH2:7]C") == reactant_set("CN.C(O)C") == "CCO.CN"
    assert reactant_set("CCO.C(") is None
    assert reactant_set("") is None


def test_similarity_of_sets_is_that_of_rdkit() -> None:
    from rdkit import DataStructs

    sets = ["CCO.CN", "CCOC(C)=O.CN", "c1ccccc1"]
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    bits = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in sets]
    expected = [DataStructs.BulkTanimotoSimilarity(one, bits) for one in bits]
    assert np.array_equal(similarities(sets), np.array(expected))
