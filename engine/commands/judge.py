"""``molaudit judge``: verdicts from counts alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from .options import fraction


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "cells",
        metavar="CELLS",
        help="table with benchmark, model, n_usable, m1, m2, m3, and arm or condition and effort: cells.csv, for one",
    )
    parser.add_argument(
        "--floors", required=True, help="table with benchmark, floor12, floor23, floor_hit1 (fractions)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for judged.csv")
    parser.add_argument("--alpha", type=fraction, default=0.05, help="false discovery rate; default: 0.05")
    parser.add_argument(
        "--correction",
        choices=["rung", "cell"],
        default="rung",
        help="Benjamini-Hochberg over both rungs of all cells of a family (default), or over cells",
    )


def run(args: argparse.Namespace) -> int:
    """Judge, write, show."""
    from rich.console import Console

    from molaudit.storage import results
    from molaudit.storage.tables import imports

    from ..report.files import prepare_folder
    from ..report.terminal import counted, say, table_of_verdicts, tell
    from ..studies.judging import ADDED, judge_counts, zero_floors

    prepare_folder(args.out)
    cells = imports.load_cells(args.cells)
    floors = imports.load_floors(args.floors)
    judged = judge_counts(cells, floors, args.alpha, args.correction)
    results.write_csv(judged, args.out / "judged.csv")
    console = Console()
    console.print(table_of_verdicts(judged))
    for name in ADDED:
        if name in cells.columns:
            say(console, f"column {name!r} of {args.cells} was replaced by ours")
    for note in zero_floors(floors):
        say(console, note)
    if "floor_hit1" not in floors.columns:
        say(console, f"{args.floors} has no floor_hit1: no cell can be called no-signal, only untestable")
    tell(console, f"{counted(judged.height, 'cell')} written to {args.out / 'judged.csv'}")
    return 0
