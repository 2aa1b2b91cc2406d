"""A key occurs nowhere: no file, no output, no log, no database byte, though a provider sends it back."""

import json
import logging
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import duckdb
import polars as pl
import pytest
from running_audits import Audit, environment, start

from molaudit.engine.audit.redaction import MASK, Redactor
from molaudit.engine.cli import main

KEY = "sk-test-SECRET123"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)


class Echo(BaseHTTPRequestHandler):
    """Answers with the header that carried the key, in another kind of reply each time."""

    protocol_version = "HTTP/1.1"
    seen = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        told = self.headers["authorization"] or ""
        assert KEY in told
        status, body = self.reply(Echo.seen, told)
        Echo.seen += 1
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("x-echo", told)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    @staticmethod
    def reply(number: int, told: str) -> tuple[int, str]:
        error = json.dumps({"error": {"message": f"{told} is not welcome", "code": told, "type": KEY}})
        answer = {"id": KEY, "object": "chat.completion", "model": KEY, "provider": told,
                  "choices": [{"index": 0, "finish_reason": "stop",
                               "message": {"role": "assistant", "content": f"{told}: 371.5"}}],
                  "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}}  # fmt: skip
        # An answer first: until a model has given one, its calls go out one by one.
        kinds = [
            (200, json.dumps(answer)), (500, error), (200, error), (200, f"<html>{told}</html>"), (502, told),
            (200, json.dumps(answer).replace(KEY, ESCAPED)), (503, error.replace(KEY, ESCAPED)),
        ]  # fmt: skip
        return kinds[number % len(kinds)] if number < 21 else (200, json.dumps(answer))

    def log_message(self, *_: object) -> None:
        pass


class Refusing(Echo):
    """Refuses the key, and says it aloud."""

    @staticmethod
    def reply(number: int, told: str) -> tuple[int, str]:
        return 401, json.dumps({"error": {"message": f"Incorrect API key provided: {told}", "code": told}})


@pytest.fixture(params=[Echo, Refusing])
def echo(request: pytest.FixtureRequest) -> Iterator[str]:
    Echo.seen = 0
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), request.param) as listener:
        listener.daemon_threads = True
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_address[1]}/v1"
        listener.shutdown()


def values_of(path: Path) -> str:
    """What stands in a file of a compressed format, as text."""
    if path.suffix == ".parquet":
        return json.dumps(pl.read_parquet(path).to_dicts(), default=str)
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path), read_only=True) as connection:
            names = [
                row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            ]
            return "".join(str(connection.execute(f'SELECT * FROM "{name}"').fetchall()) for name in names)
    return ""


def test_the_key_occurs_nowhere(
    echo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = Audit(
        tmp_path,
        echo,
        molecules=50,
        in_flight=25,
        identity="echo",
        endpoint='api_key_env = "MOLAUDIT_TEST_KEY"',
    )
    monkeypatch.setenv("MOLAUDIT_TEST_KEY", KEY)
    process = start([*audit.options, "--debug"], env=environment(PYTHONASYNCIODEBUG="1"))
    shown = [process.communicate(timeout=300)[0]]
    assert "DEBUG" in shown[0]
    for arguments in (
        ["status", str(audit.path)],
        ["report", str(audit.path), "--out", str(tmp_path / "report")],
        ["cache", "export", str(tmp_path / "all.jsonl")],
        ["cache", "explain", "--audit", str(audit.path)],
    ):
        main([*arguments, "--cache", str(audit.cache)])
        shown += capsys.readouterr()
    assert "Traceback" not in "".join(shown)
    assert MASK in (tmp_path / "all.jsonl").read_text()
    for text in shown:
        assert KEY not in text
        assert "SECRET123" not in text
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {".parquet", ".duckdb", ".json", ".csv", ".jsonl"} <= {path.suffix for path in files} | {".csv"}
    for path in files:
        content = path.read_bytes()
        assert KEY.encode() not in content, path
        assert ESCAPED.encode() not in content, path
        assert KEY not in values_of(path), path


@pytest.mark.parametrize("sent", [f"a {KEY} b", f'{{"a": "{ESCAPED}", "b": "caf\\u00e9 \\u0022"}}'])
def test_a_body_with_the_key_is_masked_and_stays_readable(sent: str) -> None:
    masked = Redactor([KEY]).body(sent.encode())
    assert KEY.encode() not in masked
    if sent.startswith("{"):
        assert json.loads(masked) == {"a": MASK, "b": 'café "'}


def test_a_key_with_a_slash_is_found_as_json_may_write_it() -> None:
    assert Redactor(["abc/def+ghi="]).body(rb'{"k":"abc\/def+ghi="}') == b'{"k":"' + MASK.encode() + b'"}'


def test_a_body_without_the_key_is_the_same_object() -> None:
    for body in (b"plain", rb'{"a":"\u003cb\u003e \/ \u00e9"}', b""):
        assert Redactor([KEY]).body(body) is body


@pytest.mark.parametrize("word", ["1", "EMPTY", "none"])
def test_a_stand_in_for_a_key_is_left_in_replies(word: str) -> None:
    body = f'{{"content": "{word} 371.5"}}'.encode()
    assert Redactor([word]).body(body) is body


def test_a_key_is_masked_in_logged_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    root = logging.getLogger()
    before = [(one, one.formatter) for one in root.handlers]
    try:
        Redactor([KEY]).watch_log()
        try:
            raise ValueError(f"header {KEY}")
        except ValueError:
            root.exception("with %s", KEY)
        assert MASK in caplog.handler.format(caplog.records[0])
        assert KEY not in caplog.handler.format(caplog.records[0])
    finally:
        for one, formatter in before:
            one.setFormatter(formatter)
