"""Scoring worked by hand, rule by rule."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from shared_data import DATA, needs_data

import molaudit
from molaudit.engine.errors import InputError, SettingsError

QUICK = {"repeats": 50, "resamples": 50}


def frames(pairs: list[tuple[str, str]], **columns: object) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One model's answers and the labels, from (answer, label)."""
    ids = [f"molecule {i}" for i in range(len(pairs))]
    answers = pl.DataFrame({"model": "m", "molecule": ids, "answer": [a for a, _ in pairs]})
    labels = pl.DataFrame({"molecule": ids, "label": [y for _, y in pairs], "kind": "measured"})
    return answers.with_columns(**{k: pl.lit(v) for k, v in columns.items()}), labels


def only_cell(answers: pl.DataFrame, labels: pl.DataFrame, **settings: Any) -> dict[str, Any]:
    cells = molaudit.score(answers, labels, **(QUICK | settings)).cells
    assert cells.height == 1
    return cells.row(0, named=True)


def counts(cell: dict[str, Any]) -> tuple[int, ...]:
    return tuple(cell[name] for name in ("n_usable", "m1", "m2", "m3"))


@pytest.mark.parametrize(
    ("answer", "label", "nested"),
    [
        ("-3.18", "-3.18", (1, 1, 1, 1)),
        ("-3.1", "-3.18", (1, 1, 0, 0)),
        ("0.0318", "0.318", (1, 0, 0, 0)),
        ("3.18", "-3.18", (1, 0, 0, 0)),
        ("2.2", "2.204", (1, 1, 1, 1)),  # a short answer is padded with zeros: 2.20
        ("0", "0.318", (1, 0, 0, 0)),
        ("0.949", "0.951", (1, 0, 0, 0)),  # rounding does not nest: 0.9 against 1, then 0.95 twice
    ],
)
def test_worked_pairs(answer: str, label: str, nested: tuple[int, ...]) -> None:
    assert counts(only_cell(*frames([(answer, label)]))) == nested


def test_flat_counts_may_exceed_nested_ones() -> None:
    cell = only_cell(*frames([("0.949", "0.951")]))
    assert (cell["h1"], cell["h2"], cell["h3"]) == (0, 1, 0)


def test_prefix_matching_nests_by_itself() -> None:
    cell = only_cell(*frames([("0.949", "0.951")]), match="prefix")
    assert counts(cell) == (1, 1, 0, 0)


def test_short_labels_are_left_out_of_the_counts_but_not_of_the_errors() -> None:
    cell = only_cell(*frames([("1.25", "1.25"), ("3.0", "2.5"), ("1.0", "0")]))
    assert counts(cell) == (1, 1, 1, 1)
    assert cell["n_pred"] == 3
    assert (cell["left_out_label_short"], cell["left_out_label_zero"]) == (1, 1)
    assert cell["mae"] == pytest.approx((0 + 0.5 + 1.0) / 3)


def test_written_figures_keep_labels_with_trailing_zeros() -> None:
    answers, labels = frames([("2.50", "2.50"), ("5000", "5000")])
    assert counts(only_cell(answers, labels)) == (0, 0, 0, 0)
    assert counts(only_cell(answers, labels, figures="written")) == (1, 1, 1, 1)


def test_required_figures_leave_short_answers_out() -> None:
    answers, labels = frames([("2.2", "2.204"), ("2.20", "2.204"), ("2.21", "2.21")])
    assert counts(only_cell(answers, labels))[0] == 3
    cell = only_cell(answers, labels, answer_figures="required")
    # "2.2" and "2.20" carry two figures when trailing zeros never count.
    assert (cell["n_usable"], cell["left_out_answer_short"]) == (1, 2)
    cell = only_cell(answers, labels, answer_figures="required", figures="written")
    assert (cell["n_usable"], cell["left_out_answer_short"]) == (2, 1)
    numbers = answers.rename({"answer": "prediction"})
    cell = only_cell(numbers, labels, answer_figures="required", figures="written")
    assert (cell["n_usable"], cell["left_out_answer_short"]) == (2, 1)


def test_answers_keep_their_order_whatever_they_are_and_in_whatever_unit() -> None:
    labels = pl.DataFrame(
        {
            "benchmark": ["one", "two"],
            "molecule": ["a", "a"],
            "label": ["1.23", "4.56"],
            "unit": ["K", "kcal/mol"],
            "kind": "measured",
        }
    )
    answers = pl.DataFrame(
        {
            "model": [f"m{i}" for i in range(6)],
            "benchmark": ["two", "one"] * 3,
            "molecule": "a",
            "answer": ["1.23", None, "4.56 kcal/mol", "about", None, "1.23 K"],
            "prediction": [None, "1.23", None, None, "4.56", None],
        }
    )
    scores = molaudit.score(answers, labels, **QUICK)
    assert scores.pairs["model"].to_list() == answers["model"].to_list()
    assert scores.cells["model"].to_list() == answers["model"].to_list()
    assert scores.cells["m3"].to_list() == [0, 1, 1, 0, 1, 1]


def test_replies_without_a_number_are_counted_by_reason() -> None:
    texts = ["", "I cannot provide that value.", "<think>it is -2.1", "between 4 and 5", ">100", "-3,05"]
    cell = only_cell(*frames([(text, "1.23") for text in texts] + [("1.23", "1.23")]))
    assert counts(cell) == (1, 1, 1, 1)
    assert (cell["n_asked"], cell["n_pred"]) == (7, 1)
    for reason in ("empty", "refusal", "truncated", "range", "bound", "ambiguous"):
        assert cell[f"left_out_{reason}"] == 1, reason


def test_infinite_answer_matches_nothing_and_is_counted() -> None:
    cell = only_cell(*frames([("inf", "1.23"), ("1.23", "1.23")]))
    assert counts(cell) == (2, 1, 1, 1)
    assert cell["mae"] == 0


def test_first_parsed_sample_counts_and_pooling_is_named() -> None:
    labels = pl.DataFrame({"molecule": ["a", "b"], "label": ["1.23", "4.56"], "kind": "measured"})
    answers = pl.DataFrame(
        [("m", "a", 0, "no idea"), ("m", "a", 1, "1.23"), ("m", "a", 2, "9.99"), ("m", "b", 0, "4.57")],
        schema=["model", "molecule", "sample", "answer"],
        orient="row",
    )
    first = only_cell(answers, labels)
    assert counts(first) == (2, 2, 2, 1)
    assert (first["n_asked"], first["left_out_later_sample"]) == (2, 1)
    assert "pooled samples" not in first["cautions"]
    pooled = only_cell(answers, labels, samples="pool")
    assert counts(pooled) == (3, 2, 2, 1)
    assert (pooled["n_asked"], pooled["left_out_later_sample"]) == (4, 0)
    assert "pooled samples" in pooled["cautions"]


def test_molecule_with_different_labels_is_left_out_of_scoring() -> None:
    labels = pl.DataFrame(
        {"molecule": ["a", "a", "b"], "label": ["1.23", "1.24", "4.56"], "kind": "measured"}
    )
    answers = pl.DataFrame({"model": "m", "molecule": ["a", "b"], "answer": ["1.23", "4.56"]})
    scores = molaudit.score(answers, labels, **QUICK)
    cell = scores.cells.row(0, named=True)
    assert (cell["n_usable"], cell["left_out_conflict"]) == (1, 1)
    assert scores.floors["n_label"].to_list() == [3]


def test_answers_meet_labels_by_structure_where_ids_differ() -> None:
    labels = pl.DataFrame(
        {"molecule": ["ethanol", "benzene"], "smiles": ["CCO", "c1ccccc1"], "label": ["78.29", "80.1"]}
    )
    answers = pl.DataFrame(
        {
            "model": "m",
            "molecule": ["OCC", "x7", "x8"],
            "smiles": [None, "C1=CC=CC=C1", "CCC"],
            "answer": ["78.3", "80.1", "1"],
        }
    )
    scores = molaudit.score(answers, labels, **QUICK)
    assert counts(scores.cells.row(0, named=True)) == (2, 2, 2, 2)
    assert scores.cells["left_out_unmatched"].to_list() == [1]
    assert any("matched by canonical structure" in note for note in scores.notes)


def test_nothing_in_common_is_an_error_that_shows_both_sides() -> None:
    answers, labels = frames([("1.23", "1.23")])
    with pytest.raises(InputError, match=r"no answer meets a label.*'other'.*molecule 0"):
        molaudit.score(answers.with_columns(molecule=pl.lit("other")), labels)


def test_answers_without_benchmark_need_a_single_set_of_labels() -> None:
    answers, labels = frames([("1.23", "1.23"), ("4.56", "4.56")])
    two = labels.with_columns(benchmark=pl.Series(["one", "two"]))
    with pytest.raises(InputError, match="answers name no benchmark, and the labels hold 2"):
        molaudit.score(answers, two)
    cells = molaudit.score(answers.with_columns(benchmark=pl.Series(["one", "two"])), two, **QUICK).cells
    assert cells["benchmark"].to_list() == ["one", "two"]


def test_conditions_and_efforts_are_cells_and_families_of_their_own() -> None:
    answers, labels = frames([("1.23", "1.23")])
    both = pl.concat(
        answers.with_columns(condition=pl.lit(c), effort=pl.lit(e))
        for c in ("clear", "blind")
        for e in ("low", "high")
    )
    cells = molaudit.score(both, labels, **QUICK).cells
    assert sorted(cells.select("condition", "effort").rows()) == [
        ("blind", "high"),
        ("blind", "low"),
        ("clear", "high"),
        ("clear", "low"),
    ]


def test_every_choice_is_checked() -> None:
    answers, labels = frames([("1.23", "1.23")])
    with pytest.raises(SettingsError, match="protocol: found 'recal'; allowed: recall, blinding"):
        molaudit.score(answers, labels, protocol="recal")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'sede'"):
        molaudit.score(answers, labels, sede=1)  # type: ignore[call-arg]


def test_pandas_frames_give_the_same_cells() -> None:
    answers, labels = frames([("1.23", "1.23"), ("4.57", "4.56")])
    expected = molaudit.score(answers, labels, **QUICK).cells
    got = molaudit.score(answers.to_pandas(), labels.to_pandas(), **QUICK).cells
    assert got.equals(expected)


def reciter(n: int, recited: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels spread over the digits; the first ``recited`` answered to three figures, the rest off in the second."""
    labels = [f"{1.01 + 0.0137 * i:.3f}" for i in range(n)]
    answers = [f"{float(y):.3g}" if i < recited else f"{float(y) * 1.13:.3g}" for i, y in enumerate(labels)]
    return frames(list(zip(answers, labels, strict=True)))


def test_reciter_is_flagged_and_its_files_are_complete(tmp_path: Path) -> None:
    scores = molaudit.score(*reciter(400, 300), **QUICK)
    cell = scores.cells.row(0, named=True)
    assert (cell["verdict"], cell["evidence"], cell["regime"]) == ("flagged", "both", "heavy")
    assert cell["p12_matched"] < 1e-20
    assert cell["R12_low"] <= cell["R12"] <= cell["R12_high"]
    scores.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "cells.csv",
        "cells.parquet",
        "pairs.parquet",
        "floors.csv",
        "joins.csv",
        "run.json",
    }
    assert pl.read_parquet(tmp_path / "cells.parquet").equals(scores.cells)


def test_constant_answer_gets_the_few_answers_caution() -> None:
    _, labels = reciter(400, 0)
    answers = labels.select(model=pl.lit("m"), molecule="molecule", answer=pl.lit("1.23"))
    cell = only_cell(answers, labels)
    assert (cell["n_distinct"], cell["top_share"]) == (1, 1.0)
    assert "few answers" in cell["cautions"]
    assert cell["pearson"] is None


@pytest.mark.parametrize(("kind", "expected"), [("measured", False), ("computed", True), (None, True)])
def test_labels_that_structure_gives_are_computable_unless_declared_measured(
    kind: str | None, expected: bool
) -> None:
    from rdkit import Chem
    from rdkit.Chem.Descriptors import MolWt

    smiles = ["C" * n + end for n in range(2, 14) for end in ("O", "N", "Cl")]
    labels = pl.DataFrame(
        {
            "molecule": smiles,
            "smiles": smiles,
            "label": [f"{MolWt(Chem.MolFromSmiles(s)):.2f}" for s in smiles],
            "kind": pl.Series([kind] * len(smiles), dtype=pl.String),
        }
    )
    answers = labels.select(model=pl.lit("m"), molecule="molecule", answer="label")
    cell = only_cell(answers, labels)
    assert ("computable" in cell["cautions"]) == expected


def test_measured_looking_labels_are_not_called_computable() -> None:
    smiles = ["C" * n + end for n in range(2, 14) for end in ("O", "N", "Cl")]
    labels = pl.DataFrame(
        {
            "molecule": smiles,
            "smiles": smiles,
            "label": [f"{3.17 + 7.31 * i % 41:.2f}" for i in range(len(smiles))],
        }
    )
    answers = labels.select(model=pl.lit("m"), molecule="molecule", answer="label")
    assert "computable" not in only_cell(answers, labels)["cautions"]


def test_source_unit_counts_agreement_on_the_converted_back_values() -> None:
    # Ethanol, 46.069 g/mol: 2.0000 in -log10 mol/kg is 460.69 mg/kg; 2.0004 is 460.26: equal to three figures only
    # in the unit of the label. 1.9996 (461.11) agrees at two figures in the source unit.
    labels = pl.DataFrame(
        {
            "molecule": ["ethanol"],
            "smiles": ["CCO"],
            "label": ["2.0004"],
            "unit": "-log10 mol/kg",
            "kind": "measured",
        }
    )
    answers = pl.DataFrame({"model": "m", "molecule": ["ethanol"], "answer": ["1.9996"]})
    cell = only_cell(answers, labels, source_units={"labels": "mg/kg"})
    assert counts(cell) == (1, 1, 1, 1)
    assert (cell["source_n_usable"], cell["source_m1"], cell["source_m2"], cell["source_m3"]) == (1, 1, 1, 0)
    assert "source unit" in cell["cautions"]
    with pytest.raises(SettingsError, match="no conversion to 'stone'"):
        only_cell(answers, labels, source_units={"labels": "stone"})


def test_same_seed_gives_the_same_cells_and_another_seed_other_intervals() -> None:
    answers, labels = reciter(200, 100)
    one, two, other = (molaudit.score(answers, labels, seed=s, **QUICK).cells for s in (3, 3, 4))
    assert one.equals(two)
    assert one["mae_low"][0] != other["mae_low"][0]
    assert one["mae"][0] == other["mae"][0]


def test_blinding_protocol_needs_figures_on_both_sides() -> None:
    pairs = [("1.23", "1.23"), ("1.2", "1.24"), ("1.24", "1.2"), ("9", "9.87")]
    cell = only_cell(*frames(pairs), protocol="blinding")
    got = tuple(cell[name] for name in ("match3", "total3", "m1_2", "m2_2", "m2_3", "m3_3"))
    # Labels with three figures: 1.23, 1.24, 9.87. Both sides two figures: rows 1 to 3, all 1 and all 1.2.
    assert got == (1, 3, 3, 3, 1, 1)
    assert math.isclose(cell["hit3"], 1 / 3)


@needs_data
def test_first_half_of_opus_on_freesolv_from_its_reply_texts() -> None:
    table = pl.read_csv(DATA / "replies/freesolv_opus5_first_half.csv", infer_schema=False)
    answers = table.select(model=pl.lit("Claude Opus 5"), molecule="mol_id", answer="answer_text")
    labels = table.select(molecule="mol_id", label="truth", kind=pl.lit("measured"))
    assert counts(only_cell(answers, labels)) == (194, 148, 96, 79)


@needs_data
def test_boiling_points_of_opus_from_their_reply_texts() -> None:
    table = pl.read_csv(DATA / "replies/boilingpoint_opus5_replies.csv", infer_schema=False)
    answers = table.select(model=pl.lit("Claude Opus 5"), molecule="mol_id", answer="text")
    labels = table.select(molecule="mol_id", label="truth", kind=pl.lit("measured"))
    assert counts(only_cell(answers, labels)) == (41, 41, 38, 33)


@needs_data
def test_54_cells_of_the_earlier_study_come_out_in_every_count() -> None:
    folder = DATA / "published/blinding"
    scores = molaudit.score(
        folder / "zero_shot_predictions.parquet",
        folder / "labels.csv",
        protocol="blinding",
        samples="pool",
        **QUICK,
    )
    published = pl.read_csv(folder / "published_counts.csv")
    met = published.join(scores.cells, on=["benchmark", "model"], suffix="_cell", maintain_order="left")
    assert met.height == 54
    for theirs, ours in (
        ("match3", "match3_cell"),
        ("m1", "m1_2"),
        ("m2", "m2_2"),
        ("m2_lvl3", "m2_3"),
        ("m3", "m3_3"),
    ):
        assert met[theirs].to_list() == met[ours].to_list(), theirs
    missing = (met["total3"] - met["total3_cell"]).to_list()
    assert min(missing) >= 0
    assert sum(missing) <= 44
