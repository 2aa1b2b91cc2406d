"""What stored and failed replies lead to in a run: hits by the reply itself, causes said once, no key in an error."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from running_audits import Audit, server, stats

from molaudit.engine.audit.live import DERIVED
from molaudit.engine.audit.redaction import MASK, Redactor
from molaudit.engine.cli import main
from molaudit.engine.models.records import Decoded
from molaudit.storage.cache.store import Cache
from molaudit.storage.journal.attempts import FIELDS

Capture = pytest.CaptureFixture[str]
WHOLE = {
    "choices": [{"message": {"content": "Answer: 371.5"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
}
CUT = 'data: {"choices": [{"index": 0, "delta": {"content": "Answer: 37"}}]}\n\n'
KEY = "sk-test-SECRET123"


@contextmanager
def replying(reply: Callable[[int], tuple[int, str]]) -> Iterator[tuple[str, list[int]]]:
    """A server that answers its n-th request as told; yields its address and the statuses that it has sent."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            status, text = reply(len(sent))
            sent.append(status)
            data = text.encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        listener.daemon_threads = True
        Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_address[1]}/v1", sent
        listener.shutdown()


def changed(audit: Audit, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Write the attempts of an audit into a new cache in its place, each as ``change`` makes it."""
    from molaudit.storage.journal.attempts import StoredAttempt

    before = Cache(audit.cache)
    rows = [row for frame in before.replies(audit.attempts()["key"].to_list()) for row in frame.to_dicts()]
    for path in audit.folder.glob("cache.duckdb*"):
        path.rename(path.with_name("old-" + path.name))
    with Cache(audit.cache).journal() as journal:
        for row in rows:
            given = {name: row[name] for name in FIELDS if name in row}
            given = change({**given, "body": row["body"].encode(), "preimage": None, "body_size": None})
            journal.append(StoredAttempt(**given))


def test_a_stored_reply_that_todays_reader_cannot_read_is_asked_again_and_counted(
    tmp_path: Path, capsys: Capture
) -> None:
    """An earlier version took a stream that was broken off for an answer."""
    with server() as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
        some = set(audit.attempts()["key"].to_list()[:3])
        changed(audit, lambda row: {**row, "body": CUT.encode()} if row["key"] in some else row)
        capsys.readouterr()
        assert audit.make() == 0
        assert stats(url)["requests"] == audit.molecules + 3
        shown = capsys.readouterr().out
    assert "3 stored replies are no answers by today's rules and are asked again" in shown
    assert f"{audit.molecules} calls: {audit.molecules - 3} answered from the cache, 3 to make" in shown


def test_a_stored_reply_that_only_todays_reader_can_read_is_a_hit(tmp_path: Path, capsys: Capture) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
        cells = audit.cells()
        changed(audit, lambda row: {**row, "outcome": "malformed"})
        assert audit.make() == 0
        assert stats(url)["requests"] == audit.molecules
    assert audit.cells() == cells
    capsys.readouterr()
    main(["status", str(audit.path), "--cache", str(audit.cache)])
    assert "20 of 20 calls are done" in capsys.readouterr().out


def test_a_reply_that_is_no_answer_any_more_is_not_scored_and_not_called_one(tmp_path: Path) -> None:
    with server() as url:
        audit = Audit(tmp_path, url)
        assert audit.make() == 0
        some = set(audit.attempts()["key"].to_list()[:3])
        changed(audit, lambda row: {**row, "body": CUT.encode()} if row["key"] in some else row)
        report = ["report", str(audit.path), "--cache", str(audit.cache), "--out", str(audit.out)]
        assert main(report) == 0
    row = pl.read_csv(audit.out / "cells.csv").row(0, named=True)
    assert row["left_out_failed"] + row.get("left_out_malformed", 0) == 3


def test_nothing_of_a_decoded_reply_is_lost_on_the_way_to_the_store() -> None:
    assert set(Decoded.__dataclass_fields__) - set(FIELDS) <= DERIVED
    assert {"finish", "flags", "message", "reason", "retry_after_s"} <= set(FIELDS)


def test_message_finish_and_flags_stand_in_the_table_of_attempts(tmp_path: Path) -> None:
    odd = {**WHOLE, "usage": {**WHOLE["usage"], "total_tokens": 11}}  # type: ignore[dict-item]
    refused = json.dumps({"error": {"message": "no such thing as top_k", "code": "unsupported"}})
    with replying(lambda n: (400, refused) if n == 3 else (200, json.dumps(odd))) as (url, _):
        audit = Audit(tmp_path, url, molecules=8, in_flight=1)
        assert audit.make() == 3
    rows = audit.attempts()
    answered = rows.filter(pl.col("outcome") == "answered")
    assert set(answered["finish"]) == {"stop"}
    assert set(answered["flags"]) == {"usage_mismatch"}
    (failed,) = rows.filter(pl.col("outcome") == "rejected").to_dicts()
    assert failed["message"] == "unsupported: no such thing as top_k"


def test_each_sentence_of_a_provider_is_said_once_with_its_count(tmp_path: Path, capsys: Capture) -> None:
    def reply(number: int) -> tuple[int, str]:
        if number % 5 == 2:
            return 400, json.dumps({"error": {"message": f"request {number}99 has a wrong seed"}})
        return 200, json.dumps(WHOLE)

    with replying(reply) as (url, _):
        audit = Audit(tmp_path, url, molecules=20, in_flight=1)
        assert audit.make() == 3
    shown = capsys.readouterr().out
    assert "failed: 4 calls (rejected, HTTP 400): request 299 has a wrong seed" in shown
    assert shown.count("has a wrong seed") == 1
    main(["status", str(audit.path), "--cache", str(audit.cache)])
    assert "not answered: 4 calls (rejected, HTTP 400): request" in capsys.readouterr().out
    causes = audit.facts()["run"]["causes"]
    assert [(one["http_status"], one["calls"]) for one in causes] == [(400, 4)]


def test_a_refused_model_is_told_once_at_the_end(tmp_path: Path, capsys: Capture) -> None:
    gone = json.dumps({"error": {"message": "model 'x' not found", "code": None}})
    with replying(lambda _n: (404, gone)) as (url, sent):
        audit = Audit(tmp_path, url, efforts=("minimum", "standard"))
        assert audit.make() == 3
    assert len(sent) in (3, 4)  # two efforts, each with one call out
    shown = capsys.readouterr().out
    told, _, end = shown.partition("calls made in")
    assert (told.count("model 'x' not found"), end.count("model 'x' not found")) == (1, 1)
    assert f"stopped: model reciter: model 'x' not found ({len(sent)} calls)" in end


def test_nothing_listens_and_the_address_is_named_within_seconds(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    audit = Audit(tmp_path, url, models=("reciter", "skilled"), efforts=("minimum", "standard"))
    with audit.start() as process:
        assert process.stdout is not None
        began = time.monotonic()
        line = next(line for line in process.stdout if "cannot connect to" in line)
        assert time.monotonic() - began < 20  # 5 s on a machine of its own
        rest = process.stdout.read()
        assert process.wait(60) == 3
    assert f"cannot connect to {url} (connection refused)" in line
    assert f"stopped: endpoint local: cannot connect to {url} (connection refused)" in rest


def test_blocked_questions_are_final_and_end_no_model(tmp_path: Path, capsys: Capture) -> None:
    """Nine of ten are blocked as an HTTP error: no call is asked twice, and the rest is scored."""
    blocked = json.dumps({"error": {"message": "blocked", "code": "content_policy_violation"}})
    with replying(lambda n: (200, json.dumps(WHOLE)) if n % 10 == 9 else (403, blocked)) as (url, sent):
        audit = Audit(tmp_path, url, molecules=40, in_flight=1)
        assert audit.make() == 0
        assert len(sent) == 40
        assert audit.make() == 0
        assert len(sent) == 40
    shown = capsys.readouterr().out
    assert "no key was sent" not in shown
    assert audit.attempts()["outcome"].value_counts().sort("outcome").rows() == [
        ("answered", 4),
        ("filtered", 36),
    ]


@pytest.mark.parametrize(
    "quoted",
    [
        "sk-te****123",
        "sk-test-S...T123",
        "sk-test-SECRE\\u2026",
        "*************T123",
        "sk-test-SECRET",
        "SECRET12",
    ],
)
def test_a_part_of_a_key_in_an_error_is_not_stored(
    quoted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLAUDIT_TEST_KEY", KEY)
    body = f'{{"error": {{"message": "Incorrect API key provided: {quoted}. See the site."}}}}'
    with replying(lambda _n: (401, body)) as (url, _):
        audit = Audit(tmp_path, url, endpoint='api_key_env = "MOLAUDIT_TEST_KEY"')
        assert audit.make() == 3
    frames = Cache(audit.cache).replies(audit.attempts()["key"].to_list())
    stored = [text for frame in frames for text in frame["body"].to_list()]
    told = f'{{"error": {{"message": "Incorrect API key provided: {MASK}. See the site."}}}}'
    assert set(stored) == {told}
    assert {MASK in one for one in audit.attempts()["message"].to_list()} == {True}


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": null, "output": [{"text": "sk-... 3.05 and key=values1"}]}',
        b'{"choices": [{"message": {"content": "**Answer: -3.05** ... 17"}}]}',
    ],
)
def test_an_answer_is_stored_to_the_letter(body: bytes) -> None:
    from molaudit.engine.models.records import Response

    async def send(_call: object) -> Response:
        return Response(200, {}, body)

    import anyio

    result = anyio.run(Redactor([KEY]).guard(send), None)  # type: ignore[arg-type]
    assert result.body is body


def test_plain_http_with_a_key_is_warned_of_until_it_is_said_to_be_trusted(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLAUDIT_TEST_KEY", KEY)
    monkeypatch.setenv("no_proxy", "gpu.invalid")
    key = 'api_key_env = "MOLAUDIT_TEST_KEY"\ntimeouts = { connect = 0.5 }\n'
    for silenced in (False, True):
        more = "insecure = true\n" if silenced else ""
        audit = Audit(tmp_path, "http://gpu.invalid/v1", endpoint=key + more, run="deadline_minutes = 0.005")
        audit.make()
        shown = capsys.readouterr().out
        assert ("goes over plain http to gpu.invalid" in shown) is not silenced
        assert KEY not in shown
