"""Texts are searched near candidates only: the readings are those of whole texts, by one process or several."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import DATA, needs_data

from molaudit.bench.prose import replies
from molaudit.engine.answers import _helpers
from molaudit.engine.answers._search import whole_text
from molaudit.engine.answers._units import read_unit
from molaudit.engine.answers.numbers import parse_column, parse_number

PIECES = [
    *("-3.05", "−1.2", "178. 3", "1.5 to 1.8", "~2", "± 0.3", "12", "1,234", "3.1e-5", "× 10^-3", "10⁻⁵", "½", "%"),
    *("Answer: ", "Final answer: ", "The answer is ", "Predicted logS: ", "I estimate ", "therefore ", "<178>"),
    *("**", "__", "*", "`", "$", "\\boxed{", "}", "<answer>", "</answer>", "[ANSWER]", "[/ANSWER]", "<b>", "</b>"),
    *("Table 2.1 ", "pH 7.4 ", "rule of 5 ", "Molecule 12", "CAS 71-43-2 ", "2,4-D ", "c1ccccc1", "[1]", "v. 2"),
    *(" kcal/mol", " °C", " K", " log mol/L", "at 25 °C ", "RMSE of 0.5 ", "95 % CI ", "3 significant figures "),
    *("\n", " ", ". ", ", ", "; ", ": ", "\n\n", "\n1. ", "- ", "(", ")", "|", '{"answer": ', "wait, ", "not "),
    *("ſ", "K", "İ", "\u2028", "\u00ad", "\u2011", "\u00af", "ß", "word ", "analogue (", "about ", "at most "),
    *("the value is ", "<|im_end|>", "10.1021/x", "I cannot give ", "or so"),
]  # fmt: skip


UNIT_WORDS = [
    *(
        "kcal",
        "mol",
        "kJ",
        "J",
        "g",
        "u",
        "M",
        "mM",
        "µM",
        "nM",
        "mg",
        "kg",
        "mL",
        "L",
        "l",
        "dm3",
        "cm",
        "s",
        "eV",
    ),
    *(
        "meV",
        "Ha",
        "hartree",
        "°C",
        "°F",
        "K",
        "degrees",
        "percent",
        "pct",
        "mmHg",
        "kPa",
        "Pa",
        "atm",
        "bar",
        "nm",
    ),
    *(
        "Å",
        "min",
        "hours",
        "sec",
        "days",
        "D",
        "debye",
        "log",
        "log10",
        "(",
        ")",
        "/",
        "·",
        "-1",
        "^-1",
        "per",
        "at",
    ),
    *("is", "the", "of", "or", "and"),
]


@settings(deadline=None, max_examples=600)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join),
    st.sampled_from([None, "kcal/mol", "degC"]),
    st.sampled_from([(), ("logS",)]),
    st.booleans(),
)
def test_a_reading_is_that_of_the_whole_text(
    text: str, unit: str | None, names: tuple[str, ...], comma: bool
) -> None:
    found = parse_number(text, unit, names, decimal_comma=comma)
    with whole_text():
        assert found == parse_number(text, unit, names, decimal_comma=comma)


def test_prose_is_read_as_its_whole_text_is() -> None:
    for text in replies(300, seed=5):
        found = parse_number(text)
        with whole_text():
            assert found == parse_number(text), text


@needs_data
def test_pieces_of_real_replies_are_read_as_their_whole_text_is() -> None:
    texts = []
    for name in ("blinding__esol__opus5__L1__t1024", "blinding__esol__opus5__L5__t1024"):
        with (DATA / f"replies/{name}.csv").open(newline="", encoding="utf-8") as stream:
            texts += [row["answer_text"] for row in csv.DictReader(stream)]
    rng = random.Random(0)
    for _ in range(300):
        text = rng.choice(("\n", " ", ". ")).join(rng.sample(texts, rng.randint(1, 6)))
        found = parse_number(text)
        with whole_text():
            assert found == parse_number(text), text


@settings(deadline=None, max_examples=400)
@given(
    st.lists(
        st.sampled_from(UNIT_WORDS),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["", " "]),
)
def test_a_unit_is_found_whether_or_not_its_first_word_is_looked_at(words: list[str], space: str) -> None:
    text = "5 " + space.join(words)
    found = read_unit(text, 1)
    with whole_text():
        assert found == read_unit(text, 1)


@pytest.fixture
def helped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_helpers, "LEAST_CHARACTERS", 1)
    monkeypatch.setattr(_helpers, "cores", lambda: 2)


def test_a_helper_reads_what_one_process_reads(helped: None) -> None:
    texts = [*replies(150, seed=3), "", "−3.05 kcal/mol", 'a "quoted"\n\u2028 −1.2', "Answer: 3,18"]
    several = parse_column(texts, "kcal/mol", ["logS"])
    with whole_text():
        assert several.equals(parse_column(texts, "kcal/mol", ["logS"]))


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false", "/bin/cat"])
def test_a_helper_that_fails_costs_nothing(
    helped: None, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    texts = replies(60, seed=4)
    read = parse_column(texts)
    with whole_text():
        assert read.equals(parse_column(texts))


def test_a_helper_gets_no_key(helped: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nenv > {seen}\n")
    program.chmod(0o755)
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    monkeypatch.setattr(sys, "executable", str(program))
    parse_column(replies(60, seed=4))
    assert "sk-secret" not in seen.read_text()


def test_a_program_without_a_main_guard_may_read_much() -> None:
    program = (
        "import molaudit.engine.answers._helpers as h\n"
        "h.LEAST_CHARACTERS, h.cores = 1, lambda: 2\n"
        "from molaudit.bench.prose import replies\n"
        "from molaudit.engine.answers.numbers import parse_column\n"
        "print(parse_column(replies(80)).height)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("80\n", "", 0)


def test_little_is_read_without_a_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_helpers, "cores", lambda: 8)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert parse_column(pl.Series(replies(20))).height == 20
