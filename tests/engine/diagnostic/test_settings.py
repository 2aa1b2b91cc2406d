"""``[[task]]`` sections: what they may say, and what a fault is told as."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from molaudit.engine.audit import inputs
from molaudit.engine.diagnostic.registry import tasks
from molaudit.engine.diagnostic.settings import load, parse
from molaudit.engine.errors import SettingsError
from molaudit.engine.settings import loading as settings_file

GOOD = """
[[task]]
name = "bace"
kind = "bace"
file = "bace.csv"
"""
AUDIT = """
[[endpoint]]
name = "here"
base_url = "http://127.0.0.1:8000/v1"
[[model]]
id = "m"
endpoint = "here"
[[benchmark]]
use = "crc-boiling-points"
"""


def read(text: str, folder: Path = Path("/folder")) -> object:
    return parse(tomllib.loads(text), folder / "audit.toml")


def test_task_alone_is_enough_and_its_file_is_beside_the_audit(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(GOOD)
    found = load(tmp_path / "audit.toml")
    assert found.seed == 1
    assert [one.tables() for one in found.tasks] == [(tmp_path / "bace.csv",)]
    order = found.tasks[0].order(found.seed)
    assert order.thresholds == {"tanimoto": 0.80, "heavy_atoms": 3, "fragment": 4}
    assert (order.draw, order.balance, order.seed, order.pairs_max) == ("published", "none", 1, None)


def test_seed_of_the_run_stands_in_for_a_missing_one() -> None:
    text = "[run]\nseed = 5\nname = 'x'\n" + GOOD + "[[task]]\nkind = 'hiv'\nfile = 'h.csv'\nseed = 42\n"
    found = parse(tomllib.loads(text), Path("a.toml"))
    assert [one.order(found.seed).seed for one in found.tasks] == [5, 42]


def test_named_thresholds_take_the_place_of_the_defaults() -> None:
    found = parse(tomllib.loads(GOOD + "tanimoto = 0.7\nfragment = 6\n"), Path("a.toml"))
    assert found.tasks[0].order(1).thresholds == {"tanimoto": 0.7, "heavy_atoms": 3, "fragment": 6}


def test_several_files_and_every_other_key() -> None:
    text = """
[[task]]
kind = "structural-odor"
files = ["a.csv", "/b.csv"]
draw = 180
balance = "none"
pairs_max = 5000
conditions = ["C0", "C1"]
efforts = ["minimum"]
models = ["m"]
repeat_c2 = false
evidence = "e.csv"
"""
    (one,) = parse(tomllib.loads(text), Path("/folder/a.toml")).tasks
    assert one.name == "structural-odor"
    assert one.tables() == (Path("/folder/a.csv"), Path("/b.csv"))
    assert one.evidence == Path("/folder/e.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs at least one \\[\\[task\\]\\]"),
        (
            GOOD.replace('"bace"\nfile', '"bacon"\nfile'),
            "kind = 'bacon'; allowed: bace, chirality-odor, hiv, pairs",
        ),
        (GOOD + "colour = 1\n", "unknown key 'colour'; allowed: balance, conditions"),
        (GOOD + "heavy_atom = 1\n", "did you mean 'heavy_atoms'"),
        (GOOD + 'files = ["x.csv"]\n', "exactly one of file"),
        (GOOD.replace('file = "bace.csv"', ""), "exactly one of file"),
        (GOOD + "tanimoto = 1.5\n", 'task "bace": tanimoto = 1.5: must be <= 1'),
        (GOOD + "tanimoto_max = 0.9\n", "tanimoto_max is no setting of the kind 'bace'; allowed: tanimoto"),
        (GOOD + "draw = 0\n", "draw"),
        (GOOD + 'draw = "some"\n', "draw"),
        (GOOD + 'balance = "labels"\n', "balance = 'labels': allowed: 'none' or 'label'"),
        (GOOD + "seed = -1\n", "seed = -1: must be >= 0"),
        (GOOD + GOOD, "two tasks have the name 'bace'"),
        (GOOD + GOOD.replace('name = "bace"', 'name = "BACE"'), "two tasks have the name"),
        (GOOD.replace('name = "bace"', 'name = "a/b"'), "without '/'"),
        ('[[task]]\nkind = "yield"\nfile = "y.csv"\nbalance = "label"\n', "needs a binary label"),
        ('[[task]]\nkind = "pairs"\nfile = "y.csv"\n', "must say its labels"),
        (GOOD + 'labels = "set"\n', "labels is no setting of the kind 'bace'"),
        (
            GOOD + "[other]\nx = 1\n",
            "unknown key 'other'; allowed: arm, benchmark, endpoint, model, run, score, task",
        ),
        (GOOD + 'models = ["sk-abcdefghijklmnop"]\n', "secret key"),
    ],
)
def test_fault_is_told_with_file_key_and_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        read(text)
    assert str(raised.value).startswith("/folder/audit.toml: ")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[[task]\n"])
def test_file_that_is_no_toml_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"audit\.toml"):
        load(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path / "missing.toml")


def test_audit_with_tasks_is_an_audit(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(AUDIT + GOOD)
    assert [one.called() for one in settings_file.load(path).tasks] == ["bace"]
    assert [one.tables() for one in load(path).tasks] == [(tmp_path / "bace.csv",)]
    path.write_text(AUDIT + GOOD + "colour = 1\n")
    with pytest.raises(SettingsError, match="unknown key 'colour'"):
        load(path)
    path.write_text(AUDIT)
    assert settings_file.load(path).tasks == ()


def test_a_run_says_that_it_cannot_ask_about_pairs_yet(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(AUDIT + GOOD)
    with pytest.raises(
        SettingsError, match="task 'bace': kind: found 'bace'; molaudit pairs builds its pairs"
    ):
        inputs.load(path)


def test_registry_lists_every_module_with_a_kind() -> None:
    folder = Path(__file__).parents[3] / "engine" / "diagnostic"
    with_kind = {path.stem for path in folder.glob("*.py") if "\nKIND = " in path.read_text()}
    names = {task.__name__.rpartition(".")[2] for task in tasks().values()}  # type: ignore[attr-defined]
    assert names == with_kind
    assert {"bace", "hiv", "retrosynthesis", "yield", "structural-odor", "chirality-odor", "pairs"} == set(
        tasks()
    )
