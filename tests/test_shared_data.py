"""A test that needs the published data is skipped only where nobody could expect them."""

from __future__ import annotations

from pathlib import Path

import pytest
import shared_data


@pytest.mark.parametrize("ci", ["true", "1", "TRUE"])
def test_under_ci_a_named_folder_that_is_wrong_is_no_reason_to_skip(ci: str, tmp_path: Path) -> None:
    environment = {"CI": ci, "MOLAUDIT_SHARED": str(tmp_path / "wrong")}
    assert not shared_data.is_missing(tmp_path / "wrong/data", environment)


def test_under_ci_a_folder_that_is_there_and_lacks_the_file_is_no_reason_to_skip(tmp_path: Path) -> None:
    environment = {"CI": "true", "MOLAUDIT_SHARED": str(tmp_path)}
    assert not shared_data.is_missing(tmp_path / "data/file.csv", environment)


@pytest.mark.parametrize("ci", [{}, {"CI": ""}, {"CI": "false"}])
def test_elsewhere_a_missing_folder_skips(ci: dict[str, str], tmp_path: Path) -> None:
    for shared in (tmp_path, tmp_path / "wrong"):
        environment = {**ci, "MOLAUDIT_SHARED": str(shared)}
        assert shared_data.is_missing(shared / "data/file.csv", environment)


def test_under_ci_without_data_tests_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_data, "folder_of", lambda _: tmp_path / "shared")
    assert shared_data.is_missing(tmp_path / "shared/data", {"CI": "true"})


def test_what_is_there_is_never_skipped(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("x")
    for ci in ({}, {"CI": "true"}):
        assert not shared_data.is_missing(tmp_path, ci)
        assert not shared_data.is_missing(tmp_path / "file.csv", ci)


def test_an_empty_name_stands_for_the_folder_beside_the_repository() -> None:
    beside = Path(__file__).resolve().parents[2] / "shared"
    assert shared_data.folder_of({}) == shared_data.folder_of({"MOLAUDIT_SHARED": ""}) == beside


def test_the_folder_is_resolved_in_one_file() -> None:
    tests = Path(__file__).parent
    named = [path for path in tests.rglob("*.py") if "MOLAUDIT_SHARED" in path.read_text(encoding="utf-8")]
    assert sorted(path.name for path in named) == ["shared_data.py", "test_shared_data.py"]
