"""JSON Lines and lists of JSON objects as text, numbers with the digits as written."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import TableError
from .columns import Columns, Parsed, choose
from .text_columns import mended, text_series
from .utf8 import utf8

_BEGINNING = 4096


def beginning(path: str | Path) -> bytes:
    """The first bytes of a file, by which a log is known, without white space before them; none if unreadable."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(_BEGINNING).lstrip()
    except OSError:
        return b""


def read(data: bytes, wanted: Columns, source: str) -> Parsed:
    """Read the bytes of a JSON Lines file; a key that a record lacks is null there.

    Raises
    ------
    TableError
        A line is not a JSON object, a wanted value is a list or object, or wanted columns are missing.
    """
    data, notes = utf8(data, source)
    records, blank = [], 0
    lines = data.split(b"\n")
    for row, line in enumerate(lines, 1):
        if line.strip():
            records.append((row, parse_object(line, f"{source}, row {row}")))
        elif row < len(lines):
            blank += 1
    if not records:
        raise TableError(f"{source}: the file is empty. Expected one JSON object a line.")
    return _parsed(records, wanted, source, blank, notes)


def read_list(data: bytes, wanted: Columns, source: str) -> Parsed:
    """Read the bytes of a JSON file that is a list of objects, such as pandas' `to_json(orient="records")` writes.

    Raises
    ------
    TableError
        The document is no list of objects, a wanted value is a list or object, or wanted columns are missing.
    """
    data, notes = utf8(data, source)
    found = parse(data, source)
    if not isinstance(found, list):
        raise TableError(
            f"{source}: found a JSON {_kind(found)}. Expected a list of objects, one a row "
            '(pandas: to_json(orient="records")).'
        )
    records = []
    for row, record in enumerate(found, 1):
        if not isinstance(record, dict):
            raise TableError(
                f"{source}, row {row}: found a JSON {_kind(record)}. Expected an object in braces."
            )
        records.append((row, record))
    if not records:
        raise TableError(f"{source}: the list is empty. Expected one JSON object a row.")
    return _parsed(records, wanted, source, 0, notes)


def _parsed(
    records: list[tuple[int, dict[str, Any]]], wanted: Columns, source: str, blank: int, notes: list[str]
) -> Parsed:
    found = list(dict.fromkeys(key for _, record in records for key in record))
    names = [mended(key).strip() for key in found]
    columns = choose(names, wanted, source)
    chosen = {}
    for name, at in columns.positions.items():
        key = found[at]
        values = ((row, record.get(key)) for row, record in records)
        texts = (
            value
            if value is None or type(value) is str
            else value_text(value, f"{source}, row {row}, column '{name}'")
            for row, value in values
        )
        chosen[name] = text_series(name, texts)
    given = None
    if wanted.everything:
        given = pl.DataFrame(
            [
                text_series(name, (_any_text(record.get(key)) for _, record in records))
                for name, key in zip(names, found, strict=True)
            ]
        )
    rows = pl.Series("row", [row for row, _ in records], dtype=pl.Int64)
    return Parsed(columns, chosen, given, rows, blank, notes)


def parse(text: bytes | str, where: str) -> Any:
    """Any JSON document; numbers come back as the text that stood there, so that no digit is lost.

    Raises
    ------
    TableError
        Not valid JSON, or a key occurs twice in one object.
    """
    try:
        return _DECODER.decode(text.decode() if isinstance(text, bytes) else text)
    except json.JSONDecodeError as error:
        raise TableError(f"{where}: not valid JSON ({error.msg} at character {error.pos + 1}).") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise TableError(f"{where}: not usable JSON ({reason}).") from None


def parse_object(text: bytes | str, where: str) -> dict[str, Any]:
    """A JSON object, read by `parse`.

    Raises
    ------
    TableError
        Not valid JSON, or not an object.
    """
    found = parse(text, where)
    if not isinstance(found, dict):
        raise TableError(f"{where}: found a JSON {_kind(found)}. Expected an object in braces.")
    return found


def value_text(value: Any, where: str) -> str | None:
    """A value of `parse` as text.

    Raises
    ------
    TableError
        The value is a list or an object.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    raise TableError(f"{where}: found a JSON {_kind(value)}. Allowed: text, a number, null.")


def _any_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind(value: Any) -> str:
    return {dict: "object", list: "list", bool: "boolean", str: "text or number"}.get(type(value), "null")


def _object_without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return made


# Built once: json.loads with options builds one a call, which took a third of the time of parsing a large file.
_DECODER = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_object_without_doubles
)
