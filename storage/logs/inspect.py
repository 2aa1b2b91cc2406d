"""Logs of Inspect (inspect_ai): `.json` (one document) and `.eval` (a zip archive of JSON documents).

Of the archive, `header.json` (or `_journal/start.json` where the run did not end) names model and task, and
`samples/ID_epoch_N.json` holds a sample. Recent versions compress entries with Zstandard, which Python's zipfile
reads from 3.14 on; pyarrow reads them here.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import TableError
from ..tables import reading as tables
from ..tables.json_lines import beginning, parse, parse_object
from ..tables.utf8 import utf8
from .rows import LogRows, named_molecule

_ZSTANDARD = 93
_UNREADABLE = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
    struct.error,
)
# How a reply can end without being an answer, and as what outcome it counts.
_NOT_ANSWERED = {"max_tokens": "truncated", "model_length": "truncated", "content_filter": "filtered"}


def is_log(path: str | Path) -> bool:
    """Whether a .json file begins like an Inspect log (other harnesses put other JSON into the same folders)."""
    start = beginning(path)
    return start.startswith(b"{") and b'"eval"' in start and b'"version"' in start


def read(path: str | Path) -> tables.Table:
    """The replies in a log; `sample` is the epoch, counted from 0, and `row` the place of the sample in the log.

    Raises
    ------
    TableError
        The file is not an Inspect log, is damaged, or holds no samples.
    """
    with _opened(path) as (header, samples):
        return _table(str(path), header, samples)


def _table(source: str, header: dict[str, Any], samples: Iterator[Any]) -> tables.Table:
    notes = []
    about = header.get("eval")
    if not isinstance(about, dict) or not isinstance(about.get("model"), str):
        raise TableError(
            f"{source}: not an Inspect log: 'eval.model' is missing. A .json file may also hold results of promptfoo "
            "('results.results') or a list of rows with model, molecule or smiles, and answer."
        )
    status = header.get("status", "started")
    if status != "success":
        notes.append(
            f"{source}: the run of this log ended as {str(status)[:40]!r}; only finished samples are taken."
        )
    common = {
        "model": about["model"],
        "benchmark": str(about.get("task") or tables.stem(source)).rsplit("/", 1)[-1],
        "effort": _effort(header),
    }
    rows = LogRows(source)
    for row, sample in enumerate(samples, 1):
        if not isinstance(sample, dict):
            raise TableError(f"{source}, sample {row}: expected a JSON object.")
        _add(rows, row, sample, common)
    return rows.table(notes)


def _add(rows: LogRows, row: int, sample: dict[str, Any], common: dict[str, str | None]) -> None:
    output = sample.get("output")
    output = output if isinstance(output, dict) else {}
    choices = output.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    reply = _reply(choice, output, sample)
    ended = choice.get("stop_reason")
    outcome = None
    if sample.get("error") or output.get("error"):
        outcome = "failed"
    elif isinstance(ended, str) and ended in _NOT_ANSWERED:
        outcome = _NOT_ANSWERED[ended]
    elif reply is None:
        outcome = "empty"
    usage = output.get("usage")
    tokens = usage.get("reasoning_tokens") if isinstance(usage, dict) else None
    epoch = sample.get("epoch")
    rows.add_named(
        row,
        named_molecule(sample.get("metadata"), sample.get("id")),
        **common,
        answer=reply,
        sample=str(int(epoch) - 1)
        if isinstance(epoch, str) and epoch.isdecimal() and int(epoch) > 0
        else "0",
        reasoning_tokens=_text(tokens),
        outcome=outcome,
    )


def _reply(choice: dict[str, Any], output: dict[str, Any], sample: dict[str, Any]) -> str | None:
    """The visible text of a reply: only parts of type text, so that no reasoning is read as an answer."""
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = [
            part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"
        ]
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        content = output.get("completion")
        if not isinstance(content, str) or not content:
            return None
    # Long texts may stand once, elsewhere in the sample, under their digest.
    attachments = sample.get("attachments")
    if content.startswith("attachment://") and isinstance(attachments, dict):
        stored = attachments.get(content.removeprefix("attachment://"))
        return stored if isinstance(stored, str) else None
    return content


def _effort(header: dict[str, Any]) -> str | None:
    about, plan = header["eval"], header.get("plan")
    for config in (
        about.get("model_generate_config"),
        plan.get("config") if isinstance(plan, dict) else None,
    ):
        if isinstance(config, dict) and isinstance(config.get("reasoning_effort"), str):
            return str(config["reasoning_effort"])
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[dict[str, Any], Iterator[Any]]]:
    """Header and samples of a log; the samples are unpacked one by one."""
    source = str(path)
    if not source.lower().endswith(".eval"):
        data, _ = utf8(tables.read_bytes(path), source)
        log = parse_object(data, source)
        samples = log.get("samples")
        yield log, iter(samples if isinstance(samples, list) else [])
        return
    # Says what is wrong with a missing or unreadable file in the words of every other table.
    stream = io.BytesIO(tables.read_bytes(path))
    try:
        archive = zipfile.ZipFile(stream)
        entries = {info.filename: info for info in archive.infolist()}
    except _UNREADABLE as error:
        raise TableError(f"{source}: not a readable .eval archive ({error}).") from None
    with archive:
        start = next(
            (entries[name] for name in ("header.json", "_journal/start.json") if name in entries), None
        )
        if start is None:
            raise TableError(
                f"{source}: not an Inspect log: it holds neither header.json nor _journal/start.json."
            )
        header = parse_object(_entry(archive, stream, start, source), f"{source}, {start.filename}")
        names = [name for name in entries if name.startswith("samples/") and name.endswith(".json")]
        yield (
            header,
            (parse(_entry(archive, stream, entries[name], source), f"{source}, {name}") for name in names),
        )


def _entry(archive: zipfile.ZipFile, stream: io.BytesIO, info: zipfile.ZipInfo, source: str) -> bytes:
    try:
        if info.compress_type != _ZSTANDARD:
            return archive.read(info)
        stream.seek(info.header_offset + 26)
        name_length, extra_length = struct.unpack("<HH", stream.read(4))
        stream.seek(name_length + extra_length, 1)
        data = _zstandard(stream.read(info.compress_size))
    except _UNREADABLE as error:
        raise TableError(f"{source}, entry {info.filename}: cannot be unpacked ({error}).") from None
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise TableError(f"{source}, entry {info.filename}: damaged (its checksum differs).")
    return data


def _zstandard(packed: bytes) -> bytes:
    import pyarrow as pa

    try:
        return bytes(pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read())
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error
