"""Machine code is kept on disk where that is possible, and made anew where it is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from molaudit.kernels.compile import kernel

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
