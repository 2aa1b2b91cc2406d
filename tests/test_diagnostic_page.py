"""docs/diagnostic.md says what there is: its example is an audit.toml, its tables name every kind and every step."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from molaudit.engine.diagnostic.descriptions import describe
from molaudit.engine.diagnostic.registry import tasks
from molaudit.engine.diagnostic.settings import THRESHOLDS, parse
from molaudit.engine.molecules.edits import SINGLE_SITE, Edit

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "diagnostic.md").read_text(encoding="utf-8")


def test_example_is_a_file_of_tasks() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    found = parse(tomllib.loads(example), Path("audit.toml"))
    assert [one.kind for one in found.tasks] == ["bace", "structural-odor", "pairs"]
    # What is commented out is allowed too.
    more = example.replace("# pairs_max", "pairs_max").replace("# tanimoto", "tanimoto")
    assert parse(tomllib.loads(more), Path("audit.toml")).tasks[0].pairs_max == 5000


def test_every_kind_column_and_threshold_is_named() -> None:
    for kind, task in tasks().items():
        assert f"`{kind}`" in PAGE
        for column in (*task.COLUMNS.required, *task.COLUMNS.optional):
            assert f"`{column}`" in PAGE or f"`{column.removesuffix('_smiles')}`" in PAGE
    for name in THRESHOLDS:
        assert f"`{name}`" in PAGE


def test_description_shown_is_the_one_that_is_written() -> None:
    shown = " ".join(line.removeprefix("> ") for line in PAGE.splitlines() if line.startswith("> ")).replace(
        "`", ""
    )
    assert shown == describe(Edit(SINGLE_SITE, "[CH3:2][O:1]c1ccccc1", "*C", "*[H]"), "bace/1")
