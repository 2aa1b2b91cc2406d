"""docs/reference is what the definitions say, and holds every column and option that there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from running_audits import Audit, server

import molaudit
from molaudit.engine import cli
from molaudit.engine.audit import attempt_columns
from molaudit.engine.reference import pages
from molaudit.engine.reference.columns import type_name
from molaudit.engine.reference.commands import parser_of
from molaudit.engine.seams.columns import schema
from molaudit.engine.studies import floors_table, joins, pair_table

FOLDER = Path(__file__).resolve().parents[3] / "docs/reference"


@pytest.mark.parametrize("name", ["columns.md", "commands.md", "audit.toml.md"])
def test_a_page_is_as_it_is_generated(name: str) -> None:
    """If not: ``python -m molaudit.engine.reference``."""
    assert (FOLDER / name).read_text(encoding="utf-8") == pages(FOLDER)[name]


def columns_of(table: str) -> dict[str, str]:
    """The columns of a table as the page has them, with their types."""
    text = (FOLDER / "columns.md").read_text(encoding="utf-8")
    (part,) = re.findall(rf"^## `{re.escape(table)}`.*?(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", part, flags=re.MULTILINE))


def typed(frame: pl.DataFrame) -> dict[str, str]:
    return {name: type_name(type_) for name, type_ in frame.schema.items()}


def scored(**settings: Any) -> molaudit.Scores:
    labels = pl.DataFrame(
        {"molecule": ["a", "b"], "smiles": ["C", "CC"], "label": ["-3.18", "1.25"], "unit": "log10 mol/L"}
    ).with_columns(benchmark=pl.lit("b"))
    answers = pl.DataFrame({"model": "m", "molecule": ["a", "b"], "answer": ["-3.18", "2.5"]})
    return molaudit.score(answers, labels, repeats=20, resamples=20, **settings)


def test_every_column_of_scored_tables_is_in_the_page_with_its_type() -> None:
    scores = scored(protocol="blinding", source_units={"b": "mg/L"})
    assert columns_of("cells.csv") == typed(scores.cells)
    assert columns_of("pairs.parquet") == typed(scores.pairs)
    assert columns_of("floors.csv") == typed(scores.floors)
    assert columns_of("joins.csv") == typed(scores.joins)


def test_the_tables_have_the_types_of_their_definitions() -> None:
    scores = scored()
    assert scores.pairs.schema == schema(pair_table.COLUMNS)
    assert scores.floors.schema == schema(floors_table.COLUMNS)
    assert scores.joins.schema == schema(joins.COLUMNS)


def test_every_column_of_a_run_is_in_the_page_with_its_type(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
    attempts = audit.attempts()
    assert attempts.schema == schema(attempt_columns.COLUMNS)
    assert columns_of("attempts.parquet") == typed(attempts)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_option_of_a_command_is_in_the_page(name: str) -> None:
    text = (FOLDER / "commands.md").read_text(encoding="utf-8")
    (part,) = re.findall(rf"^## `molaudit {name}`.*?(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    for option in re.findall(r"--[a-z][a-z-]*", parser_of(name).format_usage()):
        assert f"`{option}`" in part
