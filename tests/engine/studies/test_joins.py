"""Answers meet labels by id, by structure, or not at all; where the two disagree, structure decides, said aloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from rdkit import Chem
from shared_data import DATA, needs_data

import molaudit
from molaudit.engine.errors import InputError
from molaudit.storage.errors import TableError

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
QUICK: dict[str, Any] = {"repeats": 20, "resamples": 20}
HOWS = ("by_both", "by_id", "by_structure", "disagreed", "unmatched")


def score(answers: Any, labels: Any, **more: Any) -> molaudit.Scores:
    return molaudit.score(answers, labels, **QUICK, **more)


def table(columns: str, *rows: str) -> pl.DataFrame:
    return pl.DataFrame(
        [row.split(",") for row in rows], schema=dict.fromkeys(columns.split(","), pl.String), orient="row"
    ).with_columns(pl.col(pl.String).replace("", None))


def answers(columns: str, *rows: str) -> pl.DataFrame:
    return table(columns, *rows).with_columns(model=pl.lit("m"))


def joined(scores: molaudit.Scores) -> dict[str, int]:
    found = scores.joins.select(*HOWS).sum().row(0, named=True)
    assert sum(found.values()) == scores.joins["answers"].sum() == scores.pairs.height
    assert scores.joins["met"].sum() == scores.pairs.height - scores.pairs["label_text"].null_count()
    return {how: count for how, count in found.items() if count}


def compared(scores: molaudit.Scores) -> list[tuple[Any, ...]]:
    return scores.pairs.select("molecule", "label_text", "left_out").rows()


def counts(scores: molaudit.Scores) -> tuple[int, ...]:
    assert scores.cells.height == 1
    return scores.cells.select("n_usable", "m1", "m2", "m3").row(0)


def directly(pairs: list[tuple[str, str]]) -> tuple[int, ...]:
    """Count agreement at 1, 2 and 3 figures of (answer, label) by Python's own rounding, nested."""
    usable = [(a, b) for a, b in pairs if len(b.lstrip("-0.").replace(".", "").rstrip("0")) >= 3]
    depths = []
    for answer, label in usable:
        depth = 0
        for digits in range(3):
            if f"{float(answer):.{digits}e}" != f"{float(label):.{digits}e}":
                break
            depth += 1
        depths.append(depth)
    return (len(usable), *(sum(depth >= k for depth in depths) for k in (1, 2, 3)))


LABELS = table("molecule,smiles,label", "1,CCO,1.23", "2,CCCO,2.34", "3,CCCCO,3.45")


class TestIdsAgainstStructures:
    def test_an_id_that_names_another_structure_everywhere_is_refused_with_both(self) -> None:
        with pytest.raises(InputError) as caught:
            score(answers("molecule,smiles,answer", "1,CCCCO,3.45", "2,CCO,1.23"), LABELS)
        assert str(caught.value) == (
            "<frame>: of 2 answers with a molecule id and a structure, 2 name by id another molecule of 'labels' "
            "than by structure (row 1: '1' with structure 'CCCCO', but in <frame>, row 1, '1' is 'CCO'); the ids "
            "seem to be another table's, or mere positions. Leave out the column of ids to compare by structure "
            "alone, or that of structures to compare by id alone"
        )

    def test_up_to_one_in_twenty_is_decided_by_structure_and_counted(self) -> None:
        labels = [f"{n},{'C' * n}O,{n}.23" for n in range(1, 21)]
        rows = [f"{n},O{'C' * n},{n}.23" for n in range(1, 20)] + ["20,OC,1.23"]
        scores = score(answers("molecule,smiles,answer", *rows), table("molecule,smiles,label", *labels))
        assert joined(scores) == {"by_both": 19, "disagreed": 1}
        assert compared(scores)[-1] == ("20", "1.23", "later_sample")
        assert any("1 answers name by their molecule id another molecule" in note for note in scores.notes)
        rows[0] = "1,OCCC,1.23"
        with pytest.raises(
            InputError, match="of 20 answers with a molecule id and a structure, 2 name by id another"
        ):
            score(answers("molecule,smiles,answer", *rows), table("molecule,smiles,label", *labels))

    def test_a_structure_that_no_label_has_meets_nothing_whatever_its_id(self) -> None:
        labels = [f"{n},{'C' * n}O,{n}.23" for n in range(1, 21)]
        rows = [f"{n},O{'C' * n},{n}.23" for n in range(1, 20)] + ["20,c1ccccc1,20.23"]
        scores = score(answers("molecule,smiles,answer", *rows), table("molecule,smiles,label", *labels))
        assert joined(scores) == {"by_both": 19, "disagreed": 1}
        assert compared(scores)[-1] == ("20", None, "unmatched")

    def test_each_way_of_meeting_is_counted_for_each_model_and_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("model,molecule,smiles,answer\nm,1,OCC,1.23\nm,2,,2.34\nm,x,OCCCC,3.45\nn,y,C,1\n")
        scores = score(path, LABELS)
        scores.write(tmp_path / "out")
        assert (tmp_path / "out" / "joins.csv").read_text() == (
            "benchmark,model,file,answers,by_both,by_id,by_structure,disagreed,unmatched,met\n"
            f"labels,m,{path},3,1,1,1,0,0,3\n"
            f"labels,n,{path},1,0,0,0,0,1,0\n"
        )

    def test_a_flat_structure_and_one_with_centres_agree_and_two_hands_do_not(self) -> None:
        labels = table(
            "molecule,smiles,label", "l-alanine,C[C@H](N)C(=O)O,1.23", "d-alanine,C[C@@H](N)C(=O)O,2.34"
        )
        flat = answers("molecule,smiles,answer", "l-alanine,CC(N)C(=O)O,1.23", "d-alanine,CC(N)C(=O)O,2.34")
        assert joined(score(flat, labels)) == {"by_both": 2}
        with pytest.raises(
            InputError, match="1 answers with a molecule id and a structure, 1 name by id another"
        ):
            score(answers("molecule,smiles,answer", "l-alanine,C[C@@H](N)C(=O)O,1.23"), labels)

    def test_a_structure_that_cannot_be_read_leaves_the_id_alone(self) -> None:
        scores = score(answers("molecule,smiles,answer", "1,no smiles,1.23", "2,C1CC,2.34"), LABELS)
        assert joined(scores) == {"by_id": 2}


class TestText:
    def test_what_is_not_ascii_is_no_structure(self) -> None:
        labels = table("molecule,smiles,label", "methanol,CO,1.23", "sulfide,[C-]#[S+],2.34", "water,O,3.45")
        scores = score(answers("smiles,answer", "CO₂,1.23", "CS₂,2.34", "O,3.45", "СО,1.23"), labels)
        assert [row[1] for row in compared(scores)] == [None, None, "3.45", None]

    def test_a_bare_formula_is_a_name_unless_the_column_says_smiles(self) -> None:
        labels = table("molecule,smiles,label", "methanol,CO,1.23", "water,O,3.45")
        by_name = score(answers("molecule,answer", "CO,1.23", "water,3.45"), labels)
        assert compared(by_name) == [("CO", None, "unmatched"), ("water", "3.45", None)]
        by_smiles = score(answers("smiles,answer", "CO,1.23", "O,3.45"), labels)
        assert joined(by_smiles) == {"by_structure": 2}
        assert [row[1] for row in compared(by_smiles)] == ["1.23", "3.45"]

    @pytest.mark.parametrize("odd", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u200e", "\u00a0"])
    def test_characters_that_nobody_sees_lose_no_molecule(self, odd: str) -> None:
        labels = table("molecule,smiles,label", f"ethanol{odd},CCO{odd},1.23{odd}", f"{odd}water,{odd}O,3.45")
        scores = score(answers("molecule,answer", "ethanol,1.23", f"water{odd},3.45"), labels)
        assert [row[1] for row in compared(scores)] == ["1.23", "3.45"]
        assert any("column 'label', row 1: invisible characters" in note for note in scores.notes) == (
            odd != "\u00a0"
        )

    def test_one_name_has_one_writing(self) -> None:
        labels = table("molecule,label", "café,1.23", "two words,2.34")
        scores = score(answers("molecule,answer", "cafe\u0301,1.23", " two words ,2.34"), labels)
        assert joined(scores) == {"by_id": 2}


class TestOneStructureUnderSeveralIds:
    LABELS = table("molecule,smiles,label", "d1,CCO,351.4", "d2,OCC,360.2", "d3,C,111.7")

    def test_different_values_of_numbered_rows_are_a_conflict_and_noted(self) -> None:
        found = score(answers("molecule,answer", "d1,351.4", "d2,360.2", "d3,111.7"), self.LABELS)
        assert compared(found) == [
            ("d1", "351.4", "conflict"),
            ("d2", "360.2", "conflict"),
            ("d3", "111.7", None),
        ]
        assert any("labels: 1 structures stand under several molecule ids" in note for note in found.notes)

    def test_found_by_structure_they_are_a_conflict_too(self) -> None:
        found = score(answers("smiles,answer", "C(O)C,351.4", "C,111.7"), self.LABELS)
        assert compared(found) == [("C(O)C", "351.4", "conflict"), ("C", "111.7", None)]

    def test_names_tell_apart_what_a_flat_structure_cannot(self) -> None:
        # As ESOL has them; its published 398 scorable molecules hold eight of such names.
        flat = "CC12CCC3C(CCC4CC(O)CCC43C)C1CCC2=O"
        labels = table(
            "molecule,smiles,label", f"Androsterone,{flat},-4.402", f"Epiandrosterone,{flat},-4.16"
        )
        found = score(answers("molecule,answer", "Androsterone,-4.402", "Epiandrosterone,-4.16"), labels)
        assert [row[2] for row in compared(found)] == [None, None]
        found = score(answers("smiles,answer", f"{flat},-4.402"), labels)
        assert [row[2] for row in compared(found)] == ["conflict"]

    def test_declared_values_of_one_structure_are_alternatives(self) -> None:
        found = score(
            answers("molecule,answer", "d1,360.2", "d3,111.7"), self.LABELS, several_values=["labels"]
        )
        assert compared(found) == [("d1", "360.2", None), ("d3", "111.7", None)]

    def test_atom_maps_are_no_part_of_a_structure(self) -> None:
        labels = table("smiles,label", "CC(C)O,1.23", "CCO,2.34")
        found = score(
            answers("smiles,answer", "[CH3:1][C@H:2]([CH3:3])[OH:4],1.23", "[H:9]O[CH2:1]C,2.34"), labels
        )
        assert [row[1] for row in compared(found)] == ["1.23", "2.34"]


class TestTables:
    def test_structure_alone_suffices_on_both_sides(self) -> None:
        labels = table("smiles,label", "CCO,1.23", "C,2.34")
        found = score(answers("smiles,answer", "OCC,1.23", "C,2.50"), labels)
        assert joined(found) == {"by_structure": 2}
        assert counts(found) == (2, 2, 1, 1)

    def test_text_that_is_no_structure_still_meets_its_like(self) -> None:
        labels = table("smiles,label", "F[Xx](F)F,1.23", "C,2.34")
        found = score(answers("smiles,answer", "F[Xx](F)F,1.23", "C,2.34"), labels)
        assert joined(found) == {"by_id": 1, "by_structure": 1}

    def test_a_column_called_id_is_no_molecule_beside_structures(self, tmp_path: Path) -> None:
        (tmp_path / "lab.csv").write_text("id,smiles,label\n1,CCO,1.23\n2,CCCO,2.34\n3,CCCCO,3.45\n")
        (tmp_path / "ans.csv").write_text("model,id,smiles,answer\nm,1,CCCCO,3.45\n")
        found = score(tmp_path / "ans.csv", tmp_path / "lab.csv")
        assert compared(found) == [("CCCCO", "3.45", None)]
        assert f"{tmp_path / 'ans.csv'}: ignored column id." in found.notes

    def test_columns_of_tdc_are_known(self) -> None:
        labels = pl.DataFrame({"Drug_ID": ["a", "b"], "Drug": ["CCO", "C"], "Y": ["1.23", "2.34"]})
        found = score(answers("Drug,answer", "OCC,1.23", "C,2.34"), labels)
        assert counts(found) == (2, 2, 2, 2)
        assert "<frame>: column Drug is read as 'smiles'." in found.notes

    @pytest.mark.parametrize(
        "ids",
        [
            pl.Series([1, 2, 3]),
            pl.Series([1.0, 2.0, 3.0]),
            pl.Series(["1.0", "2.0", "3.00"]),
            pl.Series(["1", "2", "3"], dtype=pl.Categorical),
        ],
    )
    @pytest.mark.parametrize("kind", ["polars", "pandas", "parquet"])
    def test_numbers_as_ids_meet_however_a_table_holds_them(
        self, ids: pl.Series, kind: str, tmp_path: Path
    ) -> None:
        frame = pl.DataFrame({"model": "m", "molecule": ids, "answer": ["1.23", "2.34", "3.45"]})
        given: Any = frame
        if kind == "pandas":
            given = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
        elif kind == "parquet":
            given = tmp_path / "a.parquet"
            frame.write_parquet(given)
        assert counts(score(given, LABELS)) == (3, 3, 3, 3)

    @pytest.mark.parametrize(
        "write",
        [
            lambda text: ("a.csv", b"\xef\xbb\xbf" + text.encode()),
            lambda text: ("a.csv", text.replace("\n", "\r\n").encode()),
            lambda text: ("a.tsv", text.replace(",", "\t").encode()),
            lambda text: ("a.csv", text.replace("3.45", '"about\n3.45"').encode()),
            lambda text: ("a.csv", text.replace("Molecule,Answer", "MOLECULE,ANSWER").encode()),
        ],
    )
    def test_dialects_of_tables_meet_the_same_labels(self, write: Any, tmp_path: Path) -> None:
        name, content = write("Model,Molecule,Answer\nm,1,1.23\nm,2,2.34\nm,3,3.45\n")
        (tmp_path / name).write_bytes(content)
        assert joined(score(tmp_path / name, LABELS)) == {"by_id": 3}


def replies_of_fixtures(structures: bool) -> list[tuple[str, str]]:
    """(answer, label) of the sample file, by the SMILES or the position that stands in each document."""
    labels = pl.read_csv(LOGS / "labels.csv", infer_schema=False)
    known = dict(labels.select("smiles" if structures else "molecule", "label").iter_rows())
    lines = (LOGS / "samples_logp_position_2026-12-01T00-00-00.jsonl").read_text().splitlines()
    key = "smiles" if structures else "id"
    records = [json.loads(line) for line in lines]
    return [
        (record["resps"][0][0].removeprefix("The value is "), known[str(record["doc"][key])])
        for record in records
        if str(record["doc"][key]) in known
    ]


class TestLogsOfHarnesses:
    def test_positions_would_have_been_compared_with_other_molecules(self) -> None:
        assert directly(replies_of_fixtures(structures=True)) == (24, 14, 12, 6)
        assert directly(replies_of_fixtures(structures=False))[3] < 6

    @pytest.mark.parametrize(
        "log",
        [
            "samples_logp_position_2026-12-01T00-00-00.jsonl",
            "inspect_auto_ids.eval",
            "inspect_text_ids.eval",
        ],
    )
    def test_logs_with_made_up_ids_are_counted_as_a_direct_comparison_counts(self, log: str) -> None:
        scores = score(LOGS / log, LOGS / "labels.csv")
        assert counts(scores) == directly(replies_of_fixtures(structures=True))
        assert joined(scores) == {"by_structure": 24}

    def test_a_doc_id_alone_is_no_molecule(self) -> None:
        with pytest.raises(TableError) as caught:
            score(LOGS / "samples_logp_doc_id_2026-12-01T00-00-00.jsonl", LOGS / "labels.csv")
        assert str(caught.value).split(": ", 1)[1] == (
            "none of 24 samples names its molecule; a number that a harness gave (doc_id, id, index, custom_id) is "
            "no molecule, even where labels are numbered too. Give each document or sample a field 'smiles' or "
            "'molecule' (its name in the labels), or write a table with model, molecule or smiles, and answer."
        )

    def test_failed_cut_and_empty_samples_are_asked_for_and_counted(self) -> None:
        scores = score(LOGS / "inspect_failures.json", LOGS / "labels.csv")
        cell = scores.cells.row(0, named=True)
        assert (cell["n_asked"], cell["n_pred"]) == (24, 21)
        left_out = {name: cell[f"left_out_{name}"] for name in ("failed", "truncated", "empty")}
        assert left_out == {"failed": 1, "truncated": 1, "empty": 1}
        assert scores.rows_left_out == {}


@needs_data
@pytest.mark.parametrize("shape", ["inspect", "lm-eval"])
def test_numbered_labels_of_ld50_meet_logs_by_structure_alone(shape: str, tmp_path: Path) -> None:
    labels = pl.read_csv(DATA / "benchmarks/ld50.csv", infer_schema=False)
    structures = {smiles: Chem.CanonSmiles(smiles) for smiles in labels["smiles"]}
    labels = labels.with_columns(structure=pl.col("smiles").replace_strict(structures))
    # A structure that stands twice with different values is scored under neither (30 of them here).
    single = labels.filter(pl.col("label").n_unique().over("structure") == 1)
    asked = single.sample(400, seed=5, shuffle=True).with_columns(
        reply=pl.when(pl.int_range(pl.len()) % 5 < 3).then("label").otherwise(pl.lit("2.71"))
    )
    rows = list(enumerate(asked.iter_rows(named=True)))
    if shape == "inspect":
        path = tmp_path / "log.json"
        samples = [
            {
                "id": at + 1, "epoch": 1, "metadata": {"smiles": row["smiles"]},
                "output": {"choices": [{"message": {"content": row["reply"]}, "stop_reason": "stop"}]},
            }
            for at, row in rows
        ]  # fmt: skip
        header = {"version": 2, "status": "success", "eval": {"task": "ld50", "model": "mockllm/model"}}
        path.write_text(json.dumps({**header, "samples": samples}))
    else:
        path = tmp_path / "samples_ld50_2026-12-01T00-00-00.jsonl"
        lines = [
            {
                "doc_id": at,
                "doc": {"id": at, "smiles": row["smiles"]},
                "resps": [[row["reply"]]],
                "filter": "none",
            }
            for at, row in rows
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    scores = score(path, DATA / "benchmarks/ld50.csv")
    assert joined(scores) == {"by_structure": 400}
    assert counts(scores) == directly(asked.select("reply", "label").rows())
