"""Scoring is made ready while a slow server is waited for, and nowhere else; what goes wrong there is no matter."""

from pathlib import Path

import pytest
from running_audits import Audit, server

from molaudit.engine.audit import rehearsal
from molaudit.engine.audit.inputs import load
from molaudit.engine.audit.results import score_answers
from molaudit.engine.studies.settings import ScoreSettings
from molaudit.kernels import compile


@pytest.mark.parametrize(("latency", "times"), [("0", 0), ("0.3", 1)])
def test_only_a_slow_server_is_a_reason_to_rehearse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, latency: str, times: int
) -> None:
    rehearsed: list[Path] = []
    monkeypatch.setattr(rehearsal, "rehearse", lambda audit: rehearsed.append(audit.path))
    with server(latency=latency) as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
    assert rehearsed == [audit.path] * times


def test_a_rehearsal_scores_answers_as_the_end_of_a_run_does(tmp_path: Path) -> None:
    audit = load(Audit(tmp_path, "http://127.0.0.1:9/v1").path)
    scored = score_answers(rehearsal.recited(audit.labels), audit.labels, ScoreSettings(repeats=10))
    assert scored.cells["model"].to_list() == ["rehearsal"]
    assert scored.cells["n_pred"].to_list() == [audit.labels.height]


def test_a_rehearsal_that_fails_is_silent_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def fail(labels: object) -> None:
        asked.append(labels)
        raise MemoryError("out of room")

    monkeypatch.setattr(compile, "is_compiled", lambda: True)
    monkeypatch.setattr(rehearsal, "recited", fail)
    with server(latency="0.3") as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
    assert len(asked) == 1
    assert "out of room" not in "".join(capfd.readouterr())
    assert audit.cells()
