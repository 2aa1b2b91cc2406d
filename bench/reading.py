"""``molaudit bench reading``: prose to numbers, by way of candidates and by whole texts, the readings compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table

from molaudit.engine.answers._rows import read_rows
from molaudit.engine.answers._search import whole_text
from molaudit.engine.answers.numbers import parse_column
from molaudit.engine.processes.children import cores
from molaudit.storage import results

from .prose import replies

COMPARED = 20_000
TIMED = 30_000
WHOLE = 1_000
SHORT = 200_000


def run(*, quick: bool, out: Path, console: Console) -> list[dict[str, Any]]:
    """Compare the readings, time them, print the table, write ``reading.json``."""
    share = 10 if quick else 1
    compared = compare(replies(COMPARED // share, seed=1))
    rows = [*prose_rows(TIMED // share, WHOLE // share), short_row(SHORT // share)]
    table = Table(title=f"Reading replies ({compared:,} compared with the slow way, all equal)")
    for name in rows[0]:
        table.add_column(name, justify="left" if name in ("task", "way") else "right")
    for row in rows:
        table.add_row(
            *(f"{value:,.2f}" if isinstance(value, float) else str(value) for value in row.values())
        )
    console.print(table)
    results.write_json({"cores": cores(), "compared": compared, "rows": rows}, out / "reading.json")
    return rows


def compare(texts: Sequence[str]) -> int:
    """Assert that every text is read the same when it is searched as a whole; return how many were compared."""
    found = read_rows(texts, {})
    with whole_text():
        slow = read_rows(texts, {})
    for text, one, other in zip(texts, found, slow, strict=True):
        assert one == other, (text, one, other)
    return len(texts)


def prose_rows(n: int, few: int) -> list[dict[str, Any]]:
    """Time replies of 1.7 kB: all of them by `parse_column`, and a share by one process and by the slow way."""
    texts = replies(n)
    column = pl.Series(texts, dtype=pl.String)

    def slowly() -> object:
        with whole_text():
            return read_rows(texts[:few], {})

    return [
        _row("prose of 1.7 kB", f"molaudit, {cores()} cores", texts, lambda: parse_column(column)),
        _row(
            "prose of 1.7 kB",
            "molaudit, one process",
            texts[: few * 5],
            lambda: read_rows(texts[: few * 5], {}),
        ),
        _row("prose of 1.7 kB", "whole texts searched, one process", texts[:few], slowly),
    ]


def short_row(n: int) -> dict[str, Any]:
    """Time short answers, each written in its own way."""
    ways = ("{}", "**{}**", "Answer: {}", "{} kcal/mol", "~{}", "logS = {}")
    texts = [ways[i % len(ways)].format(f"{-5 + i * 10 / n:.4f}") for i in range(n)]
    column = pl.Series(texts, dtype=pl.String)
    return _row("short answers", f"molaudit, {cores()} cores", texts, lambda: parse_column(column))


def _row(task: str, way: str, texts: Sequence[str], read: Callable[[], object]) -> dict[str, Any]:
    begin = time.perf_counter()
    read()
    seconds = time.perf_counter() - begin
    size = sum(len(text.encode()) for text in texts)
    return {
        "task": task,
        "way": way,
        "replies": len(texts),
        "seconds": seconds,
        "replies/s": len(texts) / seconds,
        "MB/s": size / seconds / 1e6,
    }
