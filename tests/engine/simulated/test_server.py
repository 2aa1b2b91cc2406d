"""The simulated server over real sockets: each fault as a client meets it, and the counts it leaves behind."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from served_here import served_here

from molaudit.engine.conditions.zero_shot import zero_shot
from molaudit.engine.errors import SettingsError
from molaudit.engine.simulated import server as serving
from molaudit.engine.simulated.core import Server
from molaudit.engine.simulated.labels import Book, load
from molaudit.engine.simulated.server import ServeSettings, serve, start_process

USER = zero_shot("normal boiling point", "°C", "Ethanol", "CCO")[1]


@pytest.fixture(scope="module")
def book() -> Book:
    return load()


Running = Callable[..., contextlib.AbstractContextManager[str]]


@pytest.fixture
def running(book: Book) -> Running:
    """Run a server in a thread while a block runs; the block gets the base URL."""

    return partial(served_here, book)


def client() -> httpx.Client:
    return httpx.Client(trust_env=False, timeout=60)


def chat(number: int = 0) -> dict[str, Any]:
    return {"model": "reciter-100", "seed": number, "messages": [{"role": "user", "content": USER}]}


def stats(url: str) -> dict[str, Any]:
    with client() as http:
        return dict(http.get(url.removesuffix("/v1") + "/stats").json())


def raw_request(number: int = 0, path: str = "/v1/chat/completions", head: str = "") -> bytes:
    body = json.dumps(chat(number)).encode()
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n{head}\r\n".encode() + body


def connect(url: str) -> socket.socket:
    return socket.create_connection(
        ("127.0.0.1", int(url.split(":")[2].split("/", maxsplit=1)[0])), timeout=60
    )


def read_reply(sock: socket.socket) -> bytes:
    """Read one reply by its content-length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += sock.recv(65536)
    return body[:length]


def read_to_end(sock: socket.socket) -> tuple[bytes, bool]:
    """Read until the server closes; True if it did so by a reset."""
    data = b""
    try:
        while chunk := sock.recv(65536):
            data += chunk
    except ConnectionResetError:
        return data, True
    return data, False


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.01)


def test_a_client_gets_its_answer_and_the_server_counts_it(running: Running) -> None:
    with running() as url, client() as http:
        first = http.post(url + "/chat/completions", json=chat())
        assert first.json()["choices"][0]["message"]["content"] == "Answer: 78.2"
        assert first.headers["content-type"] == "application/json"
        http.post(url + "/chat/completions", json=chat())
        http.post(url + "/chat/completions", json=chat(1))
        counts = stats(url)
    expected = {
        "requests": 3,
        "answered": 3,
        "distinct_calls": 2,
        "repeated_calls": 1,
        "rejected_429": 0,
        "faults": 0,
    }
    assert expected.items() <= counts.items()


def test_models_are_listed(running: Running) -> None:
    with running() as url, client() as http:
        listed = [model["id"] for model in http.get(url + "/models").json()["data"]]
    assert listed == ["reciter", "reciter-10", "skilled", "skilled-95", "blind", "constant", "hostile"]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_status_fault_is_an_http_status(running: Running, status: int) -> None:
    with running(faults=f"{status}=1") as url, client() as http:
        reply = http.post(url + "/chat/completions", json=chat())
        counts = stats(url)
    assert reply.status_code == status
    assert reply.json()["error"]["message"]
    assert (counts["faults"], counts["answered"], counts["rejected_429"]) == (1, 0, int(status == 429))
    assert counts["faults_by_kind"] == {str(status): 1}


def test_reset_closes_before_the_reply(running: Running) -> None:
    with running(faults="reset=1") as url, connect(url) as sock:
        sock.sendall(raw_request())
        with pytest.raises(ConnectionResetError):
            sock.recv(1)
        assert stats(url)["answered"] == 0


def test_reset_body_closes_within_the_body(running: Running) -> None:
    with running(faults="reset-body=1") as url, connect(url) as sock:
        sock.sendall(raw_request())
        data, reset = read_to_end(sock)
        assert reset
        head, _, body = data.partition(b"\r\n\r\n")
        assert 0 < len(body) < int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        assert stats(url)["answered"] == 0


def test_reset_after_delivers_the_answer_and_then_closes(running: Running) -> None:
    with running(faults="reset-after=1") as url, connect(url) as sock:
        sock.sendall(raw_request())
        assert b"78.2" in read_reply(sock)
        with pytest.raises(ConnectionResetError):
            sock.recv(1)
        wait_for(lambda: stats(url)["in_flight"] == 0)
        assert stats(url)["answered"] == 1
        assert stats(url)["max_in_flight"] == 1


def test_hang_never_answers_until_the_client_leaves(running: Running) -> None:
    with running(faults="hang=1") as url:
        with connect(url) as sock:
            sock.sendall(raw_request())
            sock.settimeout(0.3)
            with pytest.raises(TimeoutError):
                sock.recv(1)
            assert stats(url)["in_flight"] == 1
        wait_for(lambda: stats(url)["in_flight"] == 0)
        assert stats(url)["answered"] == 0


def test_drip_takes_its_time_and_arrives_whole(running: Running) -> None:
    with running(faults="drip=1") as url, client() as http:
        start = time.monotonic()
        reply = http.post(url + "/chat/completions", json=chat())
        assert time.monotonic() - start > 1.5
        assert reply.json()["choices"][0]["message"]["content"] == "Answer: 78.2"
        assert stats(url)["answered"] == 1


def test_a_drip_that_the_client_leaves_is_not_answered(running: Running) -> None:
    with running(faults="drip=1") as url:
        with connect(url) as sock:
            sock.sendall(raw_request())
            assert sock.recv(10)
        wait_for(lambda: stats(url)["in_flight"] == 0)
        assert stats(url)["answered"] == 0


@pytest.mark.parametrize(
    ("fault", "needle", "valid"),
    [("half-json", '"choices"', False), ("html", "<!doctype html>", False), ("error200", '"502"', True)],
)
def test_a_200_that_is_no_answer_is_not_counted_as_one(
    running: Running, fault: str, needle: str, valid: bool
) -> None:
    with running(faults=f"{fault}=1") as url, client() as http:
        reply = http.post(url + "/chat/completions", json=chat())
        assert stats(url)["answered"] == 0
    assert reply.status_code == 200
    assert needle in reply.text
    if valid:
        assert "error" in reply.json()
    else:
        with pytest.raises(ValueError, match=r"Expecting|Unterminated|delimiter"):
            reply.json()


@pytest.mark.parametrize(
    ("fault", "content", "finish"),
    [
        ("empty", "", "stop"),
        ("truncated", "", "length"),
        ("refusal", None, "stop"),
        ("filtered", "", "content_filter"),
    ],
)
def test_a_reply_without_an_answer_keeps_its_reason(
    running: Running, fault: str, content: str | None, finish: str
) -> None:
    with running(faults=f"{fault}=1") as url, client() as http:
        choice = http.post(url + "/chat/completions", json=chat()).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (content, finish)


def test_odd_but_whole_answers_count_as_answered(running: Running) -> None:
    for fault in ("wrong-model", "huge", "nul"):
        with running(faults=f"{fault}=1") as url, client() as http:
            reply = http.post(url + "/chat/completions", json=chat())
            content = reply.json()["choices"][0]["message"]["content"]
            assert "Answer: 78.2" in content
            assert stats(url)["answered"] == 1
            assert (reply.json()["model"] != "reciter-100") is (fault == "wrong-model")
            assert (len(reply.content) > 8_000_000) is (fault == "huge")
            assert ("\x00" in content and "\u2028" in content and "\ud800" in content) is (fault == "nul")


def test_an_answer_that_is_still_in_the_buffer_is_not_answered(running: Running) -> None:
    with running(faults="huge=1") as url, connect(url) as sock:
        sock.sendall(raw_request())
        wait_for(lambda: stats(url)["in_flight"] == 1)
        # Each look is a turn of the server's loop, in which it writes what it can.
        assert [stats(url)["answered"] for _ in range(20)] == [0] * 20
        assert b"78.2" in read_reply(sock)
        wait_for(lambda: stats(url)["answered"] == 1)


def test_latency_delays_each_reply_but_not_the_others(running: Running) -> None:
    with running(latency="0.3") as url:
        start = time.monotonic()
        socks = [connect(url) for _ in range(30)]
        for number, sock in enumerate(socks):
            sock.sendall(raw_request(number))
        for sock in socks:
            read_reply(sock)
            sock.close()
        assert time.monotonic() - start >= 0.3
        counts = stats(url)
    assert (counts["max_in_flight"], counts["answered"], counts["distinct_calls"]) == (30, 30, 30)


def test_a_client_that_leaves_while_it_waits_is_not_answered(running: Running) -> None:
    with running(latency="3600") as url:
        with connect(url) as sock:
            sock.sendall(raw_request())
            wait_for(lambda: stats(url)["in_flight"] == 1)
        wait_for(lambda: stats(url)["in_flight"] == 0)
        assert stats(url)["answered"] == 0


def test_the_rate_limit_refuses_with_a_hint_and_recovers(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(
        serving, "Server", lambda settings, book, _clock: Server(settings, book, lambda: now[0])
    )
    with running(rpm=120.0, burst=3) as url, client() as http:
        replies = [http.post(url + "/chat/completions", json=chat(number)) for number in range(5)]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429, 429]
        assert replies[3].headers["retry-after"] == "1"
        assert replies[0].headers["x-ratelimit-remaining-requests"] == "2"
        now[0] += 0.6
        assert http.post(url + "/chat/completions", json=chat(5)).status_code == 200
        counts = stats(url)
    assert (counts["rejected_429"], counts["answered"], counts["faults"]) == (2, 4, 0)


def test_requests_may_arrive_in_pieces_or_several_at_once(running: Running) -> None:
    with running() as url, connect(url) as sock:
        for byte in raw_request():
            sock.sendall(bytes([byte]))
        assert b"78.2" in read_reply(sock)
        sock.sendall(b"".join(raw_request(number) for number in range(1, 2001)))
        data = b""
        while data.count(b"HTTP/1.1 200") < 2000 or not data.endswith(b"}"):
            data += sock.recv(1 << 20)
        assert stats(url)["answered"] == 2001


def test_replies_of_a_pipeline_keep_the_order_of_its_requests(running: Running) -> None:
    with running(latency="uniform:0,0.02") as url, connect(url) as sock:
        bodies = [json.dumps({**chat(), "model": f"blind@{n}"}).encode() for n in range(20)]
        for body in bodies:
            sock.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
            )
        data = b""
        while data.count(b'"model"') < 20:
            data += sock.recv(65536)
        order = [part.split(b'"')[0] for part in data.split(b'"model": "')[1:]]
    assert order == [b"blind@%d" % n for n in range(20)]


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", b"411"),
        (b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\nx: " + b"y" * 70_000, b"431"),
        (raw_request(head="connection: close\r\n"), b"200"),
        (raw_request().replace(b"HTTP/1.1", b"HTTP/1.0"), b"200"),
    ],
)
def test_a_request_that_cannot_be_followed_by_another_closes_the_connection(
    running: Running, request_bytes: bytes, status: bytes
) -> None:
    with running() as url, connect(url) as sock:
        sock.sendall(request_bytes)
        data, _ = read_to_end(sock)
    assert data.startswith(b"HTTP/1.1 " + status)
    assert b"connection: close\r\n" in data


def test_expect_continue_is_answered_before_the_body(running: Running) -> None:
    with running() as url, connect(url) as sock:
        head, _, body = raw_request(head="Expect: 100-continue\r\n").partition(b"\r\n\r\n")
        sock.sendall(head + b"\r\n\r\n")
        assert sock.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(body)
        assert b"78.2" in read_reply(sock)


def test_a_port_that_is_taken_is_named(running: Running, book: Book) -> None:
    with running() as url:
        port = int(url.split(":")[2].split("/")[0])
        with pytest.raises(
            SettingsError, match=rf"cannot listen on 127\.0\.0\.1:{port} .*choose another --port"
        ):
            serve(ServeSettings(port=port), ready=lambda _: None)
        with pytest.raises(SettingsError, match="cannot listen on"), start_process(ServeSettings(port=port)):
            pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_with_code_0_and_no_traceback(number: signal.Signals) -> None:
    code = (
        "from molaudit.engine.simulated.server import *;"
        "serve(ServeSettings(latency='30'), ready=lambda url: print(url, flush=True)); print('ended')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with connect(url) as sock:
            sock.sendall(raw_request())
            wait_for(lambda: stats(url)["in_flight"] == 1)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "ended\n", "")


def test_the_process_serves_while_the_block_runs_and_no_longer() -> None:
    with start_process(ServeSettings(seed=5)) as url:
        assert stats(url)["seed"] == 5
    with pytest.raises(ConnectionRefusedError):
        connect(url)


def test_the_process_outlives_ctrl_c_but_not_its_parent() -> None:
    """Ctrl-C in a terminal goes to the whole group; a kill -9 reaches the parent alone."""
    code = (
        "import signal, time; from molaudit.engine.simulated.server import *\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"
        "with start_process(ServeSettings()) as url: print(url, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        try:
            assert parent.stdout is not None
            url = parent.stdout.readline().strip()
            os.killpg(parent.pid, signal.SIGINT)
            # A signal is taken before anything else: whoever answers now has outlived it.
            assert [stats(url)["requests"] for _ in range(3)] == [0, 0, 0]
        finally:
            parent.kill()
        parent.wait()

        def gone() -> bool:
            try:
                connect(url).close()
            except ConnectionRefusedError:
                return True
            return False

        wait_for(gone)
