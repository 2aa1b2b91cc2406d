"""A benchmark, a condition, a task: each is one file, used end to end without an edit anywhere else."""

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

AddMember = Callable[[str, str, str], None]


@pytest.fixture
def add_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddMember]:
    """Write one file into a folder that a registry lists beside its own, for the length of a test."""
    modules: list[str] = []

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
    from molaudit.engine.plan import Block
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
