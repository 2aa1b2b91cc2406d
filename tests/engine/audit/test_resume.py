"""A rerun pays for nothing that it has, and asks for exactly what is new or changed. Against a real server."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from running_audits import Audit, server, stats

from molaudit.engine.cli import main


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with server() as address:
        yield address


@pytest.fixture
def audit(tmp_path: Path, url: str) -> Audit:
    return Audit(tmp_path, url)


def test_a_plan_of_models_and_benchmarks_is_asked_once_and_never_again(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.csv").write_text(
        "molecule,smiles,label\n" + "".join(f"m{n},{'C' * (n + 1)}O,{300 + 7 * n}.5\n" for n in range(12))
    )
    audit = Audit(
        tmp_path, url, models=("reciter", "skilled", "blind"), efforts=("minimum", "standard"),
        more='\n[[benchmark]]\nfile = "own.csv"\nproperty = "boiling point"\nunit = "K"\nkind = "measured"\n',
    )  # fmt: skip
    before = stats(url)["requests"]
    assert audit.make() == 0
    planned = 3 * 2 * (20 + 12)
    assert stats(url)["requests"] - before == planned
    assert f"{planned} calls made" in capsys.readouterr().out
    cells = audit.cells()
    frame = pl.read_csv(cells)
    assert frame.height == 3 * 2 * 2
    assert audit.make() == 0
    assert stats(url)["requests"] - before == planned
    assert "0 calls made" in capsys.readouterr().out
    assert audit.cells() == cells
    assert audit.facts()["run"]["calls_made"] == 0
    assert audit.facts()["run"]["from_cache"] == planned


def test_the_cells_of_many_workers_are_those_of_one(tmp_path: Path, url: str) -> None:
    one, many = Audit(tmp_path / "1", url, in_flight=1), Audit(tmp_path / "2", url, in_flight=64)
    assert (one.make(), many.make()) == (0, 0)
    assert one.cells() == many.cells()


ON_THE_WIRE = {
    "output limit": {"model": "max_output_tokens = 99"},
    "extra body": {"model": "extra_body = { top_k = 4 }"},
    "temperature": {"model": "temperature = 0.5"},
    "effort fragment": {"model": 'efforts.minimum = { reasoning_effort = "low" }'},
    "meaningful header": {"endpoint": 'headers = { "x-beta" = "1" }'},
    "identity": {"identity": "another"},
}
NOT_ON_IT = {
    "in flight": {"in_flight": 3},
    "limits": {"endpoint": "requests_per_minute = 60000\nburst = 30\ntokens_per_minute = 9e9"},
    "timeouts": {"endpoint": "timeouts = { default = 77.0, connect = 5.0 }"},
    "pool": {"endpoint": 'pool = "shared"'},
    "key": {"endpoint": 'api_key_env = "MOLAUDIT_TEST_KEY"'},
}


def test_what_reaches_the_wire_is_asked_anew(audit: Audit, url: str) -> None:
    assert audit.make() == 0
    for name, change in ON_THE_WIRE.items():
        before = stats(url)["requests"]
        assert Audit(audit.folder, url, **change).make() == 0, name  # type: ignore[arg-type]
        assert stats(url)["requests"] - before == audit.molecules, name


def test_transport_settings_ask_for_nothing(audit: Audit, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert audit.make() == 0
    before, cells = stats(url)["requests"], audit.cells()
    monkeypatch.setenv("MOLAUDIT_TEST_KEY", "sk-first-0123456789")
    for name, change in NOT_ON_IT.items():
        assert Audit(audit.folder, url, **change).make() == 0, name  # type: ignore[arg-type]
    monkeypatch.setenv("MOLAUDIT_TEST_KEY", "sk-second-987654321")
    assert audit.make() == 0
    assert stats(url)["requests"] == before
    assert audit.cells() == cells


def test_a_new_port_of_a_named_identity_asks_for_nothing(audit: Audit) -> None:
    assert audit.make() == 0
    with server() as other:
        audit.url = other
        audit.write()
        assert audit.make() == 0
        assert stats(other)["requests"] == 0


def test_only_new_molecules_are_asked(audit: Audit, url: str) -> None:
    assert audit.make() == 0
    before = stats(url)
    audit.molecules = 33
    audit.write()
    assert audit.make() == 0
    after = stats(url)
    assert after["requests"] - before["requests"] == 13
    assert after["repeated_calls"] == before["repeated_calls"]
    assert audit.facts()["totals"]["calls"] == 33


def test_two_wire_formats_of_one_address_are_read_each_in_its_own(tmp_path: Path, url: str) -> None:
    audit = Audit(tmp_path, url)
    audit.path.write_text(
        audit.written
        + f'\n[[endpoint]]\nname = "responses"\ndialect = "openai-responses"\nbase_url = "{url}"\n'
        + 'identity = "simulated"\n[[model]]\nid = "reciter"\nname = "again"\nendpoint = "responses"\n'
    )
    assert audit.make() == 0
    cells = pl.read_csv(audit.cells())
    rows = cells.select("m1", "m2", "m3", "n_usable", "left_out_failed").rows()
    assert len(rows) == 2
    assert rows[0] == rows[1]
    assert rows[0][0] > 5
    assert rows[0][-1] == 0


def test_samples_are_separate_calls_and_stay_what_they_were(audit: Audit, url: str) -> None:
    audit.run = "samples = 3"
    audit.write()
    before = stats(url)["requests"]
    assert audit.make() == 0
    cells = audit.cells()
    assert audit.make() == 0
    assert stats(url)["requests"] - before == 3 * audit.molecules
    assert audit.cells() == cells


def test_a_stored_answer_can_be_thrown_out_and_is_asked_again(
    audit: Audit, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.make() == 0
    key = audit.attempts()["key"][3]
    cache = ["--cache", str(audit.cache)]
    assert main(["cache", "evict", "--where", f'key = "{key}"', "--yes", *cache]) == 0
    assert "1 attempts deleted" in capsys.readouterr().out
    assert main(["cache", "explain", "--audit", str(audit.path), *cache]) == 0
    before = stats(url)["requests"]
    assert audit.make() == 0
    assert stats(url)["requests"] - before == 1
    assert main(["cache", "info", *cache]) == 0
    assert "20 attempts" in capsys.readouterr().out


@pytest.mark.slow
def test_nothing_runs_without_a_server_and_the_command_that_goes_on_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole cycle: refused connections are accounted for, then the printed command completes the run."""
    with server() as address:
        port = int(address.rsplit(":", 1)[1].split("/")[0])
    audit = Audit(tmp_path, address, molecules=3, run="budget_usd = 1.0", identity=None)
    assert audit.make() == 3
    shown = capsys.readouterr().out
    command = next(line for line in shown.splitlines() if "to go on, " in line).split("to go on, ")[1]
    assert set(audit.attempts()["outcome"]) == {"unreachable"}
    with server(port=port) as again:
        assert again == address
        assert main(shlex.split(command)[1:]) == 0
        assert stats(again)["requests"] == 3
