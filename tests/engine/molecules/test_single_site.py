"""Edits at a single site: what is one, what is not, and that doing it gives the target.

Expected targets are written by hand: the fragment's letters exchanged in the source's own SMILES, where the order
of neighbours, and with it the configuration, stays.
"""

from __future__ import annotations

import pytest
from rdkit import Chem

from molaudit.engine.molecules.edits import HYDROGEN
from molaudit.engine.molecules.execution import execute
from molaudit.engine.molecules.single_site import REDUCIBLE, SEVERAL_PLACES, Site, single_sites


def canonical(smiles: str) -> str:
    return str(Chem.MolToSmiles(Chem.MolFromSmiles(smiles)))


def site(source: str, target: str, most_heavy: int = 4) -> Site | str:
    sites = single_sites([canonical(source), canonical(target)], [(0, 1)], most_heavy=most_heavy)
    return sites.found[0] if sites.found else next(iter(sites.refused))


PUBLISHED = [
    (
        "CN1C(=O)C2(CC(C)(C)Oc3ccc(-c4ccccc4)cc32)N=C1N", HYDROGEN, "*F",
        "*c1cccc(-c2ccc3c(c2)C2(CC(C)(C)O3)N=C(N)N(C)C2=O)c1",
        "CN1C(=O)C2(CC(C)(C)Oc3ccc(-c4cccc(F)c4)cc32)N=C1N",
    ),
    (
        "CCCc1cccc([C@@]2(c3ccc(OC(F)F)cc3)N=C(N)N(C)C2=O)c1", "*C", HYDROGEN,
        "*CCc1cccc([C@@]2(c3ccc(OC(F)F)cc3)N=C(N)N(C)C2=O)c1",
        "CCc1cccc([C@@]2(c3ccc(OC(F)F)cc3)N=C(N)N(C)C2=O)c1",
    ),
    (
        "CN(c1ccccc1)S(=O)(=O)c1ccccc1[N+](=O)[O-]", HYDROGEN, "*C",
        "*c1ccc(N(C)S(=O)(=O)c2ccccc2[N+](=O)[O-])cc1",
        "Cc1ccc(N(C)S(=O)(=O)c2ccccc2[N+](=O)[O-])cc1",
    ),
    (
        "CNc1ncnc2c1ncn2C1OC(CO)CC1F", "*C", "*O", "*Nc1ncnc2c1ncn2C1OC(CO)CC1F",
        "OCC1CC(F)C(n2cnc3c(NO)ncnc32)O1",
    ),
    ("O=C(O)c1ccc(OCCO)cc1", "*O", "*C", "*C(=O)c1ccc(OCCO)cc1", "CC(=O)c1ccc(OCCO)cc1"),
    (
        "C[C@H](COS(C)(=O)=O)NC(=O)OC(C)(C)C", "*S(C)(=O)=O", HYDROGEN,
        "*OC[C@@H](C)NC(=O)OC(C)(C)C", "C[C@H](CO)NC(=O)OC(C)(C)C",
    ),
    ("Cc1cc(C)cc(C)c1", "*C", "*O", "*c1cc(C)cc(C)c1", "Cc1cc(C)cc(O)c1"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "removed", "added", "core", "target"), PUBLISHED)
def test_published_pair_is_found_with_its_core(
    source: str, removed: str, added: str, core: str, target: str
) -> None:
    found = site(source, target)
    assert isinstance(found, Site)
    assert (found.forth.removed, found.forth.added) == (canonical(removed), canonical(added))
    assert canonical(found.forth.core) == canonical(core)
    assert execute(found.forth) == canonical(target)
    assert execute(found.back) == canonical(source)


SAME_CONFIGURATION = [
    ("Cl[C@H](C)c1ccccc1", "Cl[C@H](Br)c1ccccc1"),
    ("Cl[C@H](C)c1ccccc1", "Cl[C@](F)(C)c1ccccc1"),
    ("O[C@@H](F)[C@H](Cl)Br", "N[C@@H](F)[C@H](Cl)Br"),
    ("C[C@@H]1CC[C@H](O)CC1", "C[C@@H]1CC[C@H](F)CC1"),
    ("C[S@](=O)c1ccccc1", "CC[S@](=O)c1ccccc1"),
    ("F[C@](Cl)(Br)CO", "F[C@](Cl)(Br)CN"),
    ("C/C=C/C", "Cl/C=C/C"),
    ("C/C=C/C", "C/C(F)=C/C"),
    ("F/C=N/C", "F/C=N/O"),
]
OTHER_CONFIGURATION = [
    ("Cl[C@H](C)c1ccccc1", "Cl[C@@H](Br)c1ccccc1"),
    ("Cl[C@H](C)c1ccccc1", "Cl[C@@](F)(C)c1ccccc1"),
    ("C[C@@H]1CC[C@H](O)CC1", "C[C@@H]1CC[C@@H](F)CC1"),
    ("C/C=C/C", "Cl/C=C\\C"),
    ("C/C=C/C", "C/C(F)=C\\C"),
]


@pytest.mark.parametrize(("source", "target"), SAME_CONFIGURATION)
def test_configuration_at_the_cut_stays_both_ways(source: str, target: str) -> None:
    found = site(source, target)
    assert isinstance(found, Site)
    assert execute(found.forth) == canonical(target)
    assert execute(found.back) == canonical(source)


@pytest.mark.parametrize(("source", "target"), OTHER_CONFIGURATION)
def test_other_configuration_at_the_cut_is_another_core(source: str, target: str) -> None:
    assert site(source, target) in (REDUCIBLE, SEVERAL_PLACES)


def test_a_centre_that_the_edit_would_take_away_makes_no_edit() -> None:
    # Forth works, back would have to invent the configuration.
    assert site("Cl[C@H](C)c1ccccc1", "CCc1ccccc1") in (REDUCIBLE, SEVERAL_PLACES)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("c1cc[nH]c1", "Cn1cccc1"),
        ("c1ccc2[nH]ccc2c1", "CC(=O)n1ccc2ccccc21"),
        ("O=c1cc[nH]cc1", "Cn1ccc(=O)cc1"),
        ("c1c[nH]cn1", "Cn1ccnc1"),
    ],
)
def test_hydrogen_on_aromatic_nitrogen_is_exchanged_both_ways(source: str, target: str) -> None:
    found = site(source, target)
    assert isinstance(found, Site)
    assert found.forth.removed == HYDROGEN
    assert execute(found.forth) == canonical(target)
    assert execute(found.back) == canonical(source)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("CCCCC", "C1CCCC1"),
        ("C1CCCCC1", "C1CCNCC1"),
        ("c1ccccc1", "c1ccc2c(c1)C2"),
        ("CC1CCCCC1", "CCCCCCC"),
        ("c1ccc2c(c1)OCO2", "c1ccc(OC)cc1"),
    ],
)
def test_what_changes_a_ring_is_no_single_site(source: str, target: str) -> None:
    assert site(source, target) == SEVERAL_PLACES


def test_ring_as_a_whole_fragment_is_a_site() -> None:
    found = site("c1ccncc1C1CC1", "c1ccncc1O")
    assert isinstance(found, Site)
    assert (found.forth.removed, found.forth.added) == (canonical("*C1CC1"), "*O")


def test_twins_of_a_site_are_one_edit() -> None:
    # All four free places of p-xylene are alike.
    found = site("Cc1ccc(C)cc1", "Cc1ccc(C)c(C)c1")
    assert isinstance(found, Site)
    assert found.twins == 0
    # Ethane to propane: three hydrogen atoms on each of two carbon atoms.
    found = site("CC", "CCC")
    assert isinstance(found, Site)
    assert found.twins == 0


def test_fragment_of_five_heavy_atoms_is_too_large_at_four() -> None:
    assert site("c1ccncc1CCCCC", "c1ccncc1O") == SEVERAL_PLACES
    assert isinstance(site("c1ccncc1CCCCC", "c1ccncc1O", most_heavy=5), Site)
    assert isinstance(site("c1ccncc1CCCC", "c1ccncc1O"), Site)


@pytest.mark.parametrize(
    ("source", "target"),
    [("CC(C)c1ccncc1", "FC(F)(F)c1ccncc1"), ("CCc1ccncc1", "ClCc1ccncc1C")],
)
def test_fragments_that_begin_alike_are_reducible_or_several(source: str, target: str) -> None:
    assert site(source, target) in (REDUCIBLE, SEVERAL_PLACES)


def test_methoxy_to_hydroxy_is_the_methyl_that_goes() -> None:
    found = site("COc1ccccc1", "Oc1ccccc1")
    assert isinstance(found, Site)
    assert (found.forth.removed, found.forth.added) == ("*C", HYDROGEN)


def test_double_bond_to_the_fragment_is_not_cut() -> None:
    assert not isinstance(site("CC(=O)c1ccncc1", "CC(=S)c1ccncc1"), Site)
    assert not isinstance(site("CC#Cc1ccncc1", "CC=Cc1ccncc1"), Site)


def test_deuterium_is_an_atom_and_no_hydrogen() -> None:
    found = site("FCCl", "[2H]C(F)Cl")
    assert isinstance(found, Site)
    assert (found.forth.removed, found.forth.added) == (HYDROGEN, "*[2H]")
    assert execute(found.forth) == canonical("[2H]C(F)Cl")
    assert execute(found.back) == canonical("FCCl")


def test_dative_bond_is_not_cut() -> None:
    from molaudit.engine.molecules.cuts import cuts

    molecule = Chem.MolFromSmiles("[NH3]->[Pt](Cl)Cl")
    metal = next(a.GetIdx() for a in molecule.GetAtoms() if a.GetSymbol() == "Pt")
    crossing = [
        cut
        for cut in cuts(molecule, 4)
        if cut.root >= 0
        and {molecule.GetAtomWithIdx(i).GetSymbol() for i in (cut.anchor, cut.root)} == {"N", "Pt"}
    ]
    assert crossing == []
    assert any(cut.anchor == metal for cut in cuts(molecule, 4))


def test_structure_without_an_inchi_is_never_equal_to_another() -> None:
    assert site("*CCC", "*CCF") == "no InChI"


def test_cation_and_metal_keep_their_hydrogens() -> None:
    for source, target in (
        ("C[N+](C)(C)C", "C[NH+](C)C"),
        ("C[Hg]C", "C[Hg]Cl"),
        ("[O-]C(=O)C", "[O-]C(=O)CF"),
    ):
        found = site(source, target)
        assert isinstance(found, Site)
        assert execute(found.forth) == canonical(target)
        assert execute(found.back) == canonical(source)


def test_smallest_molecules_can_be_edited() -> None:
    for source, target in (("C", "CF"), ("O", "CO"), ("CF", "CO")):
        found = site(source, target)
        assert isinstance(found, Site)
        assert execute(found.forth) == canonical(target)


def test_two_ways_to_one_target_are_counted_and_the_first_core_is_kept() -> None:
    # Methanol to ethanol: a methyl group put on the carbon atom, or hydroxymethyl in place of hydroxy on it.
    found = site("CO", "CCO")
    assert isinstance(found, Site)
    assert found.twins == 1
    assert found.forth.core == "*CO"
