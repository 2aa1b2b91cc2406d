"""Every fault of a provider, over real sockets: each call answered or accounted for, each attempt a row."""

import shlex
from pathlib import Path

import pytest
from running_audits import Audit, server, stats

from molaudit.engine.cli import main

MENDED = {
    "of all kinds": {
        "faults": "500=0.04,503=0.02,reset=0.04,reset-body=0.04,429=0.02",
        "hints": "retry-after-ms",
    },
    "throttled with a hint": {"faults": "429=0.05", "hints": "retry-after-ms"},
    "server errors": {"faults": "500=0.1,502=0.05,503=0.05"},
    "resets": {"faults": "reset=0.1,reset-body=0.1"},
    "bodies that are no answer": {"faults": "half-json=0.1,html=0.05,error200=0.1"},
    "odd but whole": {"faults": "wrong-model=0.2,nul=0.2"},
}


SLOW = ("throttled with a hint", "resets", "server errors")
NAMES = [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in MENDED]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_through_faults_is_complete_and_each_attempt_is_a_row(name: str, tmp_path: Path) -> None:
    with server(**MENDED[name]) as url:
        audit = Audit(tmp_path, url, models=("reciter", "skilled"), molecules=30)
        assert audit.make() == 0
        told = stats(url)
        assert told["faults"] > 0
        assert told["repeated_calls"] == 0
        assert told["distinct_calls"] == 60
        assert audit.attempts().height == told["requests"]
        assert audit.facts()["run"]["calls_made"] == told["requests"]
        assert (audit.attempts()["outcome"] == "answered").sum() == 60
        assert audit.make() == 0
        assert stats(url)["requests"] == told["requests"]


@pytest.mark.slow
def test_an_answer_before_a_reset_is_kept_and_not_paid_twice(tmp_path: Path) -> None:
    with server(faults="reset-after=0.3") as url:
        audit = Audit(tmp_path, url, molecules=40)
        assert audit.make() == 0
        told = stats(url)
        assert told["faults"] > 0
        assert (told["answered"], told["repeated_calls"]) == (40, 0)
        # A call on a connection that the server has just closed is an attempt that it never saw.
        assert audit.attempts().height >= told["requests"]


@pytest.mark.slow
def test_a_hanging_call_is_cut_at_its_time_and_made_again(tmp_path: Path) -> None:
    with server(faults="hang=0.2") as url:
        audit = Audit(tmp_path, url, molecules=30, in_flight=30, endpoint="timeouts = { default = 0.8 }")
        assert audit.make() == 0
        told = stats(url)
        assert told["faults"] > 0
        assert audit.attempts().height == told["requests"]
        assert told["repeated_calls"] == 0
        cut = audit.attempts().filter(audit.attempts()["outcome"] == "timed_out")
        assert cut.height == told["faults"]
        assert cut["latency_s"].max() < 5  # type: ignore[operator]


@pytest.mark.slow
def test_empty_replies_are_repeated_once_and_then_final(tmp_path: Path) -> None:
    with server(faults="empty=1") as url:
        audit = Audit(tmp_path, url, molecules=8)
        assert audit.make() in (0, 3)
        assert stats(url)["requests"] == 16
        assert audit.make() in (0, 3)
        assert stats(url)["requests"] == 16


def test_replies_that_repeating_cannot_mend_are_asked_once_and_counted(tmp_path: Path) -> None:
    with server(faults="truncated=0.3,refusal=0.3,filtered=0.3") as url:
        audit = Audit(tmp_path, url, molecules=40)
        assert audit.make() == 0
        told = stats(url)
        assert told["requests"] == 40
        found = dict(audit.attempts()["outcome"].value_counts().iter_rows())
        assert {"truncated", "refused", "filtered"} < set(found)
        assert sum(found.values()) == 40
        cells = audit.cells().decode().splitlines()
        row = dict(zip(cells[0].split(","), cells[1].split(","), strict=True))
        assert row["left_out_truncated"] == str(found["truncated"])
        assert row["left_out_filtered"] == str(found["filtered"])
        assert row["left_out_refusal"] == str(found["refused"])


def test_a_withdrawn_key_costs_three_calls_and_names_the_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLAUDIT_TEST_KEY", "sk-test-SECRET123")
    with server(faults="401=1") as url:
        audit = Audit(
            tmp_path, url, molecules=50, efforts=("minimum", "standard"), in_flight=50,
            endpoint='api_key_env = "MOLAUDIT_TEST_KEY"',
        )  # fmt: skip
        assert audit.make() == 3
        assert stats(url)["requests"] <= 3
    shown = capsys.readouterr()
    assert "MOLAUDIT_TEST_KEY" in shown.out
    assert "SECRET123" not in shown.out + shown.err
    assert set(audit.attempts()["http_status"]) == {401}
    assert audit.facts()["run"]["ended"] == "complete"


def test_an_empty_account_parks_its_own_calls_while_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(faults="quota=1") as empty, server() as full:
        audit = Audit(tmp_path, full, molecules=20)
        audit.path.write_text(
            audit.written
            + f'\n[[endpoint]]\nname = "other"\nbase_url = "{empty}"\nidentity = "empty"\nin_flight = 20\n'
            + '\n[[model]]\nid = "skilled"\nendpoint = "other"\n'
        )
        assert audit.make() == 3
        assert stats(empty)["requests"] <= 2
        assert stats(full)["answered"] == 20
        shown = capsys.readouterr().out
        assert "parked: other" in shown
        command = next(line for line in shown.splitlines() if "to go on, " in line).split("to go on, ")[1]
        audit.path.write_text(audit.path.read_text().replace(empty, full))
        assert main(shlex.split(command)[1:]) == 0
        assert stats(full)["answered"] == 40
        assert stats(full)["repeated_calls"] == 0


@pytest.mark.slow
def test_a_server_that_only_fails_is_left_after_the_capped_attempts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(faults="500=1") as url:
        audit = Audit(tmp_path, url, molecules=4, in_flight=4)
        assert audit.make() == 3
        told = stats(url)["requests"]
        assert told <= 4 * 6
        assert audit.attempts().height == told
        assert "nothing can be scored" in capsys.readouterr().out
        assert main(["status", str(audit.path), "--cache", str(audit.cache)]) == 0
        assert "0 of 4 calls are done" in capsys.readouterr().out


@pytest.mark.slow
def test_throttling_without_any_hint_loses_nothing(tmp_path: Path) -> None:
    with server(faults="429=0.1", hints="none", latency="0.05") as url:
        audit = Audit(tmp_path, url, molecules=150, in_flight=50)
        assert audit.make() == 0
        told = stats(url)
        assert told["distinct_calls"] == 150
        assert told["repeated_calls"] == 0
        assert audit.attempts().height == told["requests"]
