"""Logs of other evaluation harnesses as tables of answers: which files are logs, and of what."""

import io
from pathlib import Path

from . import inspect_logs, json_lines, lm_eval_logs, tables
from .errors import TableError

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
    logs = sorted(file for file in found if file.suffix != ".json" or inspect_logs.is_log(file))
    if not logs:
        raise TableError(
            f"{folder}: this folder holds no logs. Allowed: samples_*.jsonl of lm-evaluation-harness, .eval or .json "
            "of Inspect; or name a table (.csv, .tsv, .jsonl, .parquet)."
        )
    return logs


def read(path: str | Path) -> tables.Table | None:
    """The answers in a log, with the columns of a table of answers; None when the file is no log.

    Raises
    ------
    TableError
        The log is damaged or holds no samples, or a .json file is not an Inspect log.
    """
    name = Path(path).name.lower()
    if name.endswith((".eval", ".json")):
        return inspect_logs.read(path)
    if name.endswith((".jsonl", ".jsonl.gz")):
        return _lm_eval(path)
    return None


def _lm_eval(path: str | Path) -> tables.Table | None:
    data = tables.read_bytes(path)
    first = next((line for line in io.BytesIO(data) if line.strip()), b"")
    if b'"resps"' not in first or b'"doc' not in first:
        return None
    record = json_lines.parse_object(first, f"{path}, row 1")
    return lm_eval_logs.read(path, data) if "resps" in record and "doc" in record else None
