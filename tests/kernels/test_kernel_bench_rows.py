"""The benchmark modules of figures and floors: complete rows, ours first."""

from __future__ import annotations

from types import ModuleType

import pytest

from molaudit.bench import kernels_figures, kernels_floors
from molaudit.bench.rows import c_library, median_of


@pytest.mark.slow
@pytest.mark.parametrize("module", [kernels_figures, kernels_floors])
def test_rows_name_ours_first_and_compare_every_peer_with_it(module: ModuleType) -> None:
    rows = module.rows(quick=True)
    assert rows[0]["peer"] == "molaudit"
    assert rows[0]["ratio_to_ours"] is None
    for row in rows:
        assert row["seconds"] > 0
        assert row["per_second"] == pytest.approx(row["n"] / row["seconds"])
    for row in rows[1:]:
        if not row["peer"].startswith("memory"):
            assert row["ratio_to_ours"] == pytest.approx(row["seconds"] / rows[0]["seconds"])
    assert any(row["peer"].startswith("numpy") and row["ratio_to_ours"] > 1 for row in rows)


def test_median_leaves_out_the_first_call() -> None:
    calls: list[int] = []
    assert median_of(lambda: calls.append(1), repeats=3) >= 0
    assert len(calls) == 4


def test_a_missing_compiler_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    library, note = c_library.__wrapped__("floors")
    assert library is None
    assert "no gcc" in note


def test_source_that_does_not_compile_is_a_note() -> None:
    library, note = c_library("no_such_file")
    assert library is None
    assert note.startswith(("gcc could not compile no_such_file.c", "no gcc"))
