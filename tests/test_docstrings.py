"""Examples in docstrings run. Modules are imported by installed name: doctest by path would load them twice."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def modules_with_examples() -> list[str]:
    """Find every module of the three rooms with an example, so that a new one is run without an edit here."""
    names = ["molaudit"]
    for room in ("engine", "kernels", "storage"):
        for path in sorted((ROOT / room).rglob("*.py")):
            if ">>> " in path.read_text() and "molaudit" not in path.relative_to(ROOT).parts[1:]:
                names.append(".".join(("molaudit", *path.relative_to(ROOT).with_suffix("").parts)))
    return names


def test_there_are_examples() -> None:
    assert {"molaudit.engine.api", "molaudit.engine.answers.labels"} <= set(modules_with_examples())


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str) -> None:
    module = import_module(name)
    # A compiled kernel is no function to doctest; the functions that call it hold the examples.
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0
    assert found.attempted > 0
