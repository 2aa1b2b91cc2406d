"""The benchmark of pairs: both ways find the same, and simulated libraries are what they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from molaudit.bench import pairs as pairs_bench
from molaudit.engine.molecules.single_site import single_sites
from molaudit.engine.molecules.standard import distinct_structures
from molaudit.kernels import tanimoto

SCAFFOLDS = (
    "CC(=O)Nc1ccc(S(=O)(=O)N2CCN(CC2)C(=O)c2nc3ccc({})cc3s2)cc1",
    "COc1cc(C(=O)NC2CCN(CC2)c2ncnc3[nH]ccc23)cc(OC)c1OCc1ccc({})cc1",
)
CHAINS = ("O", "N", "C", "F", "OC", "C(=O)O", "CCl", "[N+](=O)[O-]", "C1CC1")


def test_index_by_core_finds_as_many_pairs_as_the_sweep(tmp_path: Path) -> None:
    smiles = [scaffold.format(end) for scaffold in SCAFFOLDS for end in CHAINS]
    path = tmp_path / "small.csv"
    path.write_text("smiles,class\n" + "".join(f"{text},1\n" for text in smiles))
    structures = distinct_structures(smiles)
    near = tanimoto.similar_pairs(structures.bits, structures.heavy, low=0.8, size_difference=3)
    kept = near.similarity < 1
    listed = list(zip(near.first[kept].tolist(), near.second[kept].tolist(), strict=True))
    ours = len(single_sites(structures.smiles, listed).found)
    assert ours > 10
    assert pairs_bench.pairs_by_core("bace", path) == ours


def test_simulated_library_is_like_fingerprints_and_grows_in_place() -> None:
    bits, heavy = pairs_bench.library(3000)
    counts = np.bitwise_count(bits).sum(axis=1)
    assert 30 < counts.mean() < 60
    assert heavy.min() >= 1
    again, _ = pairs_bench.library(3000)
    assert np.array_equal(bits, again)
    near = tanimoto.similar_pairs(bits, heavy, low=0.8, size_difference=3)
    relatives = near.first // 10 == near.second // 10
    assert len(near.first) > 1000
    assert relatives.mean() > 0.9


def test_scaled_sweep_is_near_the_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = pairs_bench.sweep_rows((6000,))
    monkeypatch.setattr(pairs_bench, "SAMPLED_ROWS", 3000)
    (scaled,) = pairs_bench.sweep_rows((6000,))
    assert (whole["note"], scaled["note"]) == ("", "measured on 3,000 rows")
    # Pairs are counted from the row that comes first in the order of the sweep, so stretches differ a little.
    assert scaled["pairs"] == pytest.approx(whole["pairs"], rel=0.2)


def test_without_tables_the_sweep_alone_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(pairs_bench.VARIABLE, raising=False)
    monkeypatch.setattr(pairs_bench, "SIZES", (500, 1000, 2000))
    rows = pairs_bench.run(quick=True, out=tmp_path, console=Console())
    assert [row["n"] for row in rows] == [500, 1000, 2000]
    assert (tmp_path / "pairs.json").exists()
    assert pairs_bench.VARIABLE in capsys.readouterr().out
