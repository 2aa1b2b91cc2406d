"""Compiling is shared with helpers, said when it takes long, and asks for nothing that is on disk already."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from molaudit.engine.processes import compiling
from molaudit.kernels.machine import warming

SCORES = """
import json, sys
import numpy as np, polars as pl
import molaudit
from molaudit.kernels.machine import warming
from numba.core.dispatcher import Dispatcher

def known():
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("molaudit.kernels")]
    kernels = {k.__name__: k for m in modules for k in vars(m).values() if isinstance(k, Dispatcher)}
    # What helpers of other kernels are compiled to is part of those.
    return {f"{name}{s}" for name, k in kernels.items() if k._cache.__class__.__name__ != "NullCache"
            for s in k.signatures}

for step in warming.STEPS.values():
    step()
before = known()
rng = np.random.default_rng(0)
label = np.round(rng.lognormal(1, 1, 200), 2)
answer = np.where(rng.random(200) < 0.3, label, np.round(label * rng.normal(1, 0.1, 200), 2))
names = [str(i) for i in range(200)]
molaudit.score(
    pl.DataFrame({"model": "m", "molecule": names, "prediction": answer}),
    pl.DataFrame({"molecule": names, "label": [f"{x:.2f}" for x in label], "kind": "measured"}),
    repeats=100, resamples=50,
)
print(json.dumps(sorted(known() - before)))
"""


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A folder without machine code; what is told, of a step that takes no time."""
    told: list[str] = []
    for module in (compiling, warming):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(warming, "STEPS", {"one": lambda: None})
    monkeypatch.setattr(compiling, "cores", lambda: 2)
    compiling.tell_with(told.append)
    yield told
    compiling.tell_with(lambda _: None)


def test_a_score_compiles_nothing_that_is_not_compiled_ahead() -> None:
    """A kernel that is missing in `warming.STEPS` would be compiled by one process alone, while all else waits."""
    done = subprocess.run([sys.executable, "-c", SCORES], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_compiling_ahead_is_said_and_so_is_its_end(cold: list[str], tmp_path: Path) -> None:
    with compiling.compiled_ahead():
        assert len(cold) == 1
        compiling.prepare()
    assert cold[0].startswith("compiling numerical kernels, once")
    assert str(tmp_path) in cold[0]
    assert cold[1].startswith("numerical kernels compiled in ")
    assert len(cold) == 2


def test_nothing_is_started_or_said_where_all_is_compiled(
    cold: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiling.prepare()
    cold.clear()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a helper was started")

    monkeypatch.setattr(subprocess, "Popen", never)
    with compiling.compiled_ahead():
        compiling.prepare()
    compiling.say_total()
    assert cold == []


def test_helpers_end_with_the_block_and_get_no_key(
    cold: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    given: list[dict[str, str]] = []
    start = subprocess.Popen

    def note(command: list[str], **how: object) -> subprocess.Popen[bytes]:
        given.append(how["env"])  # type: ignore[arg-type]
        started.append(start([command[0], "-c", "import sys; sys.stdin.read()"], **how))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", note)
    monkeypatch.setenv("SOME_KEY", "sk-test-1")
    with compiling.compiled_ahead(["SOME_KEY"]):
        assert [one.poll() for one in started] == [None]
        with compiling.compiled_ahead():
            assert len(started) == 1  # one block inside another starts no more
    assert started[0].returncode is not None
    assert "SOME_KEY" not in given[0]
    assert given[0].keys() >= {name for name in os.environ if name != "SOME_KEY"}


def test_a_helper_that_cannot_be_started_is_done_without(
    cold: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with compiling.compiled_ahead():
        compiling.prepare()
    assert len(cold) == 2


def test_a_helper_ends_when_the_process_that_started_it_does() -> None:
    """Its input ends then, whatever it is compiling."""
    slow = (
        "import time; from molaudit.kernels.machine import warming; import threading;"
        "threading.Thread(target=warming._end_with_the_other, daemon=True).start(); time.sleep(600)"
    )
    helper = subprocess.Popen([sys.executable, "-c", slow], stdin=subprocess.PIPE)
    helper.communicate(timeout=120)
    assert helper.returncode == 1


@pytest.mark.slow
def test_a_first_score_says_that_it_compiles_and_a_second_is_silent(tmp_path: Path) -> None:
    labels, answers = tmp_path / "labels.csv", tmp_path / "answers.csv"
    labels.write_text("molecule,label\n" + "".join(f"m{i},{1.01 + i / 7:.2f}\n" for i in range(60)))
    answers.write_text("model,molecule,answer\n" + "".join(f"x,m{i},{1.03 + i / 7:.2f}\n" for i in range(60)))
    command = [sys.executable, "-m", "molaudit", "score", str(answers), "--labels", str(labels)]
    for expected in (2, 0):
        done = subprocess.run(
            [*command, "--out", str(tmp_path / "out")],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "MOLAUDIT_CACHE_DIR": str(tmp_path / "cache")},
        )
        assert len(done.stderr.splitlines()) == expected, done.stderr
        if expected:
            assert "compiling numerical kernels" in done.stderr
            assert "numerical kernels compiled in" in done.stderr
