"""The engine benchmark as tables: for the terminal, as Markdown, and as JSON with the environment."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .engine_scenarios import EngineRow

_LIBRARIES = ("molaudit", "aiohttp", "anyio", "duckdb", "httpx", "httpx-aiohttp", "polars")

_COLUMNS: tuple[tuple[str, Callable[[EngineRow], str]], ...] = (
    ("engine", lambda row: row.peer),
    ("whole process, s", lambda row: _number(row.seconds, 2)),
    ("/ ours", lambda row: _number(row.ratio_to_ours, 2)),
    ("call phase, calls/s", lambda row: _number(row.call_phase_per_second, 0)),
    ("CPU s", lambda row: _number(row.cpu_seconds or None, 2)),
    ("peak MB", lambda row: _number(row.peak_mb or None, 0)),
    ("429s", lambda row: str(row.rejected_429)),
    ("unanswered", lambda row: str(row.unanswered)),
    ("share of rate", lambda row: _number(row.share, 3)),
    ("note", lambda row: row.note),
)


def environment() -> dict[str, Any]:
    """The machine and the versions, without which no figure means anything."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 1),
        "versions": {name: importlib.metadata.version(name) for name in _LIBRARIES},
    }


def show(console: Console, rows: Sequence[EngineRow]) -> None:
    """Print a table for each task."""
    for task, own in by_task(rows).items():
        table = Table(title=task, title_justify="left")
        columns = _used(own)
        for name, _ in columns:
            table.add_column(name, justify="left" if name in {"engine", "note"} else "right")
        for row in own:
            table.add_row(*(cell(row) for _, cell in columns))
        console.print(table)


def markdown(rows: Sequence[EngineRow], about: dict[str, Any], notes: Sequence[str]) -> str:
    """Write the tables as the README shows them."""
    text = [
        f"Python {about['python']}, {about['cores']} cores, load {about['load_1min']}; one run each, "
        "loopback server in another process, answers counted by the server."
    ]
    for task, own in by_task(rows).items():
        columns = _used(own)
        text += ["", f"**{task}**", "", "| " + " | ".join(name for name, _ in columns) + " |"]
        text.append(
            "|" + "|".join("---" if name in {"engine", "note"} else "--:" for name, _ in columns) + "|"
        )
        text += ["| " + " | ".join(_escaped(cell(row)) for _, cell in columns) + " |" for row in own]
    versions = sorted({f"{row.peer} {row.version}" for row in rows if row.version})
    if versions:
        text += ["", "Versions: " + "; ".join(versions) + "."]
    text += [f"- {note}" for note in notes]
    return "\n".join(text) + "\n"


def save(folder: Path, rows: Sequence[EngineRow], document: dict[str, Any], notes: Sequence[str]) -> None:
    """Write ``engine.json`` and ``engine.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "engine.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    text = markdown(rows, document["environment"], notes)
    (folder / "engine.md").write_text(text, encoding="utf-8")


def by_task(rows: Sequence[EngineRow]) -> dict[str, list[EngineRow]]:
    """Rows by task, both in the order of measurement."""
    tasks: dict[str, list[EngineRow]] = {}
    for row in rows:
        tasks.setdefault(row.task, []).append(row)
    return tasks


def _used(rows: Sequence[EngineRow]) -> list[tuple[str, Callable[[EngineRow], str]]]:
    """The columns that say anything for these rows."""
    empty = {"", "0"}
    return [(name, cell) for name, cell in _COLUMNS if any(cell(row) not in empty for row in rows)]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
