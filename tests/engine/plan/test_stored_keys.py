"""Calls that were stored before the house took its present shape are answered by it, each of them."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import polars as pl
import pytest

from molaudit.engine.cli import main

STORED = Path(__file__).parents[2] / "fixtures" / "stored_cache"


def test_a_cache_of_an_earlier_program_answers_every_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Four dialects, two efforts, two samples, two benchmarks, headers, temperature and extra_body. Nothing listens at
    # the address in it, so a key that had changed would be a failed call.
    for name in ("audit.toml", "own.csv"):
        shutil.copy(STORED / name, tmp_path)
    packed = (STORED / "molaudit-cache.duckdb.gz").read_bytes()
    (tmp_path / "molaudit-cache.duckdb").write_bytes(gzip.decompress(packed))
    assert main(["run", str(tmp_path / "audit.toml"), "--yes"]) == 0
    assert "144 calls: 144 answered from the cache, 0 to make" in capsys.readouterr().out
    cells = pl.read_csv(tmp_path / "molaudit-stored" / "cells.csv")
    assert cells.height == 16
    assert cells["left_out_not_asked"].sum() == 0
