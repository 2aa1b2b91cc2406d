"""While a run lives, what it will ask again is not called failed or empty; when it has ended, it is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from running_audits import Audit
from stored_attempts import attempt

from molaudit.engine.audit.inputs import load
from molaudit.engine.audit.table import plan_table
from molaudit.engine.audit.waiting import waiting_keys
from molaudit.engine.cli import main
from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import StoredAttempt

ANSWER = b'{"choices": [{"message": {"content": "%s"}, "finish_reason": "stop"}]}'


def rows(*outcomes: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        [("k", session, outcome) for session, outcome in outcomes],
        schema=["key", "session", "outcome"],
        orient="row",
    )


@pytest.mark.parametrize(
    ("attempts", "waits"),
    [
        ([("now", "failed")], True),
        ([("now", "empty")], True),
        ([("now", "throttled")] * 20, True),
        ([("before", "failed")] * 6 + [("now", "timed_out")], True),
        ([("now", "failed")] * 6, False),
        ([("now", "rejected")], False),
        ([("now", "quota")], False),
        ([("before", "failed")], False),
        ([("now", "failed"), ("now", "answered")], False),
    ],
)
def test_a_call_waits_if_a_living_run_will_ask_it_again(attempts: list[tuple[str, str]], waits: bool) -> None:
    assert waiting_keys(rows(*attempts), ["now"]) == (["k"] if waits else [])


def test_reports_beside_a_run_call_nothing_failed_that_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    audit = Audit(tmp_path, "http://127.0.0.1:9/v1", molecules=4)
    keys = plan_table(load(audit.path).plan)["key"].to_list()

    def stored(number: int, outcome: str, body: bytes = b"") -> StoredAttempt:
        given = {"identity": "simulated", "model": "reciter", "effort": "minimum", "outcome": outcome}
        return attempt(keys[number], body=body, **given)

    options = ["--cache", str(audit.cache)]
    with Cache(audit.cache, notify=print).journal() as journal:
        journal.append(stored(0, "answered", ANSWER % b"178"))
        journal.append(stored(1, "failed"))
        journal.append(stored(2, "empty"))
        assert main(["status", str(audit.path), *options]) == 0
        assert "1 answered, 1 not asked, 2 waiting" in " ".join(capsys.readouterr().out.split())
        assert main(["report", str(audit.path), *options, "--out", str(tmp_path / "beside")]) == 0
    beside = pl.read_csv(tmp_path / "beside" / "cells.csv")
    lost = ["left_out_not_asked", "left_out_failed", "left_out_empty"]
    assert beside.select(lost).rows() == [(3, 0, 0)]
    assert main(["report", str(audit.path), *options, "--out", str(tmp_path / "after")]) == 0
    after = pl.read_csv(tmp_path / "after" / "cells.csv")
    assert after.select(lost).rows() == [(1, 1, 1)]
