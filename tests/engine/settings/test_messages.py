"""Typical mistakes in an audit.toml: the whole of what a person reads, and that nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from molaudit.engine.cli import main

Capture = pytest.CaptureFixture[str]

GOOD = """\
[run]
molecules = 20
[[endpoint]]
name = "local"
base_url = "http://127.0.0.1:9/v1"
[[model]]
id = "reciter"
endpoint = "local"
[[benchmark]]
use = "crc-boiling-points"
"""
KEYS_OF_AN_ENDPOINT = (
    "api_key_env, api_key_header, base_url, burst, dialect, headers, identity, in_flight, insecure, "
    "name, pool, proxy, requests_per_minute, timeouts, tokens_per_minute"
)
KEYS_OF_A_MODEL = (
    "efforts, endpoint, extra_body, id, like, max_output_tokens, name, output_limit_field, price, temperature"
)
KEYS_OF_A_RUN = (
    "budget_usd, conditions, deadline_minutes, efforts, max_output_tokens, molecules, name, samples, seed"
)

MISTAKES = {
    "a key that is misspelt": (
        ("molecules = 20", "molecule = 20"),
        f"audit.toml: run: unknown key 'molecule'; allowed: {KEYS_OF_A_RUN} (did you mean 'molecules'?)",
    ),
    "a section that is misspelt": (
        ("[[model]]", "[[models]]"),
        "audit.toml: unknown key 'models'; allowed: arm, benchmark, endpoint, model, run, score, task "
        "(did you mean 'model'?)",
    ),
    "a key in the wrong section": (
        ("molecules = 20", "in_flight = 20"),
        f"audit.toml: run: unknown key 'in_flight'; allowed: {KEYS_OF_A_RUN} (in_flight belongs into [[endpoint]])",
    ),
    "a table where there may be several": (
        ("[[endpoint]]", "[endpoint]"),
        "audit.toml: endpoint must be a list: write it under [[endpoint]]",
    ),
    "several where there is one": (
        ("[run]", "[[run]]"),
        "audit.toml: run must be a table: write it under [run]",
    ),
    "a number in quotes": (
        ("molecules = 20", 'molecules = "20"'),
        "audit.toml: run.molecules = '20': must be a whole number",
    ),
    "text without quotes": (
        ('"reciter"', "reciter"),
        "audit.toml: is not TOML: Invalid value (at line 7, column 6); text stands in double quotes",
    ),
    "a colon for an equals sign": (
        ("molecules = 20", "molecules: 20"),
        "audit.toml: is not TOML: Expected '=' after a key in a key/value pair (at line 2, column 10)",
    ),
    "a dialect with an underscore": (
        ('name = "local"', 'name = "local"\ndialect = "openai_chat"'),
        "audit.toml: endpoint \"local\": dialect = 'openai_chat': allowed: 'openai-chat', 'openai-responses', "
        "'anthropic' or 'gemini' (did you mean 'openai-chat'?)",
    ),
    "an endpoint that is not there": (
        ('endpoint = "local"', 'endpoint = "lokal"'),
        "audit.toml: model 'reciter': endpoint = 'lokal'; allowed: local (did you mean 'local'?)",
    ),
    "an effort that is misspelt": (
        ("molecules = 20", 'efforts = ["minimun"]'),
        "audit.toml: model 'reciter' has no effort 'minimun'; allowed: minimum, standard, none, "
        "minimal, low, medium, "
        "high, xhigh, max (did you mean 'minimum'?), or give its JSON: efforts.minimun = { ... }",
    ),
    "a benchmark that is misspelt": (
        ("crc-boiling-points", "crc-boiling-point"),
        "audit.toml: benchmark 'crc-boiling-point': use: found 'crc-boiling-point'; allowed: crc-boiling-points, "
        "crc-logp, crc-melting-points (did you mean 'crc-boiling-points'?)",
    ),
    "the limit of the output by its name on the wire": (
        ('id = "reciter"', 'id = "reciter"\nmax_tokens = 100'),
        f"audit.toml: model \"reciter\": unknown key 'max_tokens'; allowed: {KEYS_OF_A_MODEL} (did you mean "
        "'max_output_tokens'?)",
    ),
    "the key itself": (
        ('name = "local"', 'name = "local"\napi_key = "sk-test-SECRET123"'),
        "audit.toml: endpoint 1: api_key holds what looks like a secret key. Put the key into an "
        "environment variable "
        "and its NAME into the endpoint's api_key_env",
    ),
    "a key by a name of its own": (
        ('name = "local"', 'name = "local"\nkey = "LOCAL_KEY"'),
        f"audit.toml: endpoint \"local\": unknown key 'key'; allowed: {KEYS_OF_AN_ENDPOINT} (did you mean "
        "'api_key_env'?)",
    ),
    "a variable that is not set": (
        ('name = "local"', 'name = "local"\napi_key_env = "MOLAUDIT_NO_SUCH_KEY"'),
        "endpoint 'local': the environment variable MOLAUDIT_NO_SUCH_KEY is not set",
    ),
    "a price without its other half": (
        ('id = "reciter"', 'id = "reciter"\nprice = { input = 1 }'),
        'audit.toml: model "reciter": price.output is missing',
    ),
    "an address that is none": (
        ("http://127.0.0.1:9/v1", "htp://127.0.0.1:9/v1"),
        'audit.toml: endpoint "local" base_url is no http or https URL; give one like https://api.openai.com/v1',
    ),
    "a table of ones own without its unit": (
        ('use = "crc-boiling-points"', 'file = "mine.csv"\nproperty = "boiling point"'),
        'audit.toml: benchmark "mine.csv" has a file, so it must say its unit',
    ),
    "nothing at all": (
        (GOOD, ""),
        "audit.toml: needs at least one [[endpoint]]; molaudit init writes a first file",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said_whole_and_leaves_nothing_behind(
    name: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wrong, instead), said = MISTAKES[name]
    assert wrong in GOOD
    monkeypatch.chdir(tmp_path)
    Path("audit.toml").write_text(GOOD.replace(wrong, instead))
    assert main(["run", "audit.toml", "--yes"]) == 2
    assert capsys.readouterr().err == f"molaudit run: {said}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["audit.toml"]


def test_an_effort_that_nobody_knows_of_a_model_is_said_with_both_ways_on(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = GOOD.replace("reciter", "my-model").replace("molecules = 20", 'efforts = ["minimum", "standard"]')
    Path("audit.toml").write_text(text)
    assert main(["plan", "audit.toml"]) == 2
    assert capsys.readouterr().err == (
        "molaudit plan: audit.toml: model 'my-model' has no effort 'standard'; the table knows none for it here, so "
        "allowed: minimum (minimum sends nothing and is shown as 'as served'); or give its JSON: efforts.standard = "
        "{ ... }\n"
    )


def test_every_fault_of_a_file_has_a_line_that_names_the_file(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audit.toml").write_text(GOOD.replace("base_url", "baseurl"))
    assert main(["plan", "audit.toml"]) == 2
    assert capsys.readouterr().err == (
        'molaudit plan: audit.toml: endpoint "local": base_url is missing\n'
        f"audit.toml: endpoint \"local\": unknown key 'baseurl'; allowed: {KEYS_OF_AN_ENDPOINT} (did you mean "
        "'base_url'?)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "none.toml"], "molaudit run: none.toml: cannot be read (No such file or directory); molaudit init "
         "writes a first one"),
        (["plan", "."], "molaudit plan: .: cannot be read (Is a directory)"),
        (["run", "answers.csv"], "molaudit run: answers.csv: is not TOML: Expected '=' after a key "
        "in a key/value pair "
         "(at line 1, column 6)"),
        (["status", "audit.toml", "--cache", "answers.csv"], "molaudit status: answers.csv is not a "
        "molaudit cache (it "
         "begins with b'model,molecu') and was left as it is; allowed are a cache made by this program and the name "
         "of a file that does not exist yet"),
        (["report", "audit.toml", "--out", "answers.csv"],
         "molaudit report: --out answers.csv: File exists; give a folder that can be written"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_said_whole(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audit.toml").write_text(GOOD)
    Path("answers.csv").write_text("model,molecule,answer\nm,a,1.23\n")
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"{said}\n"
    assert {path.name for path in tmp_path.iterdir()} == {"audit.toml", "answers.csv"}


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["scroe"], "'score'"),
        (["cache", "inf"], "'info'"),
        (["run", "audit.toml", "--yess"], "'--yes'"),
        (["score", "a.csv", "--labells", "l.csv", "--out", "o"], "'--labels'"),
        (["score", "a.csv", "--labels", "l.csv", "--out", "o", "--protocol", "recal"], "'recall'"),
        (["init", "--provider", "opnai"], "'openai'"),
    ],
)
def test_a_word_of_the_command_line_that_is_misspelt_is_said_with_the_nearest(
    arguments: list[str], near: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert capsys.readouterr().err.endswith(f"(did you mean {near}?)\n")


def test_a_required_option_that_is_only_missing_names_no_other(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["score", "a.csv", "--out", "o"])
    assert capsys.readouterr().err.endswith("the following arguments are required: --labels\n")
