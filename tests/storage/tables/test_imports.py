"""Answers, labels, counts and floors: what is taken, what is left out under which reason, what is refused."""

from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA, needs_data

from molaudit.storage import results
from molaudit.storage.errors import TableError
from molaudit.storage.tables import imports
from molaudit.storage.tables.answers import SCHEMA as ANSWER_SCHEMA
from molaudit.storage.tables.labels import SCHEMA as LABEL_SCHEMA


def put(folder: Path, content: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def answers(folder: Path, content: str) -> imports.Answers:
    return imports.load_answers(put(folder, content))


def labels(folder: Path, content: str) -> imports.Labels:
    return imports.load_labels(put(folder, content, "esol.csv"))


def noted(found: imports.Answers | imports.Labels, *parts: str) -> bool:
    return any(all(part in note for part in parts) for note in found.notes)


class TestAnswers:
    def test_all_columns_have_their_types(self, tmp_path: Path) -> None:
        path = put(
            tmp_path,
            "model,molecule,answer,benchmark,smiles,condition,effort,sample,reasoning_tokens,cost\n"
            'm,water,"It is\n-3.10 ",esol,O,blind,low,2,12.0,9\n',
        )
        found = imports.load_answers(path)
        assert dict(found.frame.schema) == ANSWER_SCHEMA
        assert found.frame.row(0) == (
            str(path), 2, "m", "esol", "water", "O", "It is\n-3.10 ", None, "blind", "low", 2, 12, None,
        )  # fmt: skip
        assert found.files == (str(path),)
        assert found.notes == [f"{path}: ignored column cost."]

    def test_columns_that_are_absent_are_null_and_samples_are_numbered(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "model,molecule,prediction\nm,a,-3.10\nm,b,1\nm,a,2\nn,a,3\n")
        assert dict(found.frame.schema) == ANSWER_SCHEMA
        assert found.frame["prediction"].to_list() == ["-3.10", "1", "2", "3"]
        assert found.frame["sample"].to_list() == [0, 0, 1, 0]
        for name in ("answer", "benchmark", "smiles", "condition", "effort", "reasoning_tokens"):
            assert found.frame[name].null_count() == 4

    def test_an_answer_wins_over_a_prediction(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "model,molecule,answer,prediction\nm,a,x -3.1,9\nm,b,,8\nm,c,,\nm,d,y,\n")
        assert found.frame.select("answer", "prediction").rows() == [
            ("x -3.1", None),
            (None, "8"),
            ("", None),
            ("y", None),
        ]
        assert noted(found, "an answer and a prediction: 1")

    def test_predictions_that_are_no_numbers_are_named_and_kept(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "model,molecule,prediction\nm,a,inf\nm,b,none given\nm,c,\u22123.1\n")
        assert found.frame["prediction"].to_list() == ["inf", "none given", "\u22123.1"]
        assert noted(found, "rows 2 and 3", "'inf'")

    def test_rows_without_model_or_molecule_are_left_out_and_counted(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "model,molecule,smiles,answer\n,a,,1\nm, ,,2\nm,,CO,3\n\nm,b,,4\n")
        assert found.frame.select("row", "molecule").rows() == [(4, "CO"), (6, "b")]
        assert found.left_out == {"no model": 1, "no molecule": 1, "blank line": 1}
        assert noted(found, "row 2", "no model")

    def test_a_repeated_sample_is_left_out_and_counted(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "model,molecule,sample,answer\nm,a,0,1\nm,a,1,2\nm,a,0,3\n")
        assert found.frame["answer"].to_list() == ["1", "2"]
        assert found.left_out == {"same sample again": 1}
        assert noted(found, "row 4")

    @pytest.mark.parametrize("bad", ["x", "-1", "1.5", "1e3", "+1", "9" * 16])
    @pytest.mark.parametrize("column", ["sample", "reasoning_tokens"])
    def test_bad_whole_numbers_are_refused_with_their_row(
        self, tmp_path: Path, bad: str, column: str
    ) -> None:
        path = put(tmp_path, f"model,molecule,answer,{column}\nm,a,1,0\nm,b,1,{bad}\n")
        with pytest.raises(TableError) as caught:
            imports.load_answers(path)
        message = str(caught.value)
        assert (
            f"{path}, row 3, column '{column}': found '{bad}'. Allowed: a whole number, 0 or more" in message
        )

    def test_unknown_reasoning_tokens_stay_unknown(self, tmp_path: Path) -> None:
        found = answers(tmp_path, "model,molecule,answer,reasoning_tokens\nm,a,1,\nm,b,1,0\n")
        assert found.frame["reasoning_tokens"].to_list() == [None, 0]

    def test_a_sample_column_with_gaps_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TableError, match=r"row 3, column 'sample': found nothing"):
            answers(tmp_path, "model,molecule,answer,sample\nm,a,1,0\nm,b,1,\n")

    def test_several_files_are_one_table(self, tmp_path: Path) -> None:
        one = put(tmp_path, "model,molecule,answer\nm,a,1\n", "one.csv")
        two = put(tmp_path, '{"model": "m", "molecule": "a", "prediction": 2.50}\n', "two.jsonl")
        found = imports.load_answers([one, two])
        assert found.frame.select("file", "row", "sample", "answer", "prediction").rows() == [
            (str(one), 2, 0, "1", None),
            (str(two), 1, 1, None, "2.50"),
        ]
        assert found.files == (str(one), str(two))

    def test_nothing_usable_is_refused_with_the_reasons(self, tmp_path: Path) -> None:
        with pytest.raises(TableError, match=r"no usable answer \(no model: 1\)"):
            answers(tmp_path, "model,molecule,answer\n,a,1\n")
        with pytest.raises(TableError, match="No file"):
            imports.load_answers([])

    def test_frames_are_taken_like_files(self) -> None:
        columns = {
            "model": ["m", "m"],
            "molecule": ["a", "b"],
            "prediction": [-3.1, float("nan")],
            "sample": [0, 0],
        }
        for made in (pl.DataFrame(columns), pd.DataFrame(columns)):
            found = imports.answers_from_frame(made)
            assert dict(found.frame.schema) == ANSWER_SCHEMA
            assert found.frame.select("file", "row", "prediction").rows() == [
                ("<frame>", 1, "-3.1"),
                ("<frame>", 2, None),
            ]
            assert found.files == ()

    def test_whole_columns_of_nulls_keep_their_types(self) -> None:
        made = pl.DataFrame(
            {"model": ["m"], "molecule": ["a"], "answer": ["1"], "sample": [None], "effort": [None]}
        )
        assert dict(imports.answers_from_frame(made).frame.schema) == ANSWER_SCHEMA

    @needs_data
    def test_the_published_answers_load_whole(self) -> None:
        path = DATA / "published" / "blinding" / "zero_shot_predictions.parquet"
        found, source = imports.load_answers(path), pl.read_parquet(path)
        assert found.left_out == {}
        assert found.frame.height == 206_820
        assert found.frame["prediction"].cast(pl.Float64).equals(source["prediction"], null_equal=True)


class TestLabels:
    def test_labels_stay_text(self, tmp_path: Path) -> None:
        found = labels(
            tmp_path, "molecule,label,kind,unit,uncertainty,smiles\na, -3.10 ,Measured,K,0.60,O\nb,0,,,,\n"
        )
        assert dict(found.frame.schema) == LABEL_SCHEMA
        assert found.frame.drop("file").rows() == [
            (2, "esol", "a", "O", "-3.10", "measured", "K", 0.6, False, False),
            (3, "esol", "b", None, "0", None, None, None, False, False),
        ]

    def test_a_benchmark_column_wins_over_the_name_of_the_file(self, tmp_path: Path) -> None:
        found = labels(tmp_path, "benchmark,molecule,label\nx,a,1\n,b,2\n")
        assert found.frame["benchmark"].to_list() == ["x", "esol"]

    @pytest.mark.parametrize(
        "label", ["1", "-1", "+1.", ".5", "-3.10", "1e5", "1.5E-07", "\u22122.5", "007", "9" * 40, "1e-400"]
    )
    def test_numbers_are_labels(self, tmp_path: Path, label: str) -> None:
        assert labels(tmp_path, f"molecule,label\na,{label}\n").frame["label"].to_list() == [label]

    @pytest.mark.parametrize(
        "label", [">100", "1.2.3", "nan", "inf", "1e999", "1 2", "3 K", "1e", "--1", "٣", "0x1"]
    )
    def test_other_text_is_left_out_and_named(self, tmp_path: Path, label: str) -> None:
        found = labels(tmp_path, f"molecule,label\na,1\nb,{label}\nc,\n")
        assert found.frame["molecule"].to_list() == ["a"]
        assert found.left_out == {"label is not a number": 1, "no label": 1}
        assert noted(found, "esol.csv, row 3", "label is not a number")

    def test_equal_labels_of_a_molecule_collapse(self, tmp_path: Path) -> None:
        found = labels(tmp_path, "molecule,label\na,2.50\na,2.5\nb,1\n")
        assert found.frame.select("molecule", "label", "conflict").rows() == [
            ("a", "2.50", False),
            ("b", "1", False),
        ]
        assert found.left_out == {"same label again": 1}

    def test_different_labels_of_a_molecule_are_a_conflict(self, tmp_path: Path) -> None:
        found = labels(tmp_path, "molecule,label\na,1\nb,2\na,3\na,1\n")
        assert found.frame.select("row", "conflict").rows() == [(2, True), (3, False), (4, True)]
        assert noted(found, "ids with different labels", ": 1, first 'a' in row 2")

    def test_an_id_of_two_structures_is_marked_and_keeps_both(self, tmp_path: Path) -> None:
        found = labels(tmp_path, "molecule,smiles,label\n-,O,1\n-,C,1\nb,N,2\n")
        assert found.frame.select("smiles", "conflict", "shared_id").rows() == [
            ("O", False, True),
            ("C", False, True),
            ("N", False, False),
        ]

    def test_the_same_molecule_in_two_benchmarks_is_no_conflict(self, tmp_path: Path) -> None:
        found = labels(tmp_path, "benchmark,molecule,label\nx,a,1\ny,a,2\n")
        assert found.frame["conflict"].to_list() == [False, False]

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (
                "molecule,label,kind\na,1,measured\nb,1,guessed\n",
                "row 3, column 'kind': found 'guessed'. Allowed: measured",
            ),
            (
                "molecule,label,unit\na,1,K\nb,1,\nc,1,F\n",
                "row 4, column 'unit': found 'F', but benchmark 'esol' has 'K' in",
            ),
            ("molecule,label,kind\na,1,measured\nb,1,computed\n", "row 3, column 'kind': found 'computed'"),
            ("molecule,label,uncertainty\na,1,0.1\nb,1,low\n", "row 3, column 'uncertainty': found 'low'"),
            ("molecule,label,uncertainty\na,1,-0.1\n", "row 2, column 'uncertainty': found '-0.1'"),
            ("molecule,label\na,\nb,x\n", "no usable label (no label: 1, label is not a number: 1)"),
        ],
    )
    def test_what_cannot_be_used_is_refused(self, tmp_path: Path, content: str, says: str) -> None:
        with pytest.raises(TableError) as caught:
            labels(tmp_path, content)
        assert says in str(caught.value)
        assert "esol.csv" in str(caught.value)

    def test_several_files_are_several_benchmarks(self, tmp_path: Path) -> None:
        paths = [put(tmp_path, f"molecule,label,unit\na,{n},{n}\n", f"b{n}.csv") for n in (1, 2)]
        assert imports.load_labels(paths).frame.select("benchmark", "label").rows() == [
            ("b1", "1"),
            ("b2", "2"),
        ]

    def test_frames_are_taken_like_files(self) -> None:
        for made in (
            pl.DataFrame({"molecule": ["a"], "label": ["2.50"]}),
            pd.DataFrame({"molecule": ["a"], "label": ["2.50"]}),
        ):
            found = imports.labels_from_frame(made)
            assert found.frame.select("file", "row", "benchmark", "label").rows() == [
                ("<frame>", 1, "labels", "2.50")
            ]
            assert found.notes == []

    def test_labels_that_were_floats_are_noted(self, tmp_path: Path) -> None:
        columns = {"molecule": ["a", "b"], "label": [2.5, 3.0]}
        path = tmp_path / "t.parquet"
        pl.DataFrame(columns).write_parquet(path)
        for found in (
            imports.load_labels(path),
            imports.labels_from_frame(pl.DataFrame(columns)),
            imports.labels_from_frame(pd.DataFrame(columns)),
        ):
            assert found.frame["label"].to_list() == ["2.5", "3"]
            assert noted(found, "the labels are floats")

    @needs_data
    @pytest.mark.parametrize(
        ("name", "rows"),
        [
            ("esol", 1128),
            ("freesolv", 642),
            ("caco2", 910),
            ("aqsoldb", 9982),
            ("qm8", 21786),
            ("ppbr", 2790),
        ],
    )
    def test_no_label_of_a_real_benchmark_is_lost(self, name: str, rows: int) -> None:
        path = DATA / "benchmarks" / f"{name}.csv"
        found = imports.load_labels(path)
        assert found.left_out == {}
        assert found.frame.height == rows
        assert found.frame["label"].to_list() == pl.read_csv(path, infer_schema=False)["label"].to_list()


CELLS = "extra,m1,benchmark,model,arm,n_usable,m2,m3\n"


class TestCells:
    def test_input_columns_come_back_in_order(self, tmp_path: Path) -> None:
        frame = imports.load_cells(put(tmp_path, CELLS + "1.50,10,esol, M ,reg,20.0,4,0\n"))
        assert frame.to_dicts() == [
            {
                "extra": "1.50",
                "m1": 10,
                "benchmark": "esol",
                "model": "M",
                "arm": "reg",
                "n_usable": 20,
                "m2": 4,
                "m3": 0,
            }
        ]
        assert frame.columns == CELLS.strip().split(",")

    def test_what_is_given_is_written_back_as_it_was(self, tmp_path: Path) -> None:
        content = "extra,m1,benchmark,model,arm,n_usable,m2,m3,more\n1.50,10,esol,M,reg,20,4,0,\n,1,b,N,reg,2,0,0,x\n"
        frame = imports.load_cells(put(tmp_path, content))
        results.write_csv(frame, tmp_path / "back.csv")
        assert (tmp_path / "back.csv").read_text() == content

    def test_condition_and_family_are_kept_where_given(self, tmp_path: Path) -> None:
        head = "benchmark,model,arm,n_usable,m1,m2,m3,family,condition\n"
        frame = imports.load_cells(put(tmp_path, head + "b,m,a,4,3,2,1, f ,\n"))
        assert frame.row(0) == ("b", "m", "a", 4, 3, 2, 1, "f", None)

    @pytest.mark.parametrize(
        ("row", "says"),
        [
            ("x,10,b,m,a,20,4,", "row 3, column 'm3': found nothing. Allowed: a whole number, 0 or more."),
            ("x,ten,b,m,a,20,4,1", "row 3, column 'm1': found 'ten'"),
            ("x,10,b,m,a,20.5,4,1", "row 3, column 'n_usable': found '20.5'"),
            ("x,10,b,m,a,20,-4,1", "row 3, column 'm2': found '-4'"),
            ("x,10,b,m,a,9,4,1", "row 3, column 'm1': found 10, above n_usable = 9"),
            ("x,10,b,m,a,20,4,5", "row 3, column 'm3': found 5, above m2 = 4"),
            ("x,10,b,m,a,20,11,5", "row 3, column 'm2': found 11, above m1 = 10"),
            ("x,10,, m,a,20,4,1", "row 3, column 'benchmark': found nothing"),
        ],
    )
    def test_counts_that_cannot_be_are_refused(self, tmp_path: Path, row: str, says: str) -> None:
        with pytest.raises(TableError) as caught:
            imports.load_cells(put(tmp_path, CELLS + "x,10,b,m,a,20,4,1\n" + row + "\n"))
        assert says in str(caught.value)

    @settings(deadline=None, max_examples=60)
    @given(counts=st.lists(st.integers(0, 12), min_size=4, max_size=4))
    def test_nesting_is_the_only_rule(
        self, counts: list[int], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        path = put(
            tmp_path_factory.getbasetemp(),
            "benchmark,model,arm,n_usable,m1,m2,m3\nb,m,a," + ",".join(map(str, counts)) + "\n",
        )
        if counts == sorted(counts, reverse=True):
            assert imports.load_cells(path).row(0)[3:] == tuple(counts)
        else:
            with pytest.raises(TableError, match="m3 <= m2 <= m1 <= n_usable"):
                imports.load_cells(path)


class TestFloors:
    def test_floors_are_fractions_or_null(self, tmp_path: Path) -> None:
        frame = imports.load_floors(
            put(tmp_path, "n_label,floor12,benchmark,floor23\n9,0.1468,esol,\n3,1,x,0\n")
        )
        assert frame.to_dicts() == [
            {"benchmark": "esol", "floor12": 0.1468, "floor23": None},
            {"benchmark": "x", "floor12": 1.0, "floor23": 0.0},
        ]
        assert frame.schema["floor23"] == pl.Float64

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (
                "benchmark,floor12\na,0.1\nb,14.7\n",
                "row 3, column 'floor12': found '14.7'. Allowed: a fraction",
            ),
            ("benchmark,floor_hit1\na,-0.1\n", "row 2, column 'floor_hit1': found '-0.1'"),
            ("benchmark,floor12\na,nan\n", "row 2, column 'floor12': found 'nan'"),
            (
                "benchmark,floor12\na,0.1\nb,0.1\na,0.2\n",
                "row 4, column 'benchmark': 'a' came before in row 2",
            ),
            ("benchmark,floor12\n,0.1\n", "row 2, column 'benchmark': found nothing"),
            (
                "benchmark,other\na,1\n",
                "none of the columns floor12, floor23, floor_hit1, floor_hit2, floor_hit3 is there",
            ),
        ],
    )
    def test_what_is_no_floor_is_refused(self, tmp_path: Path, content: str, says: str) -> None:
        with pytest.raises(TableError) as caught:
            imports.load_floors(put(tmp_path, content))
        assert says in str(caught.value)

    @needs_data
    def test_published_floors_in_per_cent_are_refused_with_a_hint(self, tmp_path: Path) -> None:
        source = DATA / "published" / "recall" / "label_floor.csv"
        with pytest.raises(TableError, match="Is 'dataset' meant to be 'benchmark'"):
            imports.load_floors(source)
        renamed = pl.read_csv(source).rename({"dataset": "benchmark"})
        path = tmp_path / "floors.csv"
        renamed.write_csv(path)
        with pytest.raises(TableError, match="a fraction from 0 to 1"):
            imports.load_floors(path)


class TestDecimalCommas:
    CONTENT = 'molecule,label\na,"-3,10"\nb,"2,5e-3"\nc,7\nd,1.5\ne,"1,234,5"\n'

    def test_labels_are_read_where_it_is_asked_for(self, tmp_path: Path) -> None:
        found = imports.load_labels(put(tmp_path, self.CONTENT), decimal_comma=True)
        assert found.frame.select("molecule", "label").rows() == [("a", "-3.10"), ("b", "2.5e-3"), ("c", "7")]
        assert found.left_out == {"label has a point under --decimal-comma": 1, "label is not a number": 1}

    def test_elsewhere_the_message_says_how_to_ask(self, tmp_path: Path) -> None:
        found = imports.load_labels(put(tmp_path, self.CONTENT))
        assert found.frame["label"].to_list() == ["7", "1.5"]
        assert noted(found, "rows 2 and 3: '-3,10' has a comma", "say --decimal-comma")

    def test_predictions_are_read_and_replies_are_left_as_they_are(self, tmp_path: Path) -> None:
        path = put(tmp_path, 'model,molecule,prediction,answer\nm,a,"-3,10",\nm,b,,"2,5"\n')
        found = imports.load_answers(path, decimal_comma=True).frame
        assert found.select("prediction", "answer").rows() == [("-3.10", None), (None, "2,5")]
        assert noted(imports.load_answers(path), "column 'prediction'", "--decimal-comma")
