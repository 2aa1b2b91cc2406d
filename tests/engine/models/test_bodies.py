"""Bodies from files: the recorded ones as the reference says, and what is wrong with a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from shared_data import DATA, needs_data

from molaudit.engine.errors import InputError, SettingsError
from molaudit.engine.models import bodies
from molaudit.storage.errors import StorageError

OUTCOME = {
    "ok": "answered",
    "refusal": "refused",
    "content_filter": "filtered",
    "server_error": "failed",
    "timeout": "timed_out",
    "rate_limit": "throttled",
}
SAME = ("truncated", "empty", "malformed", "overloaded", "quota", "recitation")
ANSWER = {"choices": [{"message": {"content": "-3.05"}, "finish_reason": "stop"}]}


def expected(kind: str) -> str:
    return OUTCOME.get(kind, kind if kind in SAME else "rejected")


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def as_cell(value: Any) -> str:
    return "" if value is None else str(value)


def unescaped(text: str) -> str:
    """Text that a spreadsheet would run has an apostrophe before it."""
    return text[1:] if text.startswith("'") else text


@needs_data
@pytest.mark.parametrize(("name", "rows"), [("provider_responses_2", 56), ("provider_responses", 80)])
def test_recorded_bodies_mean_what_the_reference_says(name: str, rows: int, tmp_path: Path) -> None:
    path = DATA / "fixtures" / f"{name}.jsonl"
    assert bodies.run(path, dialect=None, status=200, out=tmp_path / "out.csv") == 0
    found = {row["id"]: row for row in read(tmp_path / "out.csv")}
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    assert [line["id"] for line in lines] == list(found)
    assert len(found) == rows
    wrong = []
    for line in lines:
        got, want = found[line["id"]], line["expect"]
        allow = want.get("allow", {})
        if got["outcome"] not in map(expected, allow.get("kind", [want["kind"]])):
            wrong.append((line["id"], "outcome", got["outcome"]))
        for field in ("text", "finish", "input_tokens", "output_tokens", "reasoning_tokens", "retry_after_s"):
            if unescaped(got[field]) not in map(as_cell, allow.get(field, [want[field]])):
                wrong.append((line["id"], field, got[field]))
        if "cost_usd" in want and float(got["cost_usd"]) != want["cost_usd"]:
            wrong.append((line["id"], "cost_usd", got["cost_usd"]))
        if "suspect" in want and ("suspect" in got["flags"]) != want["suspect"]:
            wrong.append((line["id"], "flags", got["flags"]))
    assert wrong == []


def test_one_body_is_printed_one_field_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps({**ANSWER, "usage": {"prompt_tokens": 9, "total_tokens": 13}}))
    assert bodies.run(path, dialect="openai-chat", status=200, out=None) == 0
    assert capsys.readouterr().out.split("\n") == [
        *("outcome: answered", "text: -3.05", "finish: stop", "input_tokens: 9", "output_tokens: 4"),
        *("reasoning_tokens: ", "cost_usd: ", "retry_after_s: ", "flags: ", "message: ", ""),
    ]


def test_a_body_that_is_no_json_is_read_as_it_came(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "body.json"
    path.write_bytes(b"<html>\x1b[2J\xff</html>")
    assert bodies.run(path, dialect="gemini", status=502, out=None) == 0
    shown = capsys.readouterr().out
    assert "outcome: failed" in shown
    assert "\x1b" not in shown


def test_rows_take_their_own_status_headers_and_bytes(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "status": 429, "headers": {"Retry-After": "7"}, "body": "slow"},
        {"body_base64": "eyJjaG9pY2VzIjpbXX0="},
        {"id": 3, "api": "messages", "body": {"content": "=1+1", "stop_reason": "end_turn"}},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    bodies.run(path, dialect="openai-chat", status=200, out=tmp_path / "o.csv")
    found = [
        (one["id"], one["outcome"], one["text"], one["retry_after_s"]) for one in read(tmp_path / "o.csv")
    ]
    assert found == [
        ("a", "throttled", "", "7.0"),
        ("2", "empty", "", ""),
        ("3", "answered", "'=1+1", ""),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"api": "chat", "body": {}', r"line 2: is not JSON \(Expecting ',' delimiter, column 27\)"),
        ("[1]", "line 2: found list; allowed: an object with body or body_base64"),
        ('{"api": "chats", "body": 1}', "line 2: api: found 'chats'; allowed: chat, messages, responses, gen"),
        ('{"body": 1}', r"line 2: needs api \(chat, .*\) or --dialect \(openai-chat, "),
        ('{"api": "chat"}', "line 2: needs body"),
        ('{"api": "chat", "body_base64": "?"}', "line 2: body_base64: is not base64"),
        ('{"api": "chat", "body": 1, "status": "200"}', "line 2: status: found '200'; allowed: an HTTP status"),
        ('{"api": "chat", "body": 1, "headers": [1]}', "line 2: headers: must be an object of texts"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_named_by_file_and_line(line: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"api": "chat", "body": ANSWER}) + "\n" + line + "\n")
    with pytest.raises(InputError, match=told) as caught:
        bodies.run(path, dialect=None, status=200, out=tmp_path / "o.csv")
    assert str(path) in str(caught.value)
    assert not (tmp_path / "o.csv").exists()


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    one, many = tmp_path / "body.json", tmp_path / "rows.jsonl"
    one.write_text("{}")
    many.write_text("")
    with pytest.raises(
        InputError, match="needs --dialect; allowed: openai-chat, openai-responses, anthropic"
    ):
        bodies.run(one, dialect=None, status=200, out=None)
    with pytest.raises(SettingsError, match="unknown dialect 'chat'; allowed: openai-chat"):
        bodies.run(one, dialect="chat", status=200, out=None)
    with pytest.raises(InputError, match=r"need --out OUT\.csv"):
        bodies.run(many, dialect=None, status=200, out=None)
    with pytest.raises(InputError, match="--out takes the table of"):
        bodies.run(one, dialect="gemini", status=200, out=tmp_path / "o.csv")
    with pytest.raises(InputError, match=r"none\.json: cannot be read \(No such file"):
        bodies.run(tmp_path / "none.json", dialect="gemini", status=200, out=None)
    with pytest.raises(StorageError, match="unknown kind of table"):
        bodies.run(many, dialect=None, status=200, out=tmp_path / "o.txt")
