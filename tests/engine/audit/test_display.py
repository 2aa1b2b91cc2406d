"""What a person sees while a run goes: whole lines, bounded in number, and nothing that a model could drive."""

import os
import re
import subprocess
import time
from io import StringIO
from pathlib import Path
from types import MappingProxyType

import anyio
import pytest
from rich.console import Console
from running_audits import MOLAUDIT, Audit, environment, server

from molaudit.engine.audit.display import display_for, live_view, plain_lines
from molaudit.engine.scheduling.progress import PoolSnapshot, Snapshot, Straggler

HOSTILE = "\x1b[31m[bold]x[/bold]\x07\u202e\r\n evil"


def pool(**changes: object) -> PoolSnapshot:
    given: dict[str, object] = {
        "pool": "p", "queued": 5, "running": 3, "waiting": 2, "retrying": 1, "done": 10, "failed": 0, "skipped": 0,
        "attempts": 12, "input_tokens": 1000, "output_tokens": 234, "cost_usd": 0.5, "in_flight_limit": 8,
        "requests_per_minute": None, "gate_closed_s": 0.0, "gate_reason": "", "parked": None, "per_second": 2.0,
        "stragglers": (),
    }  # fmt: skip
    return PoolSnapshot(**{**given, **changes})  # type: ignore[arg-type]


def snapshot(*pools: PoolSnapshot) -> Snapshot:
    return Snapshot(12.0, pools, (), 0.001, 0.004, 0.01)


def shown_table(state: Snapshot, width: int = 100) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=False)
    console.print(live_view(state, MappingProxyType({"p": 40, "q": 40}), 7, width))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_a_closed_gate_and_its_time_are_named() -> None:
    text = shown_table(snapshot(pool(gate_closed_s=118.2, gate_reason="throttled")))
    assert "gate closed 118 s" in " ".join(text.split())
    assert "throttled" in text


def test_retrying_waiting_and_parked_are_told_apart() -> None:
    text = " ".join(shown_table(snapshot(pool(parked="no money left"), pool(pool="q", retrying=9))).split())
    assert "parked: no money left" in text
    assert "9 retrying" in text


def test_stragglers_are_named_with_their_age() -> None:
    late = Straggler("m", "high", 2, 214.0, 3.0)
    assert "slow: m 214 s" in " ".join(shown_table(snapshot(pool(stragglers=(late,)))).split())


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_keeps_to_the_terminal(width: int) -> None:
    busy = pool(
        pool="a-long-name-of-an-account", done=123_456, running=2000, in_flight_limit=2000, input_tokens=10**9,
        gate_closed_s=10.0, gate_reason="rate limit", cost_usd=1234.5,
    )  # fmt: skip
    text = shown_table(snapshot(busy, busy), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_hostile_text_is_shown_as_escapes() -> None:
    text = shown_table(snapshot(pool(pool=HOSTILE, gate_closed_s=1.0, gate_reason=HOSTILE)), 200)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert "[bold]" in text


def test_notices_of_a_kind_are_bounded() -> None:
    console = Console(file=StringIO(), width=200)
    display = display_for(console, {"p": 10}, 0)
    for number in range(5000):
        display.progress.notice("timeout", "p", f"call {number} {HOSTILE}")
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert 3 <= len(lines) <= 40
    assert "5000 such notices" in lines[-1]


def test_the_numbers_of_the_head_add_up_to_all_calls() -> None:
    state = snapshot(pool(done=10, failed=3, skipped=4))
    head = plain_lines(state, {"p": 40, "q": 5}, 7)[0]
    assert head.startswith("12 s: 52 calls = 7 cached + 10 done + 3 failed + 4 given up + 28 left; ends in ")
    assert 7 + 10 + 3 + 4 + 28 == 52


@pytest.mark.parametrize(("done", "shown"), [(0, "14 %"), (39, "97 %"), (40, "100 %")])
def test_the_bar_says_what_share_of_all_calls_has_ended(done: int, shown: str) -> None:
    state = snapshot(pool(done=done))
    console = Console(file=StringIO(), width=80)
    console.print(live_view(state, {"p": 40}, 7, 80))
    assert shown in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_heartbeat_in_a_file_is_one_line_for_the_run_and_one_for_each_pool() -> None:
    console = Console(file=StringIO(), width=60)
    for line in plain_lines(snapshot(pool(), pool(pool="q", parked="no money left " * 9)), {"p": 40}, 7):
        console.print(line, soft_wrap=True)
    assert len(console.file.getvalue().splitlines()) == 3  # type: ignore[attr-defined]


def test_one_sentence_of_a_provider_is_said_once_whatever_it_stops() -> None:
    console = Console(file=StringIO(), width=60)
    display = display_for(console, {"p": 10}, 0)
    for scope in ("cell m / b / zero_shot / minimum", "effort m / minimum", "model m"):
        display.progress.notice("stopped", "p", f"{scope}: no such model {'of that long name ' * 8}")
    display.progress.notice("stopped", "p", "model n: no key")
    said = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.partition(":")[0] for line in said] == ["stopped", "stopped"]


@pytest.mark.anyio
async def test_the_last_picture_is_that_of_the_end() -> None:
    console = Console(file=StringIO(), width=100, force_terminal=True)
    display = display_for(console, {"p": 40}, 0)
    done = 10
    display.progress.attach(lambda: snapshot(pool(done=done)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(display.watch, display.progress)
        with anyio.fail_after(60):
            while "10/40" not in console.file.getvalue():  # type: ignore[attr-defined]
                await anyio.sleep(0.01)
        done = 40
        tasks.cancel_scope.cancel()
    drawn = re.findall(r"(\d+)/40", console.file.getvalue())  # type: ignore[attr-defined]
    assert drawn[0] == "10"
    assert drawn[-1] == "40"


def test_lines_are_plain_when_piped(tmp_path: Path) -> None:
    with server(latency="0.05") as url:
        audit = Audit(tmp_path, url, molecules=10)
        ended = subprocess.run(
            [*MOLAUDIT, *audit.options], env=environment(), capture_output=True, check=True
        )
        assert b"\x1b" not in ended.stdout
        assert b"\r" not in ended.stdout
        assert ended.stderr == b""


@pytest.mark.slow
def test_a_live_table_in_a_terminal_ends_whole(tmp_path: Path) -> None:
    """Under a pseudo-terminal of 80 columns: the table is drawn while calls are made, and the end stands below it."""
    pty = pytest.importorskip("pty")
    fcntl = pytest.importorskip("fcntl")
    import struct
    import termios

    with server(latency="1.5") as url:
        audit = Audit(tmp_path, url, molecules=12, in_flight=4)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        given = {
            key: value for key, value in environment(TERM="xterm").items() if key not in ("COLUMNS", "CI")
        }
        process = subprocess.Popen(
            [*MOLAUDIT, *audit.options], stdin=theirs, stdout=theirs, stderr=theirs, env=given
        )
        os.close(theirs)
        seen, end = b"", time.monotonic() + 120
        while time.monotonic() < end:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        assert process.wait(120) == 0
        os.close(ours)
    text = seen.decode()
    assert "in flight" in text
    assert "Traceback" not in text
    assert text.rstrip().splitlines()[-1].strip().startswith("12 calls made")
