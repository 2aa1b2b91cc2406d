"""Machine code is kept on disk where that is possible, and made anew where it is not."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from molaudit.kernels.machine import compile as compile_module

PROGRAM = """
import sys
from molaudit.kernels.machine.compile import kernel

@kernel()
def double(x):
    return 2 * x

if "full" in sys.argv:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
print(double(21), *double.stats.cache_hits.values())
"""


def run(folder: Path, *arguments: str) -> str:
    """Run the program with its machine code in a folder; what it printed: the result, and hits of the cache."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "MOLAUDIT_CACHE_DIR": str(folder)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.nb?") if path.is_file()]


def test_machine_code_is_kept_and_used_again(tmp_path: Path) -> None:
    assert run(tmp_path) == "42"
    assert len(kept(tmp_path)) == 2
    assert run(tmp_path) == "42 1"


def test_kernels_run_where_their_code_cannot_be_kept(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="limits the size of files by POSIX means")
    assert run(tmp_path, "full") == "42"
    assert all(path.stat().st_size <= 100 for path in kept(tmp_path))
    assert run(tmp_path) == "42"


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_code_that_a_crash_has_cut_is_made_again(suffix: str, tmp_path: Path) -> None:
    run(tmp_path)
    for path in kept(tmp_path):
        if path.suffix == suffix:
            path.write_bytes(path.read_bytes()[:10])
    assert run(tmp_path) == "42"
    assert run(tmp_path) == "42 1"


Find = Callable[[], Path | None]


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Find]:
    """Look for the folder anew, with ``cache`` and then ``home/.cache`` and ``tmp`` as the places there are."""
    monkeypatch.setenv("MOLAUDIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))

    def anew() -> Path | None:
        compile_module.cache_folder.cache_clear()
        return compile_module.cache_folder()

    before = compile_module.cache_folder
    yield anew
    before.cache_clear()


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_folders_that_are_made_are_ours_alone_whatever_the_umask(find: Find, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        found = find()
    finally:
        os.umask(before)
    assert found is not None
    assert found.parent == tmp_path / "cache/molaudit"
    assert [mode(folder) for folder in (found, found.parent, tmp_path / "cache")] == [0o700] * 3


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("bits", [0o775, 0o757])
def test_a_folder_that_others_may_write_to_is_passed_over(
    level: int, bits: int, find: Find, tmp_path: Path
) -> None:
    found = find()
    assert found is not None
    open_to_others = (found.parent, found)[level]
    open_to_others.chmod(0o755)
    assert find() == found
    open_to_others.chmod(bits)
    assert find() == tmp_path / "home/.cache/molaudit" / found.name


def test_the_temporary_folder_of_another_user_is_not_used(
    find: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What we make ourselves stands for what was laid out for us: we are now somebody else."""
    for place in ("cache", "home"):
        (tmp_path / place).write_text("no folder")
    found = find()
    assert found is not None
    assert found.parent == tmp_path / f"tmp/molaudit-{os.getuid()}"
    assert mode(found.parent) == 0o700
    other = os.getuid() + 1
    found.parent.rename(tmp_path / f"tmp/molaudit-{other}")
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert find() is None


def test_a_link_of_another_user_is_not_followed_even_to_a_folder_of_ours(
    find: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "cache").mkdir()
    link = tmp_path / "cache/molaudit"
    link.symlink_to(tmp_path / "mine")
    found = find()
    assert found is not None
    assert found.parent == link
    looked = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        seen = looked(path)
        return os.stat_result([*seen[:4], seen.st_uid + 1, *seen[5:10]]) if path == link else seen

    monkeypatch.setattr(Path, "lstat", lstat)
    assert find() == tmp_path / "home/.cache/molaudit" / found.name


@pytest.mark.parametrize("elsewhere", [True, False])
def test_no_temporary_folder_is_no_error(
    elsewhere: bool, find: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    if not elsewhere:
        for place in ("cache", "home"):
            (tmp_path / place).write_text("no folder")
    assert (find() is not None) == elsewhere
