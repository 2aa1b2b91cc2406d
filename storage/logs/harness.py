"""Logs of other evaluation harnesses as tables of answers: which files are logs, and of what."""

import io
from pathlib import Path
from typing import Any

from ..errors import TableError
from ..tables import json_lines
from ..tables import reading as tables
from ..tables.utf8 import utf8
from . import (
    batches as batch_logs,
)
from . import (
    inspect as inspect_logs,
)
from . import (
    lm_eval as lm_eval_logs,
)
from . import (
    promptfoo as promptfoo_logs,
)

_PATTERNS = ("samples_*.jsonl", "samples_*.jsonl.gz", "*.eval", "*.json")


def within(path: str | Path) -> list[Path]:
    """The files of answers that a path stands for: itself, or the logs in a folder and its sub-folders, by name.

    Raises
    ------
    TableError
        The folder holds no logs.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    found = {file for pattern in _PATTERNS for file in folder.rglob(pattern) if file.is_file()}
    logs = sorted(file for file in found if file.suffix != ".json" or _begins_like_a_log(file))
    if not logs:
        raise TableError(
            f"{folder}: this folder holds no logs. Allowed: samples_*.jsonl of lm-evaluation-harness, .eval or .json "
            "of Inspect, .json of promptfoo; or name a file (.csv, .tsv, .jsonl, .json, .parquet, .xlsx)."
        )
    return logs


def _begins_like_a_log(file: Path) -> bool:
    return inspect_logs.is_log(file) or promptfoo_logs.is_log(file)


def read(path: str | Path) -> tables.Table | None:
    """The answers in a log, with the columns of a table of answers; None when the file is no log.

    Raises
    ------
    TableError
        The log is damaged or holds no samples, or a .json file is neither a log nor a list of rows.
    """
    name = Path(path).name.lower()
    if name.endswith(".eval"):
        return inspect_logs.read(path)
    if name.endswith((".json", ".json.gz")):
        return _document(path)
    if name.endswith((".jsonl", ".jsonl.gz", ".ndjson")):
        return _lines(path)
    return None


def _document(path: str | Path) -> tables.Table | None:
    """A .json file: Inspect's or promptfoo's, else a list of rows, which is a table and no log."""
    source = str(path)
    data, _ = utf8(tables.read_bytes(path), source)
    if data.lstrip()[:1] == b"[":
        return None
    if b'"results"' in data and not inspect_logs.is_log(path):
        found = promptfoo_logs.results_in(json_lines.parse(data, source))
        if found is not None:
            return promptfoo_logs.read(source, list(enumerate(found, 1)))
    return inspect_logs.read(path)


def _lines(path: str | Path) -> tables.Table | None:
    data = tables.read_bytes(path)
    first = next((line for line in io.BytesIO(data) if line.strip()), b"")
    record = _first(first, path)
    if "resps" in record and "doc" in record:
        return lm_eval_logs.read(path, data)
    if promptfoo_logs.is_result(record):
        return promptfoo_logs.read(str(path), list(_records(path, data)))
    if batch_logs.is_line(record):
        return batch_logs.read(str(path), _records(path, data))
    return None


def _first(line: bytes, path: str | Path) -> dict[str, Any]:
    """The first record where it may be one of a log's; empty otherwise, for the reader of tables to judge."""
    marks = ((b'"resps"', b'"doc'), (b'"vars"', b'"provider"'), (b'"custom_id"',))
    if not any(all(mark in line for mark in each) for each in marks):
        return {}
    return json_lines.parse_object(line, f"{path}, row 1")


def _records(path: str | Path, data: bytes) -> list[tuple[int, dict[str, Any]]]:
    data, _ = utf8(data, str(path))
    return [
        (row, json_lines.parse_object(line, f"{path}, row {row}"))
        for row, line in enumerate(data.split(b"\n"), 1)
        if line.strip()
    ]
