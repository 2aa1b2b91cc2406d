"""Sample files of lm-evaluation-harness (`--log_samples`), as its EvaluationTracker writes them (0.4.x).

`OUT/MODEL/samples_TASK_DATE.jsonl` holds one line for each document and filter; `resps` is a list over requests of
lists over repeats. `OUT/MODEL/results_DATE.json` of the same date names the model. The raw reply is taken, not what
a filter of the harness made of it.
"""

import re
from pathlib import Path
from typing import Any

from ..errors import TableError
from ..tables import reading as tables
from ..tables.json_lines import parse, parse_object
from ..tables.utf8 import utf8
from .rows import LogRows, named_molecule

_FILE = re.compile(
    r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d[\d.]*))?\.jsonl(\.gz)?$"
)
_MODEL_ARGUMENT = re.compile(r"(?:^|,)\s*(?:pretrained|model|path|engine)=([^,]+)")


def read(path: str | Path, data: bytes) -> tables.Table:
    """The replies in a sample file; `sample` is the index of the repeat.

    Raises
    ------
    TableError
        A line is not a sample.
    """
    source = str(path)
    data, notes = utf8(data, source)
    match = _FILE.fullmatch(Path(path).name)
    rows = LogRows(source)
    model = _model(Path(path), match["date"] if match else None, notes)
    benchmark = match["task"] if match else tables.stem(path)
    first_filter: Any = None
    for row, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        record = parse_object(line, f"{source}, row {row}")
        _check(record, f"{source}, row {row}")
        name = record.get("filter")
        first_filter = first_filter if first_filter is not None else name
        if name != first_filter:
            rows.leave_out("same reply under another filter")
            continue
        named = named_molecule(record["doc"], record.get("doc_id"))
        for sample, reply in enumerate(_replies(record["resps"])):
            if not isinstance(reply, str):
                rows.leave_out("no generated text")
                continue
            # The harness writes str(None) where an API gave nothing.
            outcome = "empty" if reply == "None" else None
            answer = None if outcome else reply
            rows.add_named(
                row,
                named,
                model=model,
                benchmark=benchmark,
                answer=answer,
                sample=str(sample),
                outcome=outcome,
            )
    return rows.table(notes)


def _check(record: dict[str, Any], where: str) -> None:
    for key, kind, word in (("doc", dict, "an object"), ("resps", list, "a list")):
        if not isinstance(record.get(key), kind):
            raise TableError(f"{where}, key '{key}': expected {word}, as lm-evaluation-harness writes it.")


def _replies(resps: list[Any]) -> list[Any]:
    """The repeats of the one request of a generating task; several requests are the options of a multiple choice."""
    if len(resps) != 1:
        return [None]
    return resps[0] if isinstance(resps[0], list) else [resps[0]]


def _model(path: Path, date: str | None, notes: list[str]) -> str:
    results = sorted(path.parent.glob("results_*.json"))
    same_run = [file for file in results if date and date in file.name]
    for file in [*same_run, *reversed(results)]:
        try:
            found = parse(tables.read_bytes(file), str(file))
        except TableError as error:
            notes.append(f"{error} The model's name is taken from elsewhere.")
            continue
        if name := _model_in(found):
            return name
    # The harness writes "/" of a name as "__" in the folder's name; which of them were underscores is not known.
    folder = path.resolve().parent.name
    notes.append(f"{path}: no results_*.json beside it names the model; called {folder!r} after its folder.")
    return folder


def _model_in(results: Any) -> str | None:
    if not isinstance(results, dict):
        return None
    name = results.get("model_name")
    if isinstance(name, str) and name.strip():
        return name
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, dict):
        return next(
            (str(arguments[key]) for key in ("pretrained", "model", "path", "engine") if arguments.get(key)),
            None,
        )
    match = _MODEL_ARGUMENT.search(arguments) if isinstance(arguments, str) else None
    return match[1].strip() if match else None
