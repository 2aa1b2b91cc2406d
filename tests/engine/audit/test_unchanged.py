"""Results stand while nothing has changed, and only then."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from running_audits import Audit, server

from molaudit.engine.audit import results, unchanged
from molaudit.engine.settings import loading as settings_file

Capture = pytest.CaptureFixture[str]


def made(audit: Audit, capture: Capture) -> str:
    """Run in this process; what was printed."""
    assert audit.make() == 0
    return capture.readouterr().out


def test_results_stand_until_anything_changes(tmp_path: Path, capsys: Capture) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter",), molecules=40)
        made(audit, capsys)
        cells = (audit.out / "cells.csv").read_bytes()
        # A run asks about molecules of its own labels: each meets by its id.
        assert (audit.out / "joins.csv").read_text().splitlines()[1].endswith(",the run,40,0,40,0,0,0,40")
        again = made(audit, capsys)
        assert "nothing has changed" in again
        assert "0 calls made" in again
        assert (audit.out / "cells.csv").read_bytes() == cells
        assert json.loads((audit.out / "run.json").read_text())["run"]["from_cache"] == 40
        (audit.out / "cells.csv").write_text("touched")
        mended = made(audit, capsys)
        assert "nothing has changed" not in mended
        assert (audit.out / "cells.csv").read_bytes() == cells


def test_settings_of_the_transport_let_results_stand(tmp_path: Path, capsys: Capture) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter",), molecules=40)
        made(audit, capsys)
        audit.path.write_text(
            audit.written.replace("in_flight = ", "requests_per_minute = 60\nin_flight = 1")
        )
        assert "nothing has changed" in made(audit, capsys)


@pytest.mark.parametrize("touched", ["labels", "cache"])
def test_touched_inputs_are_looked_at_again(touched: str, tmp_path: Path, capsys: Capture) -> None:
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter",), molecules=40)
        made(audit, capsys)
        if touched == "cache":
            audit.cache.write_bytes(audit.cache.read_bytes())
        else:
            audit.path.write_text(audit.written + '\nkind = "computed"\n')
        again = made(audit, capsys)
        assert "nothing has changed" not in again
        assert "0 calls made" in again
        assert ("computable" in again) == (touched == "labels")


@pytest.mark.parametrize("changed", ["attempts", "labels"])
def test_what_changes_while_results_are_made_unseals_them(
    changed: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = tmp_path / "own.csv"
    labels.write_text(
        "molecule,smiles,label\n" + "".join(f"m{n},{'C' * (n + 1)}O,{31 + n}.5\n" for n in range(9))
    )
    more = '\n[[benchmark]]\nfile = "own.csv"\nproperty = "boiling point"\nunit = "K"\nkind = "measured"\n'
    with server() as url:
        audit = Audit(tmp_path, url, models=("reciter",), molecules=40, more=more)
        other = Audit(tmp_path, url, models=("skilled",), molecules=40, name="other")
        write = results.write_audit

        def write_and_be_overtaken(*given: Any) -> Any:
            scores = write(*given)
            monkeypatch.undo()
            if changed == "attempts":
                assert other.make() == 0
            else:
                labels.write_text(labels.read_text().replace("31.5", "32.5"))
            return scores

        monkeypatch.setattr(results, "write_audit", write_and_be_overtaken)
        made(audit, capsys)
        assert "nothing has changed" not in made(audit, capsys)
        assert "nothing has changed" in made(audit, capsys)


def test_whatever_can_change_a_result_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = tmp_path / "own.csv"
    labels.write_text("molecule,smiles,label\nm,CO,31.5\n")
    more = '\n[[benchmark]]\nfile = "own.csv"\nproperty = "boiling point"\nunit = "K"\nkind = "measured"\n'
    audit = Audit(tmp_path, "http://127.0.0.1:9/v1", models=("reciter",), molecules=40, more=more)
    catalogue = tmp_path / "catalogue"
    catalogue.mkdir()
    table = catalogue / "CRC.tsv"
    table.write_text("1")
    monkeypatch.setattr(unchanged, "_catalogue", lambda: [catalogue])
    seen = [unchanged.basis(settings_file.load(audit.path))]

    def is_another() -> bool:
        seen.append(unchanged.basis(settings_file.load(audit.path)))
        return seen[-1] not in seen[:-1]

    assert not is_another()
    labels.write_text("molecule,smiles,label\nm,CO,32.5\n")
    assert is_another(), "a table of labels"
    table.write_text("22")
    assert is_another(), "a table of the catalogue"
    audit.path.write_text(audit.path.read_text().replace("boiling point", "melting point"))
    assert is_another(), "the words of the question"
    monkeypatch.setattr(unchanged, "version", lambda name: "0" if name == "scipy" else version(name))
    assert is_another(), "a package that computes"


def test_the_table_of_models_and_the_code_of_prompts_are_part_of_the_program() -> None:
    names = {Path(name).name for name, _, _ in unchanged._program()}
    assert {"models.toml", "inputs.py", "labels.py", "pairs.py"} <= names
