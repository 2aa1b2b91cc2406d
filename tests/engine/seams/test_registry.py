"""A folder as a registry: what counts as a member, and how a wrong file is named."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from molaudit.engine.errors import SettingsError
from molaudit.engine.seams.registry import Registry

GOOD = "class M:\n    name = {!r}\n\nTHING = M()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An importable package without members."""
    package = tmp_path / "things_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith("things_of_a_test")]:
        del sys.modules[name]


def registry() -> Registry[object]:
    return Registry("things_of_a_test", "THING", "thing")


def test_members_are_the_files_without_an_underscore(folder: Path) -> None:
    (folder / "b_one.py").write_text(GOOD.format("b-one"))
    (folder / "a_two.py").write_text(GOOD.format("a_two"))
    (folder / "_shared.py").write_text("")
    assert registry().names() == ("a_two", "b-one")


def test_a_member_is_found_by_its_own_name_alone(folder: Path) -> None:
    (folder / "b_one.py").write_text(GOOD.format("b-one"))
    known = registry()
    assert known.find("b-one") is not None
    assert known.find("b_one") is None
    assert "b-one" in known
    assert "../b-one" not in known


def test_an_unknown_name_lists_those_that_there_are(folder: Path) -> None:
    (folder / "one.py").write_text(GOOD.format("one"))
    with pytest.raises(SettingsError, match="unknown thing 'other'; allowed: one"):
        registry().get("other")


def test_a_member_loads_when_it_is_asked_for(folder: Path) -> None:
    (folder / "one.py").write_text(GOOD.format("one"))
    (folder / "broken.py").write_text("raise RuntimeError('loaded')\n")
    assert registry().find("one") is not None
    assert registry().files() == ("broken", "one")


@pytest.mark.parametrize("text", ["", "THING = None\n", GOOD.format("another")])
def test_a_file_that_offers_no_member_of_its_name_is_named(folder: Path, text: str) -> None:
    (folder / "one.py").write_text(text)
    with pytest.raises(SettingsError, match=r"one\.py: is in the folder of things, so it must offer THING"):
        registry().get("one")


def test_a_folder_added_to_the_path_counts(folder: Path, tmp_path: Path) -> None:
    import things_of_a_test  # type: ignore[import-not-found]

    more = tmp_path / "more"
    more.mkdir()
    (more / "late.py").write_text(GOOD.format("late"))
    known = registry()
    assert known.names() == ()
    things_of_a_test.__path__.append(str(more))
    assert known.names() == ("late",)
