"""The bench of reading compares before it times, and its prose is what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from molaudit.bench import prose, reading


def test_the_prose_is_of_its_size_and_the_same_for_a_seed() -> None:
    texts = prose.replies(200, seed=1)
    assert texts == prose.replies(200, seed=1)
    assert len(set(texts)) == 200
    assert 1_500 < sum(len(text.encode()) for text in texts) / 200 < 1_900


def test_a_reading_that_differs_from_the_slow_way_stops_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading.compare(["Answer: 5", "about 2.5 K"]) == 2
    answers = iter(([["5"]], [["6"]]))
    monkeypatch.setattr(reading, "read_rows", lambda texts, manner: next(answers))
    with pytest.raises(AssertionError, match="Answer: 5"):
        reading.compare(["Answer: 5"])


def test_the_bench_writes_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COMPARED", "TIMED", "WHOLE", "SHORT"):
        monkeypatch.setattr(reading, name, 200)
    rows = reading.run(quick=True, out=tmp_path, console=Console(quiet=True))
    written = json.loads((tmp_path / "reading.json").read_text())
    assert written["rows"] == rows
    assert written["compared"] == 20
    assert [row["replies"] for row in rows] == [20, 20, 20, 20]
    assert all(row["MB/s"] > 0 for row in rows)
