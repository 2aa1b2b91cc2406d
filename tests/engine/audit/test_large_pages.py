"""Memory gathered into large pages holds what it held."""

import subprocess
import sys

import pytest

PROGRAM = """
import random
from molaudit.engine.audit.large_pages import use_large_pages

def large() -> int:
    lines = open("/proc/self/smaps_rollup").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages"))

data = random.Random(1).randbytes(20_000_000)
objects = [str(number) for number in range(300_000)]
before = large()
gathered = use_large_pages()
assert bytes(data) == random.Random(1).randbytes(20_000_000)
assert objects == [str(number) for number in range(300_000)]
print(gathered, before, large())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gathers pages")
def test_memory_holds_what_it_held() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    gathered, before, after = map(int, done.stdout.split())
    if not gathered:
        pytest.skip("this kernel does not gather pages (before Linux 6.1)")
    assert after - before > 10_000


def test_other_systems_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from molaudit.engine.audit import large_pages

    monkeypatch.setattr(large_pages.sys, "platform", "darwin")
    assert large_pages.use_large_pages() == 0
