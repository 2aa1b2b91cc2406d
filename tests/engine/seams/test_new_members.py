"""A benchmark, a condition, a task, a statistic: each is one file, used end to end without an edit anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import polars as pl
import pytest
from running_audits import Audit
from served_here import served_here

from molaudit.engine.cli import main

AddMember = Callable[[str, str, str], None]


@pytest.fixture
def add_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddMember]:
    """Write one file into a folder that a registry lists beside its own, for the length of a test."""
    modules: list[str] = []
    # Another process knows the folders as they are installed: what a test has added is scored in this one.
    monkeypatch.setattr("molaudit.engine.audit.command.WORTH_UP_TO", 0)

    def add(package: str, name: str, code: str) -> None:
        folder = tmp_path / package
        folder.mkdir()
        (folder / f"{name}.py").write_text(dedent(code))
        module = import_module(f"molaudit.engine.{package}")
        monkeypatch.setattr(module, "__path__", [*module.__path__, str(folder)])
        modules.append(f"{module.__name__}.{name}")

    yield add
    for name in modules:
        sys.modules.pop(name, None)


def test_a_condition_is_one_file(add_member: AddMember, tmp_path: Path) -> None:
    add_member(
        "conditions",
        "told",
        """
        from pydantic import BaseModel

        from molaudit.engine.conditions import Condition, Prompts
        from molaudit.engine.conditions.zero_shot import zero_shot
        from molaudit.engine.models.records import question

        class Options(BaseModel):
            word: str

        def prepare(subject):
            def messages(item):
                system, user = zero_shot(item.property, item.unit, item.molecule, item.smiles)
                return question(system, f"{subject.options.word}!\\n{user}")

            def check(item, messages):
                if item.molecule in messages[-1].text:
                    raise ValueError("the name stands in the question")

            return Prompts(messages, (check,))

        CONDITION = Condition("told", "a word before the question", ("told/1",), prepare, Options)
        """,
    )
    arms = (
        '[[arm]]\nname = "plain"\n[[arm]]\nname = "loud"\ncondition = "told"\nword = "Now"\nmolecules = 12\n'
    )
    with served_here() as url:
        audit = Audit(tmp_path, url, more=arms)
        assert audit.make() == 0
    cells = pl.read_csv(audit.out / "cells.csv").select("arm", "condition", "n_asked")
    assert cells.rows() == [("plain", "zero_shot", 20), ("loud", "told", 12)]
    assert audit.attempts().height == 32


def test_the_checks_of_a_condition_stop_a_question_before_it_is_sent(
    add_member: AddMember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_member(
        "conditions",
        "leaky",
        """
        from molaudit.engine.conditions import Condition, Prompts
        from molaudit.engine.models.records import question

        def check(item, messages):
            raise ValueError("the answer stands in the question")

        def prepare(subject):
            return Prompts(lambda item: question("", "?"), (check,))

        CONDITION = Condition("leaky", "a question that gives its answer away", ("leaky/1",), prepare)
        """,
    )
    audit = Audit(tmp_path, "http://127.0.0.1:9/v1", more='[[arm]]\nname = "a"\ncondition = "leaky"\n')
    assert audit.make() == 2
    assert "cannot be asked: the answer stands in the question" in capsys.readouterr().err


def test_a_benchmark_is_one_file(add_member: AddMember, tmp_path: Path) -> None:
    add_member(
        "benchmarks",
        "made_up",
        """
        import polars as pl

        from molaudit.engine.benchmarks import Benchmark
        from molaudit.engine.benchmarks._benchmark import Labels

        FRAME = pl.DataFrame({"molecule": ["a", "b"], "smiles": ["C", "CC"], "label": ["1.23", "4.56"]})
        BENCHMARK = Benchmark(
            "made-up", "length", "mm", "measured", "nowhere", "none", lambda: Labels(FRAME), lambda: "1"
        )
        """,
    )
    with served_here() as url:
        audit = Audit(tmp_path, url, more='[[benchmark]]\nuse = "made-up"\n')
        assert audit.make() == 0
    cells = pl.read_csv(audit.out / "cells.csv").select("benchmark", "n_asked")
    assert cells.rows() == [("crc-boiling-points", 20), ("made-up", 2)]


TASK = """
    from dataclasses import dataclass

    import polars as pl
    from pydantic import BaseModel, ConfigDict

    from molaudit.engine.models.records import question
    from molaudit.engine.plan.plans import Block
    from molaudit.engine.tasks import Study, Task

    class Options(BaseModel):
        model_config = ConfigDict(extra="forbid")
        numbers: list[int]

    @dataclass
    class Parity:
        name: str
        numbers: list[int]

        def blocks(self, asked, samples):
            def messages(index):
                return question("", f"Is {self.numbers[index]} even? yes or no")

            return (Block(self.name, self.name, "asked", [str(n) for n in self.numbers], messages, asked,
                          samples, task=self.name),)

        def read(self, replies):
            said = pl.col("answer").str.to_lowercase().str.contains("yes")
            return replies.with_columns(even=pl.when(pl.col("outcome") == "answered").then(said))

        def study(self, answers):
            right = pl.col("even") == (pl.col("molecule").cast(pl.Int64) % 2 == 0)
            table = answers.group_by("model", "effort").agg(right=right.mean(), n=pl.len())
            return Study({"parity": table.with_columns(task=pl.lit(self.name))}, ("counted",))

        def digest(self):
            return str(self.numbers)

    def simulate(messages, simulation):
        if not messages[-1].text.startswith("Is ") or not simulation.model.startswith("always"):
            return None
        return "Yes, it is."

    TASK = Task("parity", "even or odd", lambda o: Parity(o.name, o.options.numbers), simulate, Options)
"""


def test_a_task_is_one_file(
    add_member: AddMember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_member("tasks", "parity", TASK)
    section = (
        '[[task]]\nkind = "parity"\nname = "small"\nnumbers = [1, 2, 3, 4, 5]\nmodels = ["always-yes"]\n'
    )
    with served_here() as url:
        audit = Audit(
            tmp_path, url, models=("always-yes", "reciter"), model="efforts.minimum = {}", more=section
        )
        audit.path.write_text(
            audit.written.replace('use = "crc-boiling-points"\n', 'use = "crc-boiling-points"\n').replace(
                "[[task]]", '[[arm]]\nname = "zero_shot"\nmodels = ["reciter"]\n[[task]]'
            )
        )
        assert audit.make() == 0
        assert audit.make() == 0
    assert "nothing has changed" in capsys.readouterr().out
    found = pl.read_csv(audit.out / "parity.csv").row(0, named=True)
    assert found == {"model": "always-yes", "effort": "minimum", "right": 0.4, "n": 5, "task": "small"}
    assert "task 'small': counted" in audit.facts()["notes"]
    assert pl.read_csv(audit.out / "cells.csv")["model"].to_list() == ["reciter"]


def test_a_run_may_have_tasks_alone(add_member: AddMember, tmp_path: Path) -> None:
    add_member("tasks", "parity", TASK)
    with served_here() as url:
        audit = Audit(tmp_path, url, models=("always-yes",), model="efforts.minimum = {}")
        text = audit.written.partition("[[benchmark]]")[0]
        audit.path.write_text(text + '[[task]]\nkind = "parity"\nnumbers = [2]\n')
        assert audit.make() == 0
    assert pl.read_csv(audit.out / "parity.csv")["right"].to_list() == [1.0]
    assert not (audit.out / "cells.csv").exists()


def test_a_wrong_key_of_a_task_is_named(
    add_member: AddMember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_member("tasks", "parity", TASK)
    wrong = '[[task]]\nkind = "parity"\nnumbers = [2]\nnumber = 3\n'
    assert Audit(tmp_path, "http://127.0.0.1:9/v1", more=wrong).make() == 2
    message = capsys.readouterr().err
    assert "task 'parity': unknown key 'number'" in message
    assert "did you mean 'numbers'?" in message


def scored(folder: Path) -> int:
    """Score the answers of two models, of which one likes fives."""
    answers = ["1.25", "2.5", "3.15", "4.75", "1.24", "2.5", "3.14", "4.76"]
    table = pl.DataFrame(
        {"model": ["fond"] * 4 + ["even"] * 4, "molecule": list("abcd") * 2, "answer": answers}
    )
    table.write_csv(folder / "answers.csv")
    labels = pl.DataFrame({"molecule": list("abcd"), "label": ["1.25", "2.53", "3.14", "4.76"]})
    labels.write_csv(folder / "labels.csv")
    given = [
        str(folder / "answers.csv"),
        "--labels",
        str(folder / "labels.csv"),
        "--out",
        str(folder / "out"),
    ]
    return main(["score", *given, "--repeats", "20", "--resamples", "20"])


def test_a_statistic_of_answers_is_one_file(add_member: AddMember, tmp_path: Path) -> None:
    assert scored(tmp_path) == 0
    before = (tmp_path / "out/cells.csv").read_text().splitlines()
    add_member(
        "statistics",
        "fives",
        """
        import polars as pl

        from molaudit.engine.statistics import Column, Statistic

        def compute(given):
            read = given.pairs.frame.filter("parsed")
            ends = pl.col("digits").str.ends_with("5").sum()
            found = given.cells.select("n_pred").with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))
            found = found.join(read.group_by("cell").agg(n=ends), on="cell", how="left", maintain_order="left")
            return found.select(share_fives=pl.col("n") / pl.col("n_pred"))

        STATISTIC = Statistic(
            "fives",
            "answers that end in 5",
            "pairs",
            (Column("share_fives", pl.Float64, "share of the answers that end in 5"),),
            compute,
            needs=("n_pred",),
        )
        """,
    )
    assert scored(tmp_path) == 0
    after = (tmp_path / "out/cells.csv").read_text().splitlines()
    assert [line.rsplit(",", 1)[0] for line in after] == before
    assert [line.rsplit(",", 1)[1] for line in after] == ["share_fives", "1.0", "0.25"]


def test_a_statistic_of_cells_may_need_the_columns_of_others(add_member: AddMember, tmp_path: Path) -> None:
    add_member(
        "statistics",
        "a_gap",
        """
        import polars as pl

        from molaudit.engine.statistics import Column, Statistic

        STATISTIC = Statistic(
            "a_gap",
            "usable answers that are not exact",
            "cells",
            (Column("gap", pl.Int64, "usable answers that are not exact"),),
            lambda given: given.cells.select(gap=pl.col("n_usable") - pl.col("exact")),
            needs=("n_usable", "exact"),
            order=-1,
        )
        """,
    )
    assert scored(tmp_path) == 0
    cells = pl.read_csv(tmp_path / "out/cells.csv")
    assert cells["gap"].to_list() == [3, 2]
    assert cells.columns.index("gap") == cells.columns.index("n_asked") - 1


def test_a_statistic_of_whole_runs_is_a_table_of_its_own(add_member: AddMember, tmp_path: Path) -> None:
    add_member(
        "statistics",
        "agreements",
        """
        import polars as pl

        from molaudit.engine.statistics import Column, Statistic

        def compute(given):
            read = given.pairs.frame.select("molecule", "model", "value")
            both = read.join(read, on=["molecule", "value"])
            given.notes.append(f"{given.cells.height} cells were compared")
            return both.group_by("model", "model_right").agg(same=pl.len().cast(pl.Int64)).sort(pl.all())

        STATISTIC = Statistic(
            "agreements",
            "how often two models give one answer",
            "runs",
            (
                Column("model", pl.String, "one model"),
                Column("model_right", pl.String, "the other"),
                Column("same", pl.Int64, "molecules to which both give one answer"),
            ),
            compute,
        )
        """,
    )
    assert scored(tmp_path) == 0
    found = pl.read_csv(tmp_path / "out/agreements.csv").rows()
    assert found == [("even", "even", 4), ("even", "fond", 1), ("fond", "even", 1), ("fond", "fond", 4)]
    assert "2 cells were compared" in (tmp_path / "out/run.json").read_text()


COUNTED = """
    import polars as pl

    from molaudit.engine.statistics import Column, Statistic

    STATISTIC = Statistic(
        "counted",
        "what a run holds",
        "runs",
        (Column("cells", pl.Int64, "cells"), Column("answers", pl.Int64, "answers")),
        lambda given: pl.DataFrame({"cells": [given.cells.height], "answers": [given.pairs.frame.height]}),
    )
"""


def test_a_run_has_the_tables_of_its_statistics(add_member: AddMember, tmp_path: Path) -> None:
    add_member("statistics", "counted", COUNTED)
    with served_here() as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
    assert pl.read_csv(audit.out / "counted.csv").rows() == [(1, 20)]


def test_a_table_of_a_task_and_one_of_a_statistic_cannot_share_a_name(
    add_member: AddMember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_member("statistics", "counted", COUNTED)
    add_member("tasks", "parity", TASK.replace('{"parity": table', '{"counted": table'))
    section = '[[task]]\nkind = "parity"\nnumbers = [1]\n'
    with served_here() as url:
        assert Audit(tmp_path, url, more=section).make() == 2
    assert "counted.csv: is a table of a task and of a statistic" in capsys.readouterr().err


def test_a_statistic_that_gives_another_type_than_it_says_stops_the_scoring(
    add_member: AddMember, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_member(
        "statistics",
        "whole",
        """
        import polars as pl

        from molaudit.engine.statistics import Column, Statistic

        STATISTIC = Statistic(
            "whole",
            "a share that is stated as a count",
            "cells",
            (Column("half", pl.Int64, "half"),),
            lambda given: given.cells.select(half=pl.lit(0.5)),
        )
        """,
    )
    assert scored(tmp_path) == 2
    message = capsys.readouterr().err
    assert "statistic 'whole': column 'half' has the type Float64; it states Int64" in message
    assert not (tmp_path / "out").exists()
