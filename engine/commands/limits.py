"""``molaudit limits``: the smallest counts that would be significant."""

from __future__ import annotations

import argparse
from pathlib import Path

from .options import fraction, whole_numbers


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--floors", required=True, help="table with benchmark and any of the floors (fractions)"
    )
    parser.add_argument(
        "--n", type=whole_numbers, metavar="15,30,...", help="denominators; default: 15,30,50,100,200,500"
    )
    parser.add_argument(
        "--alpha", type=fraction, default=0.05, help="level of the one-sided test; default: 0.05"
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="CSV or Parquet file to write"
    )


def run(args: argparse.Namespace) -> int:
    """Compute, write, show."""
    from rich.console import Console

    from molaudit.storage import results
    from molaudit.storage.tables import imports

    from ..report.terminal import counted, plain_table, tell
    from ..studies.detection import DENOMINATORS, detection_limits

    write = results.table_writer(args.out)
    floors = imports.load_floors(args.floors)
    table = detection_limits(floors, n=args.n or DENOMINATORS, alpha=args.alpha)
    write(table, args.out)
    console = Console()
    console.print(plain_table(table, f"Detection limits at {args.alpha:g}"))
    tell(console, f"{counted(table.height, 'limit')} written to {args.out}")
    return 0
