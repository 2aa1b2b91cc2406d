"""The journal keeps any bytes, survives any cut, and says who lives."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
import stored_attempts
from hypothesis import given, settings
from hypothesis import strategies as st

from molaudit.storage.errors import CacheError
from molaudit.storage.journal.attempts import SCHEMA, StoredAttempt, body_bytes, frame
from molaudit.storage.journal.journal import Journal, new_session
from molaudit.storage.journal.locks import FileLock, holder_of, is_held, network_file_system
from molaudit.storage.journal.segments import read_segment, segments, sessions, set_aside


def attempt(key: str = "0" * 32, **changes: Any) -> StoredAttempt:
    """An attempt without a reply."""
    return stored_attempts.attempt(key, **{"http_status": None, "body": None, **changes})


def written(folder: Path, *attempts: StoredAttempt) -> Path:
    with Journal(folder, new_session()) as journal:
        for item in attempts:
            journal.append(item)
    return segments(folder)[-1].path


@given(
    bodies=st.lists(
        st.binary(max_size=60) | st.text(max_size=40).map(lambda t: t.encode("utf-8", "surrogatepass"))
    ),
    message=st.text(alphabet=st.characters(), max_size=30) | st.none(),
)
@settings(deadline=None, max_examples=60)
def test_any_bytes_of_a_body_come_back(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[bytes], message: str | None
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    with Journal(folder, "s") as journal:
        for body in bodies:
            journal.append(attempt(body=body, message=message))
        journal.rotate()
        read = [read_segment(segment.path) for segment in segments(folder)]
    rows = [row for part in read for row in part.rows.iter_rows(named=True)]
    assert [body_bytes(row["body"], row["body_base64"]) for row in rows] == bodies
    assert [row["body_size"] for row in rows] == [len(body) for body in bodies]
    assert {row["message"] for row in rows} <= {message}
    assert all(part.damage == () for part in read)


@pytest.mark.parametrize("text", ["a\u2028b", "nul\x00inside", "line\nfeed\r\n", "\x85", "é−🧪"])
def test_only_a_line_feed_of_ours_ends_a_line(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, attempt(body=text.encode(), preimage=text, message=text))
    assert path.read_bytes().count(b"\n") == 1
    row = read_segment(path).rows.row(0, named=True)
    assert (row["body"], row["preimage"], row["message"]) == (text, text, text)


def test_what_json_cannot_hold_is_kept_as_near_as_can_be(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        attempt(
            message="\ud800",
            body=b"paid",
            latency_s=float("nan"),
            output_tokens=10**30,
            cost_usd=float("inf"),
        ),
        attempt(body=b"second", input_tokens=7),
    )
    first, second = read_segment(path).rows.iter_rows(named=True)
    assert (first["message"], first["body"]) == ("\\ud800", "paid")
    assert (first["latency_s"], first["output_tokens"], first["cost_usd"]) == (None, None, None)
    assert second["input_tokens"] == 7


def test_every_field_comes_back_with_its_type(tmp_path: Path) -> None:
    item = attempt(
        "ab" * 16, attempt=1, http_status=200, reason="r", message="m", body=b"{}", input_tokens=1, output_tokens=2,
        reasoning_tokens=3, cached_tokens=4, cost_usd=1, returned_model="rm", provider="p", retry_after_s=2,
        sent=False, preimage="{}", finish="stop", flags="a b", body_size=2,
    )  # fmt: skip
    rows = read_segment(written(tmp_path, item)).rows
    assert dict(rows.schema) == SCHEMA
    row = rows.row(0, named=True)
    assert {name: row[name] for name in StoredAttempt.__slots__ if name != "body"} == {
        name: getattr(item, name) for name in StoredAttempt.__slots__ if name != "body"
    }


def test_preimage_is_written_with_the_first_attempt_only(tmp_path: Path) -> None:
    rows = read_segment(written(tmp_path, attempt(preimage="p"), attempt(attempt=2, preimage="p"))).rows
    assert rows["preimage"].to_list() == ["p", None]


def test_a_late_wide_value_does_not_change_earlier_ones() -> None:
    rows: list[dict[str, Any]] = [{"seq": i, "cost_usd": 1} for i in range(150)] + [
        {"seq": 150, "cost_usd": 2.5}
    ]
    assert frame(rows)["cost_usd"].to_list() == [1.0] * 150 + [2.5]
    assert frame([{"input_tokens": "many"}, {"input_tokens": 3}])["input_tokens"].to_list() == [None, 3]
    assert frame([{"sent": 1}, {"sent": True}])["sent"].to_list() == [None, True]
    assert dict(frame([]).schema) == SCHEMA


def test_line_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    with Journal(tmp_path, "s") as journal:
        for number in range(1, 4):
            assert journal.append(attempt(body=b"x" * number)) == number
            lines = segments(tmp_path)[0].path.read_bytes().split(b"\n")
            assert len(lines) == number + 1
            assert int(lines[-2][:8], 16) == zlib.crc32(lines[-2][9:])
            assert json.loads(lines[-2][9:])["seq"] == number


@pytest.mark.parametrize("cut", [1, 5, 9, 40])
def test_a_torn_last_line_is_cut_back_and_named(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, attempt(body=b"one"), attempt(body=b"two"))
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    read = read_segment(path)
    assert read.rows["body"].to_list() == ["one"]
    (damage,) = read.damage
    assert (damage.line, damage.torn) == (2, True)
    assert "line 2: cut short" in str(damage)
    assert read_segment(path, live=True).damage == ()


def test_a_corrupt_line_in_the_middle_is_set_aside_and_the_rest_used(tmp_path: Path) -> None:
    path = written(tmp_path, *(attempt(body=str(i).encode()) for i in range(5)))
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'"body":"1"', b'"body":"9"')
    lines[3] = b"\x00" * 40
    path.write_bytes(b"\n".join(lines))
    read = read_segment(path)
    assert read.rows["body"].to_list() == ["0", "2", "4"]
    assert [(item.line, item.torn) for item in read.damage] == [(2, False), (4, False)]
    (aside,) = set_aside(read.damage)
    assert aside.suffix == ".damaged"
    assert aside.read_bytes() == lines[1] + b"\n" + lines[3] + b"\n"


@given(position=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(deadline=None, max_examples=60)
def test_any_flipped_bit_costs_at_most_two_lines(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("flip")
    path = written(folder, *(attempt(body=f"body {i}".encode()) for i in range(4)))
    data = bytearray(path.read_bytes())
    data[position % len(data)] ^= 1 << bit
    path.write_bytes(data)
    read = read_segment(path)
    # a flip of a line feed joins two lines; one that makes a line feed cuts a line into two useless pieces
    assert len(read.rows) >= 2
    assert read.damage or len(read.rows) == 4
    assert set(read.rows["body"]) <= {f"body {i}" for i in range(4)}


def test_segments_close_by_size_and_keep_their_order(tmp_path: Path) -> None:
    with Journal(tmp_path, "s", segment_bytes=1500) as journal:
        for i in range(12):
            journal.append(attempt(body=str(i).encode()))
        found = segments(tmp_path)
        assert len(found) > 2
        assert [segment.closed for segment in found] == [True] * (len(found) - 1) + [False]
    rows = [seq for segment in segments(tmp_path) for seq in read_segment(segment.path).rows["seq"]]
    assert rows == list(range(1, 13))


def test_segments_close_by_age(tmp_path: Path) -> None:
    with Journal(tmp_path, "s", segment_seconds=0.0) as journal:
        journal.append(attempt())
        journal.append(attempt())
        assert len(segments(tmp_path)) == 2


def test_a_segment_renamed_between_listing_and_reading_is_found(tmp_path: Path) -> None:
    with Journal(tmp_path, "s") as journal:
        journal.append(attempt(body=b"x"))
        (listed,) = segments(tmp_path)
    assert not listed.path.exists()
    assert read_segment(listed.path).rows["body"].to_list() == ["x"]


def test_a_refused_write_is_an_error_and_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    with Journal(tmp_path, "s") as journal:
        journal.append(attempt(body=b"before"))

        def full(fd: int, data: bytes) -> int:
            if len(data) < 60:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(fd, data[:50]) if len(data) > 100 else real(fd, data[:-1])

        monkeypatch.setattr(os, "write", lambda fd, data: full(fd, data[-59:] if len(data) < 200 else data))
        with pytest.raises(CacheError, match="No space left"):
            journal.append(attempt(body=b"during", message="x" * 500))
        monkeypatch.setattr(os, "write", real)
        assert journal.append(attempt(body=b"during")) == 2
    read = [read_segment(segment.path) for segment in segments(tmp_path)]
    assert [body for part in read for body in part.rows["body"]] == ["before", "during"]
    assert [damage.torn for part in read for damage in part.damage] == [True]


def test_a_session_name_is_used_once_and_is_safe_in_a_path(tmp_path: Path) -> None:
    written(tmp_path, attempt())
    name = segments(tmp_path)[0].session
    with pytest.raises(CacheError, match="already"):
        Journal(tmp_path, name)
    for bad in ("", "../x", "a/b", "a b", "x" * 65, "a-1"):
        with pytest.raises(CacheError, match="session name"):
            Journal(tmp_path, bad)
    assert new_session() != new_session()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    with pytest.raises(CacheError, match="file"):
        Journal(blocker / "journal", "s")


def test_sessions_tell_live_dead_and_closed(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from molaudit.storage.journal.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]), 'killed'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    written(tmp_path, attempt())
    with Journal(tmp_path, "alive") as journal:
        journal.append(attempt())
        journal.beat()
        states = {session.name: session for session in sessions(tmp_path)}
        assert states["alive"].state == "live"
        holder = states["alive"].holder
        assert holder is not None
        assert holder.pid == os.getpid()
        assert states["alive"].bytes > 0
        assert states["killed"].state == "dead"
        assert [s.state for n, s in states.items() if n not in {"alive", "killed"}] == ["closed"]
    assert sessions(tmp_path / "absent") == []


def test_a_lock_excludes_and_is_taken_over(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert not is_held(tmp_path / "lock")
    assert first.try_acquire()
    assert is_held(tmp_path / "lock")
    assert not second.try_acquire()
    messages: list[str] = []
    with pytest.raises(CacheError, match=f"PID {os.getpid()}"):
        second.acquire(0.05, messages.append, "cache x")
    assert messages == [f"waiting for cache x held by {holder_of(tmp_path / 'lock')}"]
    first.release()
    assert second.try_acquire()
    second.release(remove=True)
    assert not (tmp_path / "lock").exists()


def refused(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_a_full_disk_neither_keeps_a_lock_nor_leaks_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, other = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    opened = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refused)
        assert lock.try_acquire()
        assert is_held(lock.path)
        assert not other.try_acquire()
        lock.release()
        patch.setattr("molaudit.storage.journal.locks._take", lambda fd, shared=False: None)
        with pytest.raises(OSError, match="No space left"):  # there the record itself is the lock
            lock.try_acquire()
    assert len(os.listdir("/proc/self/fd")) == opened
    assert other.try_acquire()
    monkeypatch.setattr(os, "ftruncate", refused)
    with pytest.raises(OSError, match="No space left"):
        other.release()
    assert len(os.listdir("/proc/self/fd")) == opened


def test_another_users_lock_is_read_without_the_right_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def only_reading(path: Any, flags: int, *rest: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, flags, *rest)

    lock = FileLock(tmp_path / "s.lock")
    assert lock.try_acquire()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", only_reading)
        assert is_held(lock.path)
        assert [session.state for session in sessions(tmp_path)] == ["live"]
    lock.release()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", only_reading)
        assert not is_held(lock.path)
        assert [session.state for session in sessions(tmp_path)] == ["dead"]


def test_a_lock_that_may_not_be_read_counts_as_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "s.lock").touch()
    monkeypatch.setattr(os, "open", forbidden)
    assert is_held(tmp_path / "s.lock")
    assert sessions(tmp_path)[0].state == "live"


def test_without_system_locks_the_recorded_pid_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    path = tmp_path / "lock"
    first, second = FileLock(path), FileLock(path)
    assert first.try_acquire()
    assert not second.try_acquire()
    assert is_held(path)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    path.write_text(path.read_text().replace(str(os.getpid()), str(dead.pid)))
    assert not is_held(path)
    assert second.try_acquire()


def test_network_file_systems_are_told_by_the_longest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/x {tmp_path}/net nfs4 rw 0 0\nshort\n")
    assert network_file_system(tmp_path / "net" / "cache", mounts) == "nfs4"
    assert network_file_system(tmp_path / "other", mounts) is None
    assert network_file_system(tmp_path, tmp_path / "absent") is None


def test_a_segment_that_was_taken_away_is_named_at_the_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal", new_session())
    journal.append(attempt("a"))
    shutil.rmtree(tmp_path / "journal")
    with pytest.raises(CacheError, match=r"-00001\.open cannot be closed: .*moved or deleted"):
        journal.close()


@pytest.mark.parametrize("call", ["fsync", "close", "replace"])
def test_a_reply_is_stored_although_the_segment_before_it_cannot_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, call: str
) -> None:
    real = getattr(os, call)

    def fails(*arguments: Any) -> Any:
        if call == "close":
            real(*arguments)
        raise OSError(errno.EIO, "Input/output error")

    with Journal(tmp_path, "s", segment_seconds=0.0, sync_on_close=True) as journal:
        journal.append(attempt(body=b"first"))
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fails)
            assert journal.append(attempt(body=b"second")) == 2
        assert journal.append(attempt(body=b"third")) == 3
    assert "s-00001.open cannot be closed: Input/output error" in caplog.text
    found = segments(tmp_path)
    assert [segment.closed for segment in found] == [False, True, True]
    assert [body for segment in found for body in read_segment(segment.path).rows["body"]] == [
        "first", "second", "third"
    ]  # fmt: skip


def test_a_heartbeat_that_fails_is_an_error_of_the_journal_and_no_lost_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    with Journal(tmp_path, "s") as journal:
        with monkeypatch.context() as patch:
            patch.setattr(os, "utime", fails)
            with pytest.raises(CacheError, match=r"s\.lock cannot be renewed: Operation not permitted"):
                journal.beat()
            patch.setattr("molaudit.storage.journal.journal._HEARTBEAT_S", -1.0)
            assert journal.append(attempt()) == 1  # an error here would have the stored reply appended again
        assert "cannot be renewed" in caplog.text
        (tmp_path / "s.lock").unlink()
        monkeypatch.setattr(Path, "exists", lambda _: True)  # deleted by another between a look and the touch
        journal.beat()
