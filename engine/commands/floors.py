"""``molaudit floors``: the molecule-blind floors of labels."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..studies.settings import MOST_KEPT
from .options import whole_number

NARROW = ("benchmark", "n_label", "floor12", "floor23", "floor_hit1", "floor_hit3")
"""What a terminal of 80 columns has room for; the file has all columns."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("labels", metavar="LABELS", help="table with molecule, label; optional benchmark")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="CSV or Parquet file to write"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="seed of the halves; default: 0")
    parser.add_argument(
        "--repeats", type=whole_number(1, MOST_KEPT), default=10_000, help="random halves; default: 10000"
    )
    parser.add_argument(
        "--figures",
        choices=["stripped", "written"],
        default="stripped",
        help="whether a label's trailing zeros count as figures; default: stripped, they never do",
    )


def run(args: argparse.Namespace) -> int:
    """Fit, write, show."""
    from rich.console import Console

    from molaudit.storage import results
    from molaudit.storage.tables import imports

    from ..report.terminal import WIDE, counted, plain_table, say, tell
    from ..studies.floors_table import floors_table
    from ..studies.pairs import label_values

    write = results.table_writer(args.out)
    labels = imports.load_labels(args.labels)
    table = floors_table(label_values(labels.frame, args.figures), repeats=args.repeats, seed=args.seed)
    write(table, args.out)
    console = Console()
    shown = table if console.width >= WIDE else table.select(NARROW)
    console.print(plain_table(shown, "Molecule-blind floors"))
    for note in labels.notes:
        say(console, note)
    tell(console, f"{counted(table.height, 'benchmark')} written to {args.out}")
    return 0
