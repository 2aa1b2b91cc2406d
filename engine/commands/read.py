"""``molaudit read``: how a reply is read, and why; replies of a table; bodies of providers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

COLUMNS = ("kind", "value", "digits", "rule", "flags")
"""What is added to a table."""

_TABLES = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".xlsx", ".gz")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a reply as text (- is standard input), a table of replies with --column, or a provider's body with "
        "--dialect (.jsonl: many bodies)",
    )
    source.add_argument("--text", metavar="TEXT", help="the reply itself")
    parser.add_argument("--unit", metavar="UNIT", help="unit of the property, such as kcal/mol")
    parser.add_argument(
        "--decimal-comma", action="store_true", help='replies write decimal commas: "3,18" is 3.18'
    )
    parser.add_argument("--column", metavar="NAME", help="read this column of a table of replies")
    parser.add_argument(
        "--out", type=Path, metavar="TABLE", help="where the table goes (.csv or .parquet): all columns and "
        + ", ".join(COLUMNS),
    )  # fmt: skip
    parser.add_argument(
        "--dialect",
        metavar="NAME",
        help="decode a provider's body: openai-chat, openai-responses, anthropic, gemini",
    )
    parser.add_argument(
        "--status", type=int, default=200, metavar="CODE", help="HTTP status of the body; default: 200"
    )


def run(args: argparse.Namespace) -> int:
    """Read a reply, a table or a body."""
    from ..errors import InputError

    if args.text is not None:
        if args.column or args.dialect or args.out:
            raise InputError("--text is one reply; --column, --out and --dialect need a file")
        return _show(args.text, args)
    path = Path(args.file)
    lines = path.name.lower().endswith((".jsonl", ".ndjson"))
    if args.dialect is not None or (lines and args.column is None):
        from ..models import bodies

        return bodies.run(path, dialect=args.dialect, status=args.status, out=args.out)
    if args.column is not None:
        return _table(path, args)
    if args.out is not None:
        raise InputError(
            f"--out {args.out}: one reply is shown, not written; name the column of a table (--column)"
        )
    if path.suffix.lower() in _TABLES:
        raise InputError(
            f"{path}: this is a table; name the column that holds the replies (--column NAME --out TABLE)"
        )
    return _show(_text(args.file), args)


def _text(name: str) -> str:
    """The text of a file or of standard input."""
    from molaudit.storage.tables import reading as tables
    from molaudit.storage.tables.utf8 import utf8

    if name == "-":
        data, source = sys.stdin.buffer.read(), "<standard input>"
    else:
        data, source = tables.read_bytes(name), name
    return utf8(data, source)[0].decode()


def _show(text: str, args: argparse.Namespace) -> int:
    from ..answers.explained import explain
    from ..answers.numbers import read

    for name, line in explain(read(text, unit=args.unit, decimal_comma=args.decimal_comma)):
        sys.stdout.write(f"{name:<8} {line}\n")
    return 0


def _table(path: Path, args: argparse.Namespace) -> int:
    """Read a column of replies, and write the table with what was read beside it."""
    import polars as pl

    from molaudit.storage import results
    from molaudit.storage.tables import reading as tables

    from ..answers.numbers import parse_column
    from ..errors import InputError
    from ..report.inert import inert

    if args.out is None:
        raise InputError("--column reads a table: name the table to write (--out TABLE.csv)")
    write = results.table_writer(args.out)
    table = tables.read(path, tables.Columns(required=(args.column,), everything=True))
    given = table.given if table.given is not None else table.frame.drop("row")
    clashing = [name for name in COLUMNS if name in given.columns]
    renamed = {name: f"input_{name}" for name in clashing}
    if taken := [name for name in renamed.values() if name in given.columns]:
        raise InputError(
            f"{path}: columns '{taken[0].removeprefix('input_')}' and '{taken[0]}' are there already; "
            f"{', '.join(COLUMNS)} are added. Rename one of them."
        )
    replies = given[args.column]
    read = parse_column(replies, args.unit, decimal_comma=args.decimal_comma)
    read = read.select("kind", "value", "digits", "rule", pl.col("flags").list.join("; "))
    write(given.rename(renamed).hstack(read), args.out)
    counts = read["kind"].value_counts(sort=True).sort(["count", "kind"], descending=[True, False])
    moved = [f"{path}: column '{old}' of the input is written as '{new}'." for old, new in renamed.items()]
    for note in (*table.notes, *moved):
        sys.stdout.write(f"note: {inert(note)}\n")
    for kind, count in counts.iter_rows():
        sys.stdout.write(f"{count:>9,} {kind}\n")
    sys.stdout.write(f"{read.height:,} replies written to {inert(args.out)}\n")
    return 0
